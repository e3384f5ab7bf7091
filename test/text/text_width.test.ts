import fc from "fast-check";
import { expect, test } from "vitest";
import { padText, startOf, textWidth } from "../../src/text/text_width.ts";

test.each([
  ["", 0],
  ["SPY", 3],
  ["贵州茅台", 8],
  ["삼성전자", 8],
  ["ＡＢ", 4],
  ["ｱ", 1],
  ["Ünï", 3],
  ["e\u0301a\u20dd", 2],
  ["🚀 up", 5],
  ["█▁…", 3],
])("%s takes %i columns", (text, width) => expect(textWidth(text)).toBe(width));

test("padded texts are as wide as asked for, or as they are", () => {
  expect([padText("茅台", 6, false), padText("茅台", 6, true), padText("茅台", 3, true)]).toEqual([
    "茅台  ",
    "  茅台",
    "茅台",
  ]);
});

test("a start is the longest that fits", () => {
  expect([0, 1, 2, 3, 4, 9].map((width) => startOf("茅台A", width))).toEqual([
    "",
    "",
    "茅",
    "茅",
    "茅台",
    "茅台A",
  ]);
  const widths = fc.integer({ min: -1, max: 12 });
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), widths, (text, width) => {
      const start = startOf(text, width);
      expect(text.startsWith(start)).toBe(true);
      expect(textWidth(start)).toBeLessThanOrEqual(Math.max(0, width));
      const next = [...text.slice(start.length)][0];
      if (next !== undefined) expect(textWidth(start + next)).toBeGreaterThan(width);
    }),
  );
});
