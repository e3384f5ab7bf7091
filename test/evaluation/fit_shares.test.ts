import { expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { compile, finalDag } from "../../src/compile.ts";
import { draftOf, fitShares } from "../../src/evaluation/fit_plan.ts";
import { SESSION_SHAPE } from "../../src/live/live_plan.ts";
import { DEFAULT_COSTS } from "../../src/plan/cost_model.ts";

const PAGE_BYTES = 65_536;

/** The memories of a program, none of them larger than this. */
async function sharesOf(text: string, laneCount: number, snapshots: boolean, arenaBytesMax: number) {
  const dag = finalDag(compile(text));
  const spec = { dag, laneCount, registry: builtInRegistry, snapshots, ...SESSION_SHAPE };
  const target = { threads: 3, costs: DEFAULT_COSTS, arenaBytesMax };
  return await fitShares(spec, target, draftOf(spec, target, dag), 1);
}

/** The least bytes for which one memory suffices. */
async function bytesOfOne(text: string, laneCount: number, snapshots: boolean): Promise<number> {
  let [tooFew, enough] = [0, 2 ** 24];
  while (enough - tooFew > 1) {
    const bytes = Math.floor((tooFew + enough) / 2);
    const shares = await sharesOf(text, laneCount, snapshots, bytes).catch(() => []);
    if (shares.length === 1) enough = bytes;
    else tooFew = bytes;
  }
  return enough;
}

test.each([
  [1, 8],
  [3, 8],
  [7, 8],
  [9, 100],
  [5, 4000],
])("%i ranks of %i symbols are divided alike for sessions that may be revised and others", async (ranks, laneCount) => {
  const chain = Array.from({ length: ranks - 1 }, (_, k) => `f${k + 1} = rank(ts_mean(f${k}, ${k + 2}))`);
  const program = ["f0 = rank(close)", ...chain, "last = ts_std(volume, 9)"].join("\n");
  const bytes = await bytesOfOne(program, laneCount, true);
  expect(await bytesOfOne(program, laneCount, false)).toBe(bytes);
  for (const snapshots of [true, false]) {
    const [share] = await sharesOf(program, laneCount, snapshots, bytes);
    expect(share!.kernels.arenaBytes).toBeLessThan(bytes + PAGE_BYTES);
  }
});
