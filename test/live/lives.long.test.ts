import { afterAll, beforeAll, expect, test } from "vitest";
import { isMemoryShort } from "../../src/evaluation/memory/memory_need.ts";
import { Engine } from "../../src/index.ts";
import { fileFolder } from "../support/file_folder.ts";
import { Seeded } from "../support/seeded.ts";
import { engineOfArenas } from "../support/small_arenas.ts";
import { trials } from "../support/trials.ts";
import { type LifeCounts, RandomLife, STEP_NAMES } from "./random_life.ts";

/**
 * Whatever happens to a session, each of its rows has the bits of `evaluate` over all bars so far, but for factors that
 * its last update has named in `shortOfHistory`.
 */

const LIVES = trials(12, 400);
const HABITS = { conditionShare: 0.4, changeShares: [1], barsMost: 26 };

/** Less than some programs need; hardly a factor alone needs more. */
const ARENA_BYTES = 2 ** 17;

/** Of two threads and of one, over one memory; over several, where scratch memory of threads is most of them. */
let engines: Engine[][];
const arenaCounts: number[] = [];
const folder = fileFolder();
beforeAll(async () => {
  engines = [
    [await Engine.start({ threads: 2 }), await Engine.start({ threads: 1 })],
    [await engineOfArenas(2, ARENA_BYTES, arenaCounts), await engineOfArenas(2, ARENA_BYTES, arenaCounts)],
  ];
});
afterAll(async () => {
  for (const engine of engines.flat()) await engine.close();
});

test(`${LIVES} random lives`, { timeout: 60_000 * LIVES }, async () => {
  const random = new Seeded();
  const counts: LifeCounts = { cells: 0, pruned: 0, steps: new Map(), short: new Set(), factors: 0 };
  let tooLarge = 0;
  for (let life = 0; life < LIVES; life++) {
    try {
      await new RandomLife(random, engines[life % 2]!, folder, counts, HABITS).run();
    } catch (error) {
      if (life % 2 === 1 && isMemoryShort(error)) {
        tooLarge++;
        continue;
      }
      throw new Error(`life ${life} of seed ${random.seed}: ${(error as Error).message}`, { cause: error });
    }
  }
  console.log(
    `${counts.cells} cells of ${counts.factors} factors compared, ${counts.short.size} factors short of history`,
    Object.fromEntries(counts.steps),
  );
  expect(tooLarge).toBeLessThan(LIVES / 4);
  if (LIVES > 100) expect(arenaCounts.filter((count) => count > 1).length).toBeGreaterThan(LIVES / 4);
  expect(counts.cells).toBeGreaterThan(150 * LIVES);
  expect(counts.short.size).toBeLessThan(counts.factors);
  if (LIVES > 100) expect(new Set(counts.steps.keys())).toEqual(STEP_NAMES);
});
