import type { Value } from "../../operator/lowering.ts";
import { GROUP_BYTES, GROUP_LANES } from "../memory/state_layout.ts";
import { VECTORS } from "../memory/vectors.ts";
import type { Local } from "./code.ts";
import { LaneCode } from "./lane_code.ts";
import { type LaneValues, Vectors } from "./lane_values.ts";

/** The keys of one row: 32 bits for each lane of a group. */
export const SLOT_BYTES = GROUP_BYTES / 2;

const VECTOR_LANES = 2;

/** The key of a null, below all others. */
const NULL_KEY = -(2 ** 31);

/** A double whose bits are the keys of two nulls. */
export const NULL_KEYS = -(2 ** (31 - 1074));

const UPPER_HALVES = 0xffffffff00000000n;
const LOWER_HALVES = 0xffffffffn;
const NULLS = 0x8000000080000000n;
const MAGNITUDES = 0x7fffffff7fffffffn;

const double = new Float64Array(1);
const words = new Int32Array(double.buffer);

/** Where the keys of a window lie: the address of the state, the offset of slot 0, the number of slots, today's slot. */
export interface KeySlots {
  readonly window: Local;
  readonly offset: number;
  readonly slots: number;
  readonly today: Local;
}

/**
 * Emits 1 plus twice the number of keys in the slots that lie below today's, and stores today's key in its slot. If a key
 * equals today's in any lane, `ofTied` gives the result instead.
 *
 * Keys are the upper 32 bits of values, as integers that fall where values rise: equal for equal values, and for some
 * others. They lie side by side, those of all lanes in half as many vectors as the lanes' values.
 */
export function countKeysBelow(
  on: LaneCode,
  { window, offset, slots, today: slot }: KeySlots,
  x: Value,
  ofTied: () => Value,
): Value {
  const half = new LaneCode(on.code, on.library, VECTORS / 2);
  const result = on.copy(on.number(1));
  half.scope(() => {
    const today = half.copy(keysOf(on, half, x));
    let isTied: Vectors = half.bits(0n);
    let counts: Vectors = half.bits(0n);
    for (let k = 0; k < slots; k++)
      [isTied, counts] = half.scope((): [Vectors, Vectors] => {
        const key = half.loadAt(window, offset + k * SLOT_BYTES);
        // Masks are -1 as integers: subtracting them counts.
        const isBelow = half.op("i32x4.gt_s", key, today);
        const isEqual = half.op("i32x4.eq", key, today);
        return [half.op("v128.or", isTied, isEqual), half.op("i32x4.sub", counts, isBelow)];
      });
    half.storeAt(slot, offset, today);
    const below = on.doublesOf(spread(half, counts));
    on.assign(result, on.add(on.add(below, below), on.number(1)));
    // A null equals earlier nulls.
    const isThere = half.op("i32x4.gt_s", today, half.bits(NULLS));
    half.ifAny(half.and(isTied, isThere), () => on.scope(() => on.assign(result, ofTied())));
  });
  return result;
}

/** The keys of lanes: those of the first vectors in the upper halves, those of the last vectors in the lower ones. */
function keysOf(on: LaneCode, half: LaneCode, x: Value): Value {
  // The difference has one zero, not two; a null has all bits set.
  const falling = on.orBits(on.sub(on.number(0), x), on.bitsOf(on.isNull(x)));
  const [first, last] = halvesOf(half, falling as Vectors);
  const packed = half.orBits(half.andBits(first, half.bits(UPPER_HALVES)), half.shiftRight(last, 32));
  const isNegative = half.shift("i32x4.shr_s", packed, 31);
  return half.xorBits(packed, half.andBits(isNegative, half.bits(MAGNITUDES)));
}

const halvesOf = ({ vectors }: LaneValues, { locals }: Vectors): [Vectors, Vectors] => [
  new Vectors(locals.slice(0, vectors)),
  new Vectors(locals.slice(vectors)),
];

/** 32-bit integers arranged like keys, as 64 bits each. */
function spread(half: LaneCode, packed: Value): Value {
  const first = half.shiftRight(packed, 32) as Vectors;
  const last = half.andBits(packed, half.bits(LOWER_HALVES)) as Vectors;
  return new Vectors([...first.locals, ...last.locals]);
}

/** The key of one value, as kernels compute it. */
export function orderKey(value: number): number {
  if (Number.isNaN(value)) return NULL_KEY;
  double[0] = 0 - value;
  const upper = words[1]!;
  return upper ^ ((upper >> 31) & 0x7fffffff);
}

/** Position of a lane's key after that of the first slot, in 32-bit words. */
export function keyPosition(slot: number, lane: number): number {
  const inGroup = lane % GROUP_LANES;
  const vector = Math.floor(inGroup / VECTOR_LANES);
  const isUpper = vector < VECTORS / 2;
  const place = (vector % (VECTORS / 2)) * VECTOR_LANES + (inGroup % VECTOR_LANES);
  return slot * (SLOT_BYTES / Int32Array.BYTES_PER_ELEMENT) + 2 * place + (isUpper ? 1 : 0);
}
