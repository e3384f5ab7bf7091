import { describe, expect, test } from "vitest";
import { nearestName } from "../../src/text/suggest.ts";

const KNOWN = ["close", "volume", "ts_mean", "ts_max", "hd", "constructor"];

describe("nearestName", () => {
  test.each([
    ["clsoe", "close"],
    ["CLOSE", "close"],
    ["vol", undefined],
    ["volum", "volume"],
    ["ts_maen", "ts_mean"],
    ["tsmean", "ts_mean"],
    ["ts_mxa", "ts_max"],
    ["HD", "hd"],
    ["hx", "hd"],
    ["dh", undefined],
    ["x", undefined],
    ["zzzzzz", undefined],
    ["", undefined],
    ["__proto__", undefined],
    ["constructo", "constructor"],
  ])("%s -> %s", (name, expected) => {
    expect(nearestName(name, KNOWN)).toBe(expected);
  });

  test("prefers the nearest, then the first", () => {
    expect(nearestName("ts_mex", ["ts_mean", "ts_max"])).toBe("ts_max");
    expect(nearestName("ts_maen", ["ts_max", "ts_mean"])).toBe("ts_mean");
    expect(nearestName("ab", ["ac", "ad"])).toBe("ac");
  });

  test("gives up on names that no one types", () => {
    expect(nearestName("x".repeat(100_000), ["x".repeat(99_999)])).toBeUndefined();
  });

  test("does not look through lists without end", () => {
    const endless = (function* () {
      for (let i = 0; ; i++) yield `name${i}`;
    })();
    expect(nearestName("nme7", endless)).toBe("name7");
  });
});
