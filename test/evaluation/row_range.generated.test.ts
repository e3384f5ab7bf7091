import { expect, test } from "vitest";
import { rowRange } from "../../src/evaluation/row_range.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";

const NS_PER_UNIT = { s: 1_000_000_000n, ms: 1_000_000n, us: 1000n, ns: 1n } as const;
const NS_PER_SECOND = 1_000_000_000n;
/** Offsets from UTC in minutes, as text too. */
const OFFSETS = [
  ["Z", 0],
  ["+05:30", 330],
  ["-0800", -480],
  ["+02", 120],
] as const;

const random = new Seeded();
const pick = <T>(items: readonly T[]): T => items[random.below(items.length)]!;
const floorDivide = (value: bigint, by: bigint) => (value - (((value % by) + by) % by)) / by;

/** The moment as text: decimals up to the last that is not 0, or more. */
function textOf(ns: bigint, offset: string, minutes: number): string {
  const local = ns + BigInt(minutes) * 60n * NS_PER_SECOND;
  const seconds = floorDivide(local, NS_PER_SECOND);
  const decimals = String(local - seconds * NS_PER_SECOND).padStart(9, "0");
  const shown = pick([decimals, decimals.replace(/0+$/, "")]);
  const second = new Date(Number(seconds) * 1000)
    .toISOString()
    .slice(0, 19)
    .replace("T", pick([" ", "T"]));
  return `${second}${shown === "" ? "" : `.${shown}`}${offset}`;
}

test("from and to at any nanosecond take the rows that are between them, in every unit and zone", async () => {
  const counts = { rows: 0, empty: 0 };
  for (let trial = 0; trial < trials(40, 3000); trial += 1) {
    const unit = pick(["s", "ms", "us", "ns"] as const);
    const timezone = pick([null, "UTC", "+02:00"]);
    const center = pick([0n, -1n, 1_577_836_800n, -86_400n * 300n]) * NS_PER_SECOND;
    const near = () =>
      center + BigInt(Math.floor((random.uniform() - 0.5) * 20 * Number(pick([NS_PER_UNIT[unit], 1n]))));
    const values = [
      ...new Set(Array.from({ length: 12 }, () => floorDivide(near(), NS_PER_UNIT[unit]))),
    ].sort((a, b) => (a < b ? -1 : 1));
    const moment = () => {
      const ns = near();
      // Without an offset a text is in the column's zone.
      const ownMinutes = timezone === "+02:00" ? 120 : 0;
      const [offset, minutes] =
        timezone === null ? (["", 0] as const) : pick([...OFFSETS, ["", ownMinutes] as const]);
      return { ns, text: textOf(ns, offset, minutes) };
    };
    const [from, to] = [
      random.below(4) === 0 ? undefined : moment(),
      random.below(4) === 0 ? undefined : moment(),
    ];
    const expected = values.filter((value) => {
      const ns = value * NS_PER_UNIT[unit];
      return (from === undefined || ns >= from.ns) && (to === undefined || ns <= to.ns);
    });
    const column = {
      name: "time",
      type: { kind: "timestamp", unit, timezone } as const,
      values: BigInt64Array.from(values),
    };
    const say = `seed ${random.seed}, trial ${trial}: ${unit}, ${timezone}, ${from?.text} to ${to?.text}`;
    const options = { ...(from && { from: from.text }), ...(to && { to: to.text }) };
    const { first, end } = await rowRange(column, options);
    expect(values.slice(first, end), say).toEqual(expected);
    counts[expected.length === 0 ? "empty" : "rows"] += 1;
  }
  expect(Math.min(counts.rows, counts.empty), `seed ${random.seed}`).toBeGreaterThan(3);
});
