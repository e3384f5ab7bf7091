import fc from "fast-check";

/** What a terminal obeys, what turns the direction of text, what is not seen. */
export const UNSEEN = /[\p{Cc}\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/u;

const PIECES = [
  "\x1b[2J",
  "\x1b]0;title\x07",
  "\x9b31m",
  "\r",
  "\b\b\b",
  "\x7f",
  "\u202e",
  "\u2067",
  "\u200f",
];

/** Names that are made to do harm where they are printed. */
export const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...PIECES),
      fc.integer({ min: 1, max: 0xff }).map((code) => String.fromCharCode(code)),
      fc.constantFrom("\u2028", "\u200b", "\ufeff", "\u2066", "\u202d", "é", "日"),
      fc.string({ maxLength: 3 }),
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((pieces) => pieces.join(""));
