import { describe, expect, test } from "vitest";
import { compile, finalDag, writtenDag } from "../../src/compile.ts";
import { findSuspicions } from "../../src/dag/strict.ts";

function suspicionsOf(text: string): string[] {
  const program = compile(text);
  return findSuspicions(writtenDag(program), finalDag(program)).map(
    ({ code, factor, message }) => `${code} ${factor} ${message}`,
  );
}

describe("strict check", () => {
  test.each([
    [
      "equal factors, also with operands the other way round",
      "a = close * volume\nb = volume * close",
      ["S601 b equals a"],
    ],
    ["constant factors", "param k = 2\na = 3 + k", ["S602 a does not depend on any field"]],
    ["factors that are equal only after simplifying", "a = close\nb = -(-close) * 1", ["S601 b equals a"]],
    ["units in the words of the formula", "a = close - -volume", ["S604 a '-' of price and volume"]],
    ["state without end", "a = ts_mean(ema(close, 5), 3)", ["S603 a depends on all of history through ema"]],
    ["sums of different units", "a = close + volume", ["S604 a '+' of price and volume"]],
    ["comparisons of different units", "a = ts_mean(close, 3) > volume", ["S604 a '>' of price and volume"]],
    [
      "units through products",
      "a = close * volume - amount + close",
      ["S604 a '+' of price * volume and price"],
    ],
    ["zero by zero", "a = (close - close) / (0 * volume)", ["S605 a divides zero by zero on every row"]],
  ])("finds %s", (_, text, found) => {
    expect(suspicionsOf(text)).toEqual(found);
  });

  test.each([
    "a = close / open - 1",
    "a = rank(close) + rank(volume)",
    "a = close * volume - amount",
    "a = close + 1",
    "a = (close - open) / (high - low)",
    "a = returns\nb = adv20",
  ])("has nothing to say about %s", (text) => {
    expect(suspicionsOf(text)).toEqual([]);
  });
});
