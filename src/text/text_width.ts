import { eastAsianWidth } from "get-east-asian-width";

/** Printable ASCII, which most texts are: a column for each. */
const PLAIN = /^[\x20-\x7e]*$/;
/** Marks on the letter before them take no column. */
const MARK = /^[\p{Mn}\p{Me}\u200c\u200d]$/u;

/**
 * The columns of a terminal that a text takes: two for each wide character, e.g. of Chinese names of stocks (Unicode Standard
 * Annex 11).
 *
 * @example textWidth("贵州茅台") // 8
 */
export function textWidth(text: string): number {
  return PLAIN.test(text) ? text.length : [...text].reduce((sum, character) => sum + widthOf(character), 0);
}

/** The text with spaces behind it, or before it, up to a width. */
export function padText(text: string, width: number, isRight: boolean): string {
  const spaces = " ".repeat(Math.max(0, width - textWidth(text)));
  return isRight ? spaces + text : text + spaces;
}

/** The longest start of a text that has at most a width. */
export function startOf(text: string, widthMax: number): string {
  if (PLAIN.test(text)) return text.slice(0, Math.max(0, widthMax));
  let width = 0;
  let length = 0;
  for (const character of text) {
    width += widthOf(character);
    if (width > widthMax) break;
    length += character.length;
  }
  return text.slice(0, length);
}

function widthOf(character: string): number {
  return MARK.test(character) ? 0 : eastAsianWidth(character.codePointAt(0)!);
}
