import { describe, expect, test } from "vitest";
import { kindOf } from "../../src/text/argument_kinds.ts";

describe("kindOf", () => {
  test.each<[unknown, string]>([
    [undefined, "undefined"],
    [null, "null"],
    [1, "a number"],
    ["", "an empty text"],
    ["a", "a string"],
    [() => 1, "a function"],
    [{}, "an object"],
    [Object.create(null), "an object"],
    [[], "an array"],
    [new (class {})(), "an object"],
    [{ constructor: { name: 5 } }, "an object"],
    [Buffer.from("x"), "a Buffer"],
    [new URL("file:///bars.csv"), "a URL"],
    [Promise.resolve(), "a promise"],
  ])("%o is %s", (value, words) => {
    expect(kindOf(value)).toBe(words);
  });
});
