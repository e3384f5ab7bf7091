import fc from "fast-check";
import { expect, test } from "vitest";
import { cutRun } from "../../../src/cluster/cut/cut_run.ts";
import type { FactorloomError } from "../../../src/errors.ts";
import { testSeed } from "../../support/seeded.ts";
import { trials } from "../../support/trials.ts";
import { specOf } from "./cut_specs.ts";

const CHUNK_BYTES = 32 * 2 ** 20;
const upTo = (max: number) => fc.integer({ min: 1, max });
const bytes = fc.integer({ min: 10, max: 36 }).map((bits) => 2 ** bits);
const specs = fc
  .record({
    first: fc.nat(5000),
    rowCount: fc.nat(20_000),
    laneCount: upTo(3000),
    threadCount: upTo(64),
    lookbacks: fc.array(fc.oneof(fc.nat(10), fc.nat(3000), fc.constant(Number.POSITIVE_INFINITY)), {
      maxLength: 9,
    }),
    rowNs: upTo(1e6),
    sharedNs: fc.nat(1e6),
    outputsMax: upTo(9),
    held: fc.option(fc.record({ valueBytes: bytes, aheadBytes: bytes })),
    slabRows: fc.option(upTo(3000), { nil: undefined }),
  })
  .map(({ rowCount, ...drawn }) => specOf({ ...drawn, end: drawn.first + rowCount }));

const seed = testSeed();
test(`cuts cover all, and hold what their limits allow, seed ${seed}`, () => {
  const property = fc.property(specs, (spec) => {
    const { first, end, laneCount, threadCount, lookbacks, held } = spec;
    const rowBytes = (outputs: number) => laneCount * (8 * outputs + 1);
    const isEndless = lookbacks.includes(Number.POSITIVE_INFINITY);
    let cut: ReturnType<typeof cutRun>;
    try {
      cut = cutRun(spec);
    } catch (error) {
      expect((error as FactorloomError).code).toBe("E639");
      expect(rowBytes(1) * (end - first)).toBeGreaterThan(held!.valueBytes);
      return;
    }
    const { slabRows, chunkRows, shares } = cut;
    expect([slabRows[0], slabRows.at(-1)]).toEqual([first, end]);
    const lengths = slabRows.slice(1).map((slabEnd, slab) => slabEnd - slabRows[slab]!);
    for (const length of lengths) expect(length).toBeGreaterThan(0);
    expect(shares.flatMap(({ outputs }) => outputs).sort((a, b) => a - b)).toEqual([...lookbacks.keys()]);
    for (const { outputs, warmUpRows } of shares) {
      const longest = Math.max(0, ...outputs.map((output) => lookbacks[output]!));
      if (warmUpRows !== null) expect(warmUpRows).toBe(longest);
      expect(outputs.length).toBeLessThanOrEqual(spec.divide(outputs, 1)[0]?.length ?? 0);
      if (held !== null && warmUpRows === null)
        expect(outputs.length * rowBytes(1) * (end - first)).toBeLessThanOrEqual(held.valueBytes);
    }
    if (isEndless) expect(shares[0]!.warmUpRows).toBe(null);
    const longestSlab = Math.max(1, ...lengths);
    expect(chunkRows).toBeLessThanOrEqual(longestSlab);
    if (chunkRows > 1) expect(chunkRows * rowBytes(lookbacks.length)).toBeLessThanOrEqual(CHUNK_BYTES);
    if (spec.slabRows !== undefined) expect(longestSlab).toBeLessThanOrEqual(spec.slabRows);
    else if (held !== null && longestSlab > 1) {
      const slabBytes = longestSlab * rowBytes(lookbacks.length);
      expect(slabBytes).toBeLessThanOrEqual(held.valueBytes);
      expect(slabBytes * (threadCount + 1)).toBeLessThanOrEqual(held.aheadBytes);
    }
  });
  fc.assert(property, { seed, numRuns: trials(500, 5000) });
});
