/** Controls of terminals and of the direction of text, and what is not seen at all; but the joiners that scripts need. */
const UNSEEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * With an escape of JSON in place of each character that would move the cursor of a terminal, change how text runs, or is
 * not seen: a name in a table or a message cannot pass for anything else. A text of JSON keeps its meaning.
 *
 * @example visible("a\x1b[2J") // "a\\u001b[2J"
 */
export function visible(text: string): string {
  return text.replace(UNSEEN, escaped);
}

/** The same for texts of several lines, which may hold tabs. */
export function visibleLines(text: string): string {
  return text.replace(UNSEEN, (character) => (/[\n\t]/.test(character) ? character : escaped(character)));
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
