import { spawnSync } from "node:child_process";

/**
 * Runs the generated tests with a seed that nobody has tried. A failure is a warning, not a verdict on the change at hand: the
 * smallest input that fails becomes a test of its own.
 */
const seed = Math.floor(Math.random() * 2 ** 31);
console.log(`SEED=${seed}: generated tests with cases that nobody has seen`);
const { status } = spawnSync("vitest", ["run", "--project", "generated"], {
  stdio: "inherit",
  env: { ...process.env, SEED: String(seed) },
});
if (status !== 0)
  console.log(
    `WARNING: SEED=${seed} finds a failure, shown above with its input. Again: SEED=${seed} npx vitest run FILE\n` +
      "Commit the smallest input that fails as a test.",
  );
