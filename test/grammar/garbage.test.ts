import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DIAGNOSTICS_MAX } from "../../src/limits.ts";
import { trials } from "../support/trials.ts";
import { parse } from "./show_syntax.ts";

/** Parses anything; every position of the result must lie within the text. */
function expectOrderly(text: string): void {
  const { statements, diagnostics } = parse(text);
  expect(diagnostics.length).toBeLessThanOrEqual(DIAGNOSTICS_MAX);
  const lines = text.split(/\r\n|\n|\r/);
  for (const { line, column, message, remedy, snippet } of diagnostics) {
    expect(line).toBeGreaterThanOrEqual(1);
    expect(line).toBeLessThanOrEqual(lines.length);
    expect(column).toBeGreaterThanOrEqual(1);
    expect(column).toBeLessThanOrEqual((lines[line - 1]?.length ?? 0) + 1);
    expect(message).not.toBe("");
    expect(remedy).not.toBe("");
    expect(snippet.split("\n")).toHaveLength(2);
  }
  for (const { start, end } of statements) {
    expect(start).toBeLessThan(end);
    expect(end).toBeLessThanOrEqual(text.length);
  }
}

const piece = fc.constantFrom(
  ..."let param when dialect true false a close rank 1 2.5 1e999 .5 \"x\" 'y' \" ' = == != < <= > >= + - * / % ^".split(
    " ",
  ),
  ..."&& || ! ? : , ( ) { } # // $ ; \n \r \r\n \t".split(" "),
  "\n",
  "\r\n",
  "\r",
  "a = ",
  "f(",
  "\ufeff",
  "\0",
  "\ud800",
  "\u{1f600}",
);

// On a failure fast-check prints the seed and the smallest text that fails.
describe("garbage never throws", () => {
  test("tokens in any order", () => {
    const soup = fc.array(piece, { maxLength: 60 }).chain((pieces) => {
      return fc.constantFrom(" ", "").map((separator) => pieces.join(separator));
    });
    fc.assert(fc.property(soup, expectOrderly), { seed: 201, numRuns: trials(1000, 3000) });
  });

  test("characters of any script", () => {
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), expectOrderly), {
      seed: 202,
      numRuns: trials(100, 400),
    });
  });

  test("bytes read as text", () => {
    const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => new TextDecoder("latin1").decode(array));
    fc.assert(fc.property(bytes, expectOrderly), { seed: 203, numRuns: trials(300, 1000) });
  });

  test("a good file with one character changed, added or removed", () => {
    const good =
      "let f(x, d) = ts_mean(x, d) # mean\nparam p = 'x'\nwhen p == \"x\" {\n  a = f(close, 5) > .5 ? 1 : -2^2\n}\n";
    const edit = fc.record({
      at: fc.nat(good.length),
      length: fc.constantFrom(0, 1),
      text: fc.oneof(fc.constant(""), fc.string({ unit: "binary", maxLength: 2 }), piece),
    });
    const edited = edit.map(({ at, length, text }) => good.slice(0, at) + text + good.slice(at + length));
    fc.assert(fc.property(edited, expectOrderly), { seed: 204, numRuns: trials(800, 3000) });
  });
});
