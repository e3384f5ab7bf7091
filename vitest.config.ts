import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { share, spread } from "./test/support/trials.ts";
import { SlowFirst } from "./test/support/vitest/slow_first.ts";

/**
 * Which tests are run. `*.long.test.ts` are tried in long runs alone; `*.generated.test.ts` try other cases there, and so do
 * other files that ask `test/support/trials.ts` how many they try.
 * Limits stand far above what a test needs: on a machine whose cores do other work too, it is not the test that is wrong.
 * Each may be an hour where a run tries as much as a promise asks for: `LONG=1`, as in `npm run test:long`; `LONG=0.2` tries a
 * fifth of the cases, and of the files of long tests a fifth, drawn by the seed, with the kills of jobs.
 */
const isLong = share > 0;
/** `npm run test:quick`: the tests that need neither processes nor threads, and seconds at most. */
const isQuick = process.env["QUICK"] !== undefined;
/** Rooms whose tests start processes or threads. */
const STARTING =
  "{bench,cli,cluster,data,difference,docs,engine,examples,execution,fuzz,golden,jobs,live,options,verify}";
/** It puts modules of its own in the place of those that others have loaded. */
const ALONE = "test/golden/counts.test.ts";
const LONG = "test/**/*.long.test.ts";
const KILLS = "test/jobs/kill.long.test.ts";
const GENERATED = "test/**/*.generated.test.ts";
const MINUTE_MS = 60_000;
const testTimeout = isLong ? 60 * MINUTE_MS : 5 * MINUTE_MS;

// Command lines, executors and threads of the tests load the same modules thousands of times: a third of their work.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/compiled_modules");

/**
 * Tests share a process one after the other, and with it modules, and processes that run the command line: to load
 * them again for each file takes as long as many of them.
 */
const sharing = {
  extends: true as const,
  test: {
    name: "sharing",
    isolate: false,
    include: ["test/**/*.test.ts"],
    exclude: [...configDefaults.exclude, LONG, GENERATED, ALONE, ...(isQuick ? [`test/${STARTING}/**`] : [])],
  },
};
const alone = { extends: true as const, test: { name: "alone", include: [ALONE] } };
const tryingMore = (path: string) => readFileSync(path, "utf8").includes("/support/trials.ts");
const generated = {
  extends: true as const,
  test: {
    name: "generated",
    include: isLong ? [GENERATED, ...globSync("test/**/!(*.long).test.ts").filter(tryingMore)] : [GENERATED],
  },
};
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
    projects: isQuick ? [sharing] : isLong ? [generated, long] : [sharing, alone, generated],
    reporters: ["default", "./test/support/vitest/seconds.ts", "./test/support/vitest/left_out.ts"],
    sequence: { sequencer: SlowFirst },
    // On two cores: files of tests wait for processes and disks for a fifth of their time.
    maxWorkers: 3,
    testTimeout,
    hookTimeout: testTimeout,
    teardownTimeout: MINUTE_MS,
  },
});
