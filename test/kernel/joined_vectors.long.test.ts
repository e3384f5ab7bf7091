import { execFileSync } from "node:child_process";
import { afterEach, describe, expect, test } from "vitest";
import { joinsVectors } from "../../src/kernel/compile/joined_vectors.ts";

const SWITCH = "FACTORLOOM_JOIN_VECTORS";

afterEach(() => {
  delete process.env[SWITCH];
});

test("V8 joins vectors where that is tested, unless it is switched off", () => {
  const isTested = process.arch === "x64" && process.versions.v8.startsWith("14.6.");
  expect(joinsVectors()).toBe(isTested);
  process.env[SWITCH] = "0";
  expect(joinsVectors()).toBe(false);
});

/** The standard output of a script in its own process: V8 compiles the same bytes once per process. */
function outputOf(
  script: string,
  args: readonly string[],
  joins: boolean,
  flags: readonly string[] = [],
): string {
  const path = new URL(`support/${script}`, import.meta.url).pathname;
  const env = { ...process.env, [SWITCH]: joins ? "1" : "0" };
  const options = { encoding: "utf8", maxBuffer: 2 ** 28, env } as const;
  return execFileSync(process.execPath, [...flags, path, ...args], options);
}

test.each(["alpha101", "gtja191"])("the same bits with vectors joined and not: %s", (set) => {
  const joined = outputOf("digest_set.ts", [set], true);
  expect(joined).toMatch(/^[0-9a-f]{64}$/);
  expect(outputOf("digest_set.ts", [set], false)).toBe(joined);
});

/**
 * V8 prints what it does with every function. A kernel in which it joins nothing, or only a part, gives correct values
 * at half the speed, which no other test would notice.
 */
describe.runIf(joinsVectors())("V8 joins all of", () => {
  test.each([
    "close / open",
    "exp(close)",
    "power(close, open)",
    "ts_sum(close, 20)",
    "ts_std(close, 20)",
    "ts_rank(close, 10)",
    "ts_rank(close, 20)",
    "ts_median(close, 10)",
    "ts_argmax(close, 10)",
    "decay_linear(close, 10)",
    "correlation(close, volume, 10)",
    "correlation(rank(close), rank(volume), 10)",
    "ema(close, 10)",
    "zscore(close)",
  ])("%s", (formula) => {
    const trace = outputOf("compile_formula.ts", [formula], true, ["--trace-wasm-revectorize"]);
    expect(trace).toContain("Decided to vectorize");
    expect(trace.match(/tree failed|Unsupported/g)).toBeNull();
  });
});
