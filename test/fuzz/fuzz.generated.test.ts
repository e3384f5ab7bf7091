import { describe, test } from "vitest";
import { testSeed } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { FUZZ_PROPERTIES } from "./properties.ts";

/** The short run; `node test/fuzz/long_run.ts` draws many more from the same properties. */
const FORMULAS = trials(100, 2000);

const seed = testSeed();

describe(`random formulas of seed ${seed}`, () => {
  test.each(FUZZ_PROPERTIES)("$name", ({ check, formulasPerRun }) =>
    check({ seed, numRuns: Math.ceil(FORMULAS / formulasPerRun) }));
});
