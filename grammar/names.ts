/** Words that are no names, but in backquotes. */
const RESERVED = ["let", "param", "when", "dialect", "true", "false", "null"] as const;

export type Reserved = (typeof RESERVED)[number];

/** Letters and digits of every script (Unicode Standard Annex 31), but for the dots that stand for a product. */
export const WORD = "(?:_|\\p{ID_Start})(?:(?!\\u00b7|\\u0387)\\p{ID_Continue})*";
export const DOTTED = `${WORD}(?:\\.${WORD})?`;
/** Any name, with two backquotes for one. */
export const QUOTED = "`(?:[^`\\r\\n]|``)+`";

const PLAIN = new RegExp(`^${DOTTED}$`, "u");

/** The name that is spelled so. Letters with accents become one character each (NFC), however they were typed. */
export function nameOf(spelled: string): string {
  const name = spelled.startsWith("`") ? spelled.slice(1, -1).replaceAll("``", "`") : spelled;
  return name.normalize("NFC");
}

/** A name as a formula has it: in backquotes where it is no word. A line break in it has no spelling. */
export function spelledName(name: string): string {
  const isPlain = PLAIN.test(name) && !RESERVED.some((word) => word === name);
  return isPlain ? name : `\`${name.replaceAll("`", "``")}\``;
}
