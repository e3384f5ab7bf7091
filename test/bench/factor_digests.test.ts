import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { FactorDigests } from "../../src/bench/factor_digests.ts";
import { Xoshiro128 } from "../../src/bench/random.ts";
import { compile, finalDag } from "../../src/compile.ts";
import { sharedColumn } from "../../src/evaluation/shared_columns.ts";
import { formPlan } from "../../src/plan/form.ts";

const [LANES, ROWS] = [5, 40];
const plan = formPlan(finalDag(compile("a = close + 1\nb = close + 2")), {
  laneCount: LANES,
  blockRows: ROWS,
  executorCount: 1,
});

/** Bits of all kinds, those of nulls with payloads and of numbers that carry among them. */
function madeUp(seed: bigint): Float64Array<SharedArrayBuffer> {
  const random = Xoshiro128.seeded(seed);
  const column = sharedColumn(ROWS * LANES);
  const bits = new Uint32Array(column.buffer);
  for (let at = 0; at < bits.length; at++) bits[at] = Math.floor(2 ** 32 * random.uniform());
  for (const [cell, value] of [0, -0, Number.NaN, Number.POSITIVE_INFINITY, 1].entries())
    column[cell] = value;
  bits.fill(0xffffffff, 2 * LANES, 4 * LANES);
  return column;
}

const results = [madeUp(1n), madeUp(2n)];

/** By the formula, in big integers; every null has the bits of one NaN. */
function digestOf(column: Float64Array<SharedArrayBuffer>): string {
  const bits = new BigUint64Array(column.buffer).map((value, cell) =>
    Number.isNaN(column[cell]) ? 0x7ff8000000000000n : value,
  );
  const lanes = new BigUint64Array(LANES);
  for (const [cell, value] of bits.entries()) {
    const factor = BigInt(2 * Math.floor(cell / LANES) + 1) * 0x9e3779b97f4a7c15n;
    lanes[cell % LANES]! += (value + 0x61c8864680b583ebn) * factor;
  }
  return createHash("sha256").update(lanes).digest("hex").slice(0, 32);
}

test("digests in 32-bit halves are those of the formula", () => {
  const digests = new FactorDigests(plan);
  digests.add(results, 0, ROWS);
  expect(digests.byName()).toEqual({ a: digestOf(results[0]!), b: digestOf(results[1]!) });
});

test("blocks may be of any size, but every row has its place", () => {
  const whole = new FactorDigests(plan);
  whole.add(results, 0, ROWS);
  const [byRow, shifted] = [new FactorDigests(plan), new FactorDigests(plan)];
  for (let row = 0; row < ROWS; row++) {
    const ofRow = results.map((column) => {
      const kept = sharedColumn(LANES);
      // Doubles that are not canonical nulls keep their bits in this copy.
      new Uint8Array(kept.buffer).set(new Uint8Array(column.buffer, 8 * row * LANES, 8 * LANES));
      return kept;
    });
    byRow.add(ofRow, row, 1);
    shifted.add(ofRow, row + 1, 1);
  }
  expect(byRow.byName()).toEqual(whole.byName());
  expect(shifted.byName()["a"]).not.toBe(whole.byName()["a"]);
});
