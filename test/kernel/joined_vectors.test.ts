import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { syntheticPanel } from "../../bench/synthetic_panel.ts";
import { compile, finalDag } from "../../src/compile.ts";
import { joinsVectors } from "../../src/kernel/wasm/joined_vectors.ts";
import { runDag } from "./run_plan.ts";
import { bitsOf } from "./small_panel.ts";

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

describe("the same bits with vectors joined and not", () => {
  test.each(["alpha101", "gtja191"] as const)("%s", (set) => {
    const text = readFileSync(new URL(`../../examples/${set}.factors`, import.meta.url), "utf8");
    const panel = syntheticPanel({ lanes: 17, rows: 40, nullShare: 0.05 });
    const run = () => runDag(finalDag(compile(text, { dialect: set })), panel);
    const joined = run();
    process.env[SWITCH] = "0";
    const apart = run();
    expect(joined.map((column) => bitsOf(column))).toEqual(apart.map((column) => bitsOf(column)));
  });
});

/**
 * V8 tells what it makes of every function. A kernel that it joins nothing in, or only a part of, gives the right values
 * at half of the speed, which no other test would notice.
 */
describe.runIf(joinsVectors())("V8 joins all of", () => {
  test.each([
    "close / open",
    "exp(close)",
    "power(close, open)",
    "ts_sum(close, 20)",
    "ts_std(close, 20)",
    "ts_rank(close, 10)",
    "ts_median(close, 10)",
    "ts_argmax(close, 10)",
    "decay_linear(close, 10)",
    "correlation(close, volume, 10)",
    "correlation(rank(close), rank(volume), 10)",
    "ema(close, 10)",
    "zscore(close)",
  ])("%s", (formula) => {
    const script = new URL("support/compile_formula.ts", import.meta.url).pathname;
    const trace = execFileSync(process.execPath, ["--trace-wasm-revectorize", script, formula], {
      encoding: "utf8",
      maxBuffer: 2 ** 28,
    });
    expect(trace).toContain("Decided to vectorize");
    expect(trace.match(/tree failed|Unsupported/g)).toBeNull();
  });
});
