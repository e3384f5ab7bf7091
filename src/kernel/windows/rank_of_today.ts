import type { Mask, Value } from "../../operator/lowering.ts";
import type { LaneCode } from "../emit/lane_code.ts";
import type { ColumnSeries, LaneKernel } from "../emit/lane_kernel.ts";
import { asMask, asValue, localsOf } from "../emit/lane_values.ts";
import { VECTORS } from "../emit/vectors.ts";
import { GROUP_BYTES } from "../memory/state_layout.ts";

/** The keys of one row: 32 bits for each lane of a group. */
const SLOT_BYTES = GROUP_BYTES / 2;
const SLOTS_PER_VECTOR = 2;

const VECTOR_LANES = 2;

/**
 * With fewer rows keys cost as much as they save: `ts_rank(close, d)` takes equally long for 6 to 10. With more rows
 * one of them too often has today's key, and then keys and rows do not fit a cache together.
 */
const KEYS_ROWS_MIN = 12;
const KEYS_ROWS_MAX = 64;

/** The key of a null, below all others. */
const NULL_KEY = -(2 ** 31);

/** A double whose bits are the keys of two nulls. */
const NULL_KEYS = -(2 ** (31 - 1074));

const UPPER_HALVES = 0xffffffff00000000n;
const LOWER_HALVES = 0xffffffffn;
const NULLS = 0x8000000080000000n;
const MAGNITUDES = 0x7fffffff7fffffffn;

const double = new Float64Array(1);
const words = new Int32Array(double.buffer);

/**
 * What the host needs of the keys of a window's rows except today's. Rows take the slots in turn: slot `row %
 * (windowRows - 1)`.
 */
export interface KeysSite {
  readonly kind: "keys";
  readonly column: number;
  readonly windowRows: number;
  /** First of the vectors that hold the slots, two in each. */
  readonly vector: number;
}

/**
 * Twice the number of values below today's among the last rows, plus the number of equal ones, including today's. Nulls
 * do not count.
 */
export function countBelow(on: LaneKernel, x: ColumnSeries, rows: number): Value {
  // Ranks and conditions have few values, most of which are in the window more than once.
  const byKeys = x.range !== "unit" && rows >= KEYS_ROWS_MIN && rows <= KEYS_ROWS_MAX;
  return on.once(`below ${x.column} ${rows}`, () => (byKeys ? countKeys : countRows)(on, x, rows));
}

/**
 * Compares with 32-bit keys, side by side in the window state, instead of the rows of the column, which are far apart:
 * half of the instructions, and half of the time for a call of one row, whose windows are in no cache. If a key equals
 * today's in any lane the rows themselves are compared: that takes half as long again as rows alone.
 */
function countKeys(on: LaneKernel, x: ColumnSeries, rows: number): Value {
  const slots = rows - 1;
  const vectorCount = Math.ceil(slots / SLOTS_PER_VECTOR);
  const vector = on.state.addWindow(new Array<number>(vectorCount).fill(NULL_KEYS));
  on.noteSite({ kind: "keys", column: x.column, windowRows: rows, vector });
  const offset = vector * GROUP_BYTES;
  const { half } = on;
  const result = on.copy(on.number(1));
  half.scope(() => {
    const today = half.copy(keysOf(on, x.now));
    let isTied = asMask(half.bits(0n));
    let counts = half.bits(0n);
    for (let slot = 0; slot < slots; slot++) {
      [isTied, counts] = half.scope(() => {
        const key = half.loadAt(on.window, offset + slot * SLOT_BYTES);
        // Keys fall where values rise. Masks are -1 as integers: subtracting them counts.
        const isBelow = half.binary("i32x4.gt_s", key, today);
        const isEqual = half.binary("i32x4.eq", key, today);
        return [half.orBits(isTied as unknown as Value, isEqual), half.binary("i32x4.sub", counts, isBelow)];
      }) as unknown as [Mask, Value];
    }
    half.storeAt(on.windowTurn(slots, SLOT_BYTES), offset, today);
    const below = on.doublesOf(spread(half, counts));
    on.assign(result, on.add(on.add(below, below), on.number(1)));
    // A null equals earlier nulls.
    const isThere = half.binary("i32x4.gt_s", today, half.bits(NULLS));
    half.ifAny(half.and(isTied, asMask(isThere)), () => {
      on.scope(() => {
        on.assign(result, countRows(on, x, rows));
        return [];
      });
    });
    return [];
  });
  return result;
}

/** Like `countKeys`, by the rows themselves. */
function countRows(on: LaneKernel, { column, now }: ColumnSeries, rows: number): Value {
  let counts = on.bits(1n);
  for (let lag = 1; lag < rows; lag++) {
    counts = on.scope(() => {
      const value = on.load(column, lag);
      const below = on.subBits(counts, on.lt(value, now) as unknown as Value);
      return on.subBits(below, on.le(value, now) as unknown as Value);
    });
  }
  return on.doublesOf(counts);
}

/**
 * The upper 32 bits of each value, as integers that fall where values rise: equal for equal values, and for some
 * others. Lanes of the first vectors are in the upper halves, those of the last vectors in the lower ones.
 */
function keysOf(on: LaneKernel, x: Value): Value {
  const { half } = on;
  // The difference has one zero, not two; a null has all bits set.
  const falling = on.orBits(on.sub(on.number(0), x), on.isNull(x) as unknown as Value);
  const locals = localsOf(falling);
  const first = asValue({ locals: locals.slice(0, half.vectors) });
  const last = asValue({ locals: locals.slice(half.vectors) });
  const packed = half.orBits(half.andBits(first, half.bits(UPPER_HALVES)), half.shiftRight(last, 32));
  const isNegative = half.shift("i32x4.shr_s", packed, 31);
  return half.xorBits(packed, half.andBits(isNegative, half.bits(MAGNITUDES)));
}

/** 32-bit integers arranged like keys, as 64 bits each. */
function spread(half: LaneCode, packed: Value): Value {
  const first = half.shiftRight(packed, 32);
  const last = half.andBits(packed, half.bits(LOWER_HALVES));
  return asValue({ locals: [...localsOf(first), ...localsOf(last)] });
}

/** The key of one value, as kernels compute it. */
export function orderKey(value: number): number {
  if (Number.isNaN(value)) return NULL_KEY;
  double[0] = 0 - value;
  const upper = words[1]!;
  return upper ^ ((upper >> 31) & 0x7fffffff);
}

/** Position of a lane's key after the first slot, in 32-bit words. */
export function keyPosition(slot: number, lane: number): number {
  const vector = Math.floor(lane / VECTOR_LANES);
  const isUpper = vector < VECTORS / 2;
  const place = (vector % (VECTORS / 2)) * VECTOR_LANES + (lane % VECTOR_LANES);
  return slot * (SLOT_BYTES / 4) + 2 * place + (isUpper ? 1 : 0);
}
