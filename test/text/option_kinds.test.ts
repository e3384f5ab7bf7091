import { describe, expect, test } from "vitest";
import { UsageError } from "../../src/errors.ts";
import { decidedByData, TEXT } from "../../src/text/argument_kinds.ts";
import { checkedOptions } from "../../src/text/option_kinds.ts";

interface Options {
  readonly from?: string;
  readonly blockRows?: number;
}

const COUNT = decidedByData("a number", "give one");
const check = (given: unknown) =>
  checkedOptions<Options>("evaluate", given as Options, { from: TEXT, blockRows: COUNT });

describe("checkedOptions", () => {
  test("says what to use instead of an option that was removed", () => {
    const removed = new Map([["till", { remedy: "give to" }]]);
    const kinds = { from: TEXT, blockRows: COUNT };
    const refused = () =>
      checkedOptions<Options>("evaluate", { till: "x" } as Options, kinds, "option", removed);
    expect(refused).toThrow("E527 unknown option till of evaluate\n  give to");
  });

  test.each([{}, { from: "2017-01-01" }, { from: undefined, blockRows: 2 }])("takes %j", (given) => {
    expect(() => check(given)).not.toThrow();
  });

  test.each<[unknown, string]>([
    [{ form: "x" }, "E527 unknown option form of evaluate\n  did you mean from?"],
    [{ from: "x", blockrow: 1 }, "E527 unknown option blockrow of evaluate\n  did you mean blockRows?"],
    [{ window: 1 }, "E527 unknown option window of evaluate\n  options of evaluate: from, blockRows"],
    [{ toString: 1 }, "E527 unknown option toString of evaluate\n  options of evaluate: from, blockRows"],
    [
      "2017-01-01",
      "E528 evaluate takes an object of options, got a string\n  options of evaluate: from, blockRows",
    ],
    [null, "E528 evaluate takes an object of options, got null\n  options of evaluate: from, blockRows"],
    [
      ["from"],
      "E528 evaluate takes an object of options, got an array\n  options of evaluate: from, blockRows",
    ],
    [
      new Map([["from", "x"]]),
      "E528 evaluate takes an object of options, got a Map\n  options of evaluate: from, blockRows",
    ],
    [{ from: 5 }, 'E528 the option from takes a text, got a number\n  write it in quotes: "..."'],
    [
      { from: Promise.resolve("x") },
      'E528 the option from takes a text, got a promise\n  await it: write it in quotes: "..."',
    ],
  ])("refuses %j", (given, message) => {
    const refused = () => check(given);
    expect(refused).toThrow(UsageError);
    expect(refused).toThrow(message);
  });
});
