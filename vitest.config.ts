import { defineConfig } from "vitest/config";

/**
 * Limits stand far above what a test needs: on a machine whose cores do other work too, it is not the test that is wrong.
 * Each may be an hour where a run tries as much as a promise asks for: `LONG=1`, as in `npm run test:long`.
 */
const isLong = process.env["LONG"] !== undefined;
const MINUTE_MS = 60_000;
const testTimeout = isLong ? 60 * MINUTE_MS : 5 * MINUTE_MS;

// Vitest takes its configuration by the default export.
// biome-ignore lint/style/noDefaultExport: see above
export default defineConfig({
  test: {
    globalSetup: ["test/support/built_dist.ts"],
    include: ["test/**/*.test.ts"],
    reporters: ["default", "./test/support/left_out.ts"],
    maxWorkers: 2,
    testTimeout,
    hookTimeout: testTimeout,
    teardownTimeout: MINUTE_MS,
  },
});
