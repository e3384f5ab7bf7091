import { sharedCodes, sharedColumn } from "../evaluation/shared_columns.ts";
import type { Panel } from "../panel.ts";
import { Xoshiro128 } from "./random.ts";

/**
 * A panel of made-up bars: every instrument's price is a random walk.
 *
 * The recipe, for whoever wants the same numbers. `round4(x)` is floor(x * 10000 + 0.5) / 10000. Let u be the next
 * uniform number (`Xoshiro128.uniform`) of the generator seeded with `SEED`, and let (z, z') be the pair of normal
 * numbers that Box and Muller (1958) make of the next two, u and u': sqrt(-2 ln u) * cos(2 pi u') and the same with sin.
 *
 * 1. For each lane in turn: last = round4(10 + 90 u), shares = 1,000,000 * (1 + floor(1000 u)), in this order.
 * 2. For each row, for each lane in turn: draw (z1, z2), then (z3, z4), then u5, then u6;
 *    - open   = round4(last * (1 + 0.005 z1))
 *    - close  = round4(last * (1 + 0.02 z2)), or with |z2| in place of z2 where that would be below 1
 *    - high   = round4(max(open, close) * (1 + 0.01 u5))
 *    - low    = round4(min(open, close) * (1 - 0.01 u6))
 *    - volume = floor(exp(13 + z3) + 0.5)
 *    - vwap   = round4((high + low + close) / 3 * (1 + 0.001 z4)), brought into low..high
 *    - amount = volume * vwap, cap = close * shares
 *    - last   = close
 * 3. `sector` of a lane is lane mod 11.
 * 4. Nulls: of a second generator, seeded with `NULL_SEED`, one u for each row and lane in turn; where u < `nullShare`
 *    the bar is missing, that is, every field is null.
 *
 * All is IEEE double arithmetic as written. Rounding takes away the last bits, in which the logarithms and sines of
 * mathematical libraries differ: Python, by this text alone, gives the bits of the test. A panel of more rows begins with
 * the rows of a smaller one.
 */
export interface PanelShape {
  readonly lanes: number;
  readonly rows: number;
  /** Share of bars that are missing, 0 to 1. */
  readonly nullShare: number;
}

const SEED = 20_240_101n;
const NULL_SEED = 20_240_102n;
const SECTORS = 11;

/** 2000-01-01, in days since 1970-01-01; one row a day. */
const FIRST_DAY = 10_957;

const FIELDS = ["open", "high", "low", "close", "volume", "vwap", "amount", "cap"] as const;
type Fields = Readonly<Record<(typeof FIELDS)[number], Float64Array<SharedArrayBuffer>>>;

/** @throws ResourceError E401 if the system refuses the memory. */
export function syntheticPanel({ lanes, rows, nullShare }: PanelShape): Panel {
  const columns = FIELDS.map((name) => [name, sharedColumn(rows * lanes)] as const);
  const present = new Uint8Array(rows * lanes).fill(1);
  fillBars(Object.fromEntries(columns) as Fields, lanes, rows);
  const fields = new Map<string, Float64Array<SharedArrayBuffer>>(columns);
  if (nullShare > 0) takeOut(fields, present, nullShare);
  const sectors = sharedCodes(lanes);
  for (let lane = 0; lane < lanes; lane++) sectors[lane] = lane % SECTORS;
  const labels = Array.from({ length: SECTORS }, (_, index) => `sector ${index}`);
  return {
    rowCount: rows,
    laneCount: lanes,
    time: {
      name: "date",
      type: { kind: "date" },
      values: BigInt64Array.from({ length: rows }, (_, row) => BigInt(FIRST_DAY + row)),
    },
    symbols: Array.from({ length: lanes }, (_, lane) => `S${String(lane).padStart(6, "0")}`),
    fields,
    groups: new Map([["sector", { name: "sector", labels, codes: sectors, changesOverTime: false }]]),
    present,
  };
}

function fillBars(fields: Fields, lanes: number, rows: number): void {
  const { open, high, low, close, volume, vwap, amount, cap } = fields;
  const random = Xoshiro128.seeded(SEED);
  const last = new Float64Array(lanes);
  const shares = new Float64Array(lanes);
  for (let lane = 0; lane < lanes; lane++) {
    last[lane] = round4(10 + 90 * random.uniform());
    shares[lane] = 1_000_000 * (1 + Math.floor(1000 * random.uniform()));
  }
  for (let cell = 0, lane = 0; cell < rows * lanes; cell++, lane = (lane + 1) % lanes) {
    const radius1 = Math.sqrt(-2 * Math.log(random.uniform()));
    const angle1 = 2 * Math.PI * random.uniform();
    const radius2 = Math.sqrt(-2 * Math.log(random.uniform()));
    const angle2 = 2 * Math.PI * random.uniform();
    const price = last[lane]!;
    const o = round4(price * (1 + 0.005 * (radius1 * Math.cos(angle1))));
    const c = walk(price, radius1 * Math.sin(angle1));
    const h = round4(Math.max(o, c) * (1 + 0.01 * random.uniform()));
    const l = round4(Math.min(o, c) * (1 - 0.01 * random.uniform()));
    const v = Math.floor(Math.exp(13 + radius2 * Math.cos(angle2)) + 0.5);
    const typical = round4(((h + l + c) / 3) * (1 + 0.001 * (radius2 * Math.sin(angle2))));
    open[cell] = o;
    high[cell] = h;
    low[cell] = l;
    close[cell] = c;
    volume[cell] = v;
    vwap[cell] = Math.min(h, Math.max(l, typical));
    amount[cell] = v * vwap[cell]!;
    cap[cell] = c * shares[lane]!;
    last[lane] = c;
  }
}

function walk(price: number, z: number): number {
  const next = round4(price * (1 + 0.02 * z));
  return next < 1 ? round4(price * (1 + 0.02 * Math.abs(z))) : next;
}

function round4(value: number): number {
  return Math.floor(value * 10_000 + 0.5) / 10_000;
}

function takeOut(fields: ReadonlyMap<string, Float64Array>, present: Uint8Array, share: number): void {
  const random = Xoshiro128.seeded(NULL_SEED);
  for (let cell = 0; cell < present.length; cell++) {
    if (random.uniform() >= share) continue;
    present[cell] = 0;
    for (const column of fields.values()) column[cell] = Number.NaN;
  }
}
