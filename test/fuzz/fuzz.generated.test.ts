import { describe, test } from "vitest";
import { trials } from "../support/trials.ts";
import { FUZZ_PROPERTIES } from "./properties.ts";

/** The short run; `node test/fuzz/long_run.ts` draws many more from the same properties. */
const FORMULAS = trials(100, 2000);

/** Another seed each time; `FUZZ_SEED=...` repeats a run. */
const seed = Number(process.env["FUZZ_SEED"] ?? Date.now() % 2 ** 31);

describe(`random formulas of seed ${seed}`, () => {
  test.each(FUZZ_PROPERTIES)("$name", ({ check, formulasPerRun }) =>
    check({ seed, numRuns: Math.ceil(FORMULAS / formulasPerRun) }));
});
