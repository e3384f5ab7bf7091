import fc from "fast-check";
import { expect, test } from "vitest";
import { visible, visibleLines } from "../../src/text/visible.ts";
import { hostileText, UNSEEN } from "./hostile_text.ts";

test("what a terminal obeys or does not show is written as an escape", () => {
  expect(visible("a\x1b[2J\x9b1m\u202eb\u2066\r\n\t\u{e0041}")).toBe(
    "a\\u001b[2J\\u009b1m\\u202eb\\u2066\\u000d\\u000a\\u0009\\udb40\\udc41",
  );
});

test("letters of every script stay as they are, and so do lines and tabs of a text of lines", () => {
  const text = "plain é 日本語 עברית नि\u200dपा 👩\u200d🔬 ~";
  expect(visible(text)).toBe(text);
  expect(visibleLines(`${text}\n\tb\r`)).toBe(`${text}\n\tb\\u000d`);
});

test("nothing unseen is left of any text, and JSON keeps its meaning", () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      expect(visible(text)).not.toMatch(UNSEEN);
      expect(visibleLines(text).replace(/[\n\t]/g, "")).not.toMatch(UNSEEN);
      expect(JSON.parse(visible(JSON.stringify({ [text]: text })))).toEqual({ [text]: text });
    }),
  );
});
