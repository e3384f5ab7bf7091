import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";

/**
 * Which tests are run. `*.long.test.ts` are tried in long runs alone, `*.generated.test.ts` try more cases there.
 * Limits stand far above what a test needs: on a machine whose cores do other work too, it is not the test that is wrong.
 * Each may be an hour where a run tries as much as a promise asks for: `LONG=1`, as in `npm run test:long`.
 */
const isLong = process.env["LONG"] !== undefined;
const MINUTE_MS = 60_000;
const testTimeout = isLong ? 60 * MINUTE_MS : 5 * MINUTE_MS;

// Command lines, executors and threads of the tests load the same modules thousands of times: a third of their work.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/compiled_modules");

// Vitest takes its configuration by the default export.
// biome-ignore lint/style/noDefaultExport: see above
export default defineConfig({
  test: {
    globalSetup: ["test/support/built_dist.ts"],
    include: isLong ? ["test/**/*.{generated,long}.test.ts"] : ["test/**/*.test.ts"],
    exclude: isLong ? configDefaults.exclude : [...configDefaults.exclude, "**/*.long.test.ts"],
    reporters: ["default", "./test/support/left_out.ts"],
    maxWorkers: 2,
    testTimeout,
    hookTimeout: testTimeout,
    teardownTimeout: MINUTE_MS,
  },
});
