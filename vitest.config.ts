import { globSync } from "node:fs";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { share, spread } from "./test/support/trials.ts";
import { SlowFirst } from "./test/support/vitest/slow_first.ts";

/**
 * Which tests are run. `*.long.test.ts` are tried in long runs alone, `*.generated.test.ts` try other cases there.
 * Limits stand far above what a test needs: on a machine whose cores do other work too, it is not the test that is wrong.
 * Each may be an hour where a run tries as much as a promise asks for: `LONG=1`, as in `npm run test:long`; `LONG=0.2` tries a
 * fifth of the cases, and of the files of long tests a fifth, drawn by the seed, with the kills of jobs.
 */
const isLong = share > 0;
/** `npm run test:quick`: the tests that need neither processes nor threads, and seconds at most. */
const isQuick = process.env["QUICK"] !== undefined;
/** Rooms whose tests start processes or threads. */
const STARTING =
  "{bench,cluster,data,difference,docs,engine,examples,execution,fuzz,golden,jobs,live,options,verify}";
const LONG = "test/**/*.long.test.ts";
const KILLS = "test/jobs/kill.long.test.ts";
const GENERATED = "test/**/*.generated.test.ts";
const MINUTE_MS = 60_000;
const testTimeout = isLong ? 60 * MINUTE_MS : 5 * MINUTE_MS;

// Command lines, executors and threads of the tests load the same modules thousands of times: a third of their work.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/compiled_modules");

/**
 * Tests that share a process one after the other, and with it modules, and processes that run the command line: to load
 * them again for each file is half of their work.
 */
const sharing = {
  extends: true as const,
  test: {
    name: "sharing",
    isolate: false,
    include: ["test/**/*.test.ts"],
    exclude: [
      ...configDefaults.exclude,
      LONG,
      GENERATED,
      `test/${STARTING}/**`,
      ...(isQuick ? ["test/cli/**"] : []),
    ],
  },
};
/** Each file has a process of its own. */
const whole = {
  extends: true as const,
  test: {
    name: "whole",
    include: [`test/${STARTING}/**/*.test.ts`],
    exclude: [...configDefaults.exclude, LONG, GENERATED],
  },
};
const generated = { extends: true as const, test: { name: "generated", include: [GENERATED] } };
const long = {
  extends: true as const,
  test: { name: "long", include: [KILLS, ...spread(globSync(LONG).sort())] },
};

// Vitest takes its configuration by the default export.
// biome-ignore lint/style/noDefaultExport: see above
export default defineConfig({
  test: {
    globalSetup: ["test/support/vitest/built_dist.ts", "test/support/vitest/no_processes_left.ts"],
    setupFiles: ["./test/support/vitest/each_file.ts"],
    projects: isQuick ? [sharing] : isLong ? [generated, long] : [sharing, whole, generated],
    reporters: ["default", "./test/support/vitest/seconds.ts", "./test/support/vitest/left_out.ts"],
    sequence: { sequencer: SlowFirst },
    // On two cores: files of tests wait for processes and disks for a fifth of their time.
    maxWorkers: 3,
    testTimeout,
    hookTimeout: testTimeout,
    teardownTimeout: MINUTE_MS,
  },
});
