import { describe, expect, test } from "vitest";
import { mistakes } from "../compile/rendered.ts";

describe("a definition that uses itself", () => {
  test.each([
    ["directly", "a = a + 1", ["E208 1:1 a uses itself: a -> a"]],
    ["through others", "a = b\nb = c\nc = a", ["E208 1:1 a uses itself: a -> b -> c -> a"]],
    [
      "through a derived series",
      "let volume = adv20\na = volume",
      ["E208 1:5 volume uses itself: volume -> volume"],
    ],
    ["within arguments", "a = ts_mean(rank(a), 5)", ["E208 1:1 a uses itself: a -> a"]],
    ["within named arguments", "let d = scale(close, a=d)\na = d", ["E208 1:5 d uses itself: d -> d"]],
  ])("%s", (_, text, expected) => {
    expect(mistakes(text)).toEqual(expected);
  });

  test("is reported once, and what uses it not at all", () => {
    expect(mistakes("x = a\na = b\nb = a\ny = rank(b) + clsoe")).toEqual([
      "E208 2:1 a uses itself: a -> b -> a",
      "E205 4:15 unknown name clsoe",
    ]);
  });

  test("each cycle by itself", () => {
    expect(mistakes("a = b\nb = a\nc = d\nd = c + a")).toEqual([
      "E208 1:1 a uses itself: a -> b -> a",
      "E208 3:1 c uses itself: c -> d -> c",
    ]);
  });

  test("a long cycle is shown by its beginning and its end", () => {
    const names = Array.from({ length: 10 }, (_, i) => `v${i}`);
    const text = names.map((name, i) => `${name} = v${(i + 1) % 10}`).join("\n");
    expect(mistakes(text)).toEqual([
      "E208 1:1 v0 uses itself: v0 -> v1 -> v2 -> v3 -> v4 -> ... -> v9 -> v0",
    ]);
  });

  test("is not one that only meets another way to the same", () => {
    expect(mistakes("a = b + c\nb = d\nc = d\nd = close")).toEqual([]);
  });
});
