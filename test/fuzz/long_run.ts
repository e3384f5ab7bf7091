import { parseArgs } from "node:util";
import { FUZZ_PROPERTIES } from "./properties.ts";

/**
 * Draws many formulas through the properties of the short run. Progress goes to stderr; exit code 1 with the seed and
 * the smallest formula found when a property does not hold.
 *
 * node test/fuzz/long_run.ts [count of formulas for each property, default 100000] [--seed N]
 */
const { positionals, values } = parseArgs({ allowPositionals: true, options: { seed: { type: "string" } } });
const count = Number(positionals[0] ?? 100_000);
const firstSeed = Number(values.seed ?? Date.now() % 2 ** 31);

if (!(count > 0 && Number.isSafeInteger(firstSeed))) {
  process.stderr.write("usage: node test/fuzz/long_run.ts [count] [--seed N], both whole numbers\n");
  process.exit(1);
}

/** Formulas between two lines of progress; each round has its own seed, so that a failure is found again soon. */
const ROUND_FORMULAS = 2000;

for (const { name, formulasPerRun, check } of FUZZ_PROPERTIES) {
  for (let done = 0, seed = firstSeed; done < count; done += ROUND_FORMULAS, seed++) {
    const formulas = Math.min(ROUND_FORMULAS, count - done);
    process.stderr.write(`${name}: ${done} of ${count}, seed ${seed}\n`);
    try {
      await check({ seed, numRuns: Math.ceil(formulas / formulasPerRun) });
    } catch (error) {
      const cause = error instanceof Error ? String(error.cause ?? "") : "";
      process.stderr.write(`${name}: does not hold, seed ${seed}\n${String(error)}\n${cause}\n`);
      process.exit(1);
    }
  }
}
process.stderr.write(`${count} formulas for each of ${FUZZ_PROPERTIES.length} properties: all hold\n`);
