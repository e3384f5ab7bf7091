import type { Panel } from "../../src/panel.ts";
import { CONDITION_FIELDS, FIELDS, NUMBER_FIELD, panelFrom } from "../conformance/awkward_panels.ts";
import { AWKWARD_NUMBERS, hashed } from "../conformance/awkward_series.ts";

/** Draws numbers in [0, 1) that depend on the seed alone. */
export class Draws {
  readonly #seed: number;
  #count = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  next(): number {
    return hashed(this.#seed, this.#count++);
  }

  /** A whole number from 0 up to, but not including, `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }

  /** True in that share of the draws. */
  happens(share: number): boolean {
    return this.next() < share;
  }
}

/** A series, cell by cell from the oldest; it may keep its own state. */
type Series = (draws: Draws, last: number) => number;

const { NaN: none, POSITIVE_INFINITY: inf, MAX_VALUE: largest, MIN_VALUE: smallest } = Number;
const centred = (draws: Draws) => draws.next() - 0.5;
const power = (draws: Draws, range: number) => 2 ** Math.floor(centred(draws) * 2 * range);

/** The kinds of lanes on which implementations of statistics are known to fail. */
const KINDS: readonly Series[] = [
  (draws) => centred(draws) * 20,
  (draws) => Math.round(centred(draws) * 2e4) / 100,
  (draws, last) => (Number.isNaN(last) ? 100 : Math.round(last * (1 + centred(draws) / 20) * 100) / 100),
  (draws) => draws.below(3),
  (draws) => 0.1 * draws.below(3) + 0.2,
  (draws) => draws.pick([0, -0, 1, -1]),
  (draws) => draws.pick([0, -0]),
  () => 0.1,
  (draws, last) => (Number.isNaN(last) || draws.happens(0.1) ? Math.round(centred(draws) * 1e4) / 7 : last),
  (draws) => 1e9 + centred(draws) * 3.46,
  (draws) => 1 + draws.below(4) * 2 ** -52,
  (draws) => 1e15 + draws.below(5) / 8,
  (draws) => (draws.happens(0.05) ? draws.pick([1e15, -1e15]) : Math.round(centred(draws) * 2e6) / 1e5),
  (draws) => draws.pick([1e16, -1e16, 1, 0.5, 1e-9, 3]),
  (draws) => centred(draws) * power(draws, 1000),
  (draws) => centred(draws) * power(draws, 60),
  (draws) => draws.pick([largest, -largest, 1e308, -1e300, 3e307, 1e292]),
  (draws) => Math.floor(draws.next() * 9 - 4) * smallest,
  (draws) => draws.pick([1e-300, -2e-308, 3e-162, -1e-160, 7e-305]),
  (_, last) => (Number.isNaN(last) ? 1 : last + 1),
  (_, last) => (last === 1 ? -1 : 1),
  (draws) => draws.pick(AWKWARD_NUMBERS),
  () => none,
];

/** One lane of one field: a kind of series mixed with nulls and infinities. */
function laneOf(draws: Draws, rowCount: number): number[] {
  const kind = draws.pick(KINDS);
  const nulls = draws.pick([0, 0, 0, 0.03, 0.1, 0.4, 0.9]);
  const infinities = draws.pick([0, 0, 0, 0, 0.05, 0.2]);
  const start = draws.happens(0.2) ? draws.below(rowCount) : 0;
  let last = none;
  return Array.from({ length: rowCount }, (_, row) => {
    last = kind(draws, last);
    if (row < start || draws.happens(nulls)) return none;
    return draws.happens(infinities) ? draws.pick([inf, -inf]) : last;
  });
}

/** A lane in a simple relation to another one. */
function relatedTo(draws: Draws, lane: readonly number[]): number[] {
  const [factor, shift] = [draws.pick([1, -1, 2, 0.1, -3]), draws.pick([0, 0, 1, 1e9])];
  const noise = draws.pick([0, 0, 1e-15, 1e-9]);
  return lane.map((value) => value * factor + shift + noise * centred(draws));
}

/** A panel with the fields and groups of the awkward panels; lanes differ in kind, and some fields are related. */
export function randomPanel(seed: number, rowCount: number, laneCount: number): Panel {
  const draws = new Draws(seed);
  const lanes = Array.from({ length: laneCount }, () => {
    const fields = new Map<string, readonly number[]>();
    for (const field of FIELDS) {
      const known = [...fields.values()];
      const isRelated = known.length > 0 && draws.happens(0.3);
      fields.set(field, isRelated ? relatedTo(draws, draws.pick(known)) : laneOf(draws, rowCount));
    }
    return fields;
  });
  return panelFrom(rowCount, laneCount, (field, row, lane) => {
    if (field === NUMBER_FIELD) return 2;
    const value = lanes[lane]!.get(field)![row]!;
    return CONDITION_FIELDS.includes(field) && !Number.isNaN(value) ? Number(value > 0) : value;
  });
}
