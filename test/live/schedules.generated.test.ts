import { afterAll, beforeAll, expect, test } from "vitest";
import { Engine } from "../../src/index.ts";
import { fileFolder } from "../support/file_folder.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { type LifeCounts, RandomLife } from "./random_life.ts";

/**
 * Params of a session that change now in every push, now after hundreds of rows: most factors are under conditions, so
 * windows and recursions rest and catch up. Every row has the bits of `evaluate`, which runs everything in every row, also
 * where bars are revised, pushes aborted and programs updated.
 */

const SCHEDULES = trials(3, 1000);
const HABITS = { conditionShare: 0.9, changeShares: [1, 0.3, 0.1, 0.03], barsMost: 110 };

let engines: Engine[];
const folder = fileFolder();
beforeAll(async () => {
  engines = [await Engine.start({ threads: 2 }), await Engine.start({ threads: 1 })];
});
afterAll(async () => {
  for (const engine of engines) await engine.close();
});

test(`${SCHEDULES} random schedules of params`, { timeout: 60_000 * SCHEDULES }, async () => {
  const random = new Seeded();
  const counts: LifeCounts = { cells: 0, pruned: 0, steps: new Map(), short: new Set(), factors: 0 };
  for (let schedule = 0; schedule < SCHEDULES; schedule++) {
    try {
      await new RandomLife(random, engines, folder, counts, HABITS).run();
    } catch (error) {
      throw new Error(`schedule ${schedule} of seed ${random.seed}: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
  console.log(
    `${counts.cells} cells of ${counts.factors} factors compared, ${counts.pruned} nodes left out`,
    Object.fromEntries(counts.steps),
  );
  expect(counts.cells).toBeGreaterThan(trials(0, 100 * SCHEDULES));
  expect(counts.pruned).toBeGreaterThan(trials(0, 20 * SCHEDULES));
});
