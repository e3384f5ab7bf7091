/** Control and invisible characters, except the joiners that some scripts need. */
const UNSEEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Replaces characters that are invisible, move the cursor of a terminal or change the direction of text by escapes of JSON, so
 * that a name in a table or message cannot be mistaken for another. JSON keeps its meaning.
 *
 * @example visible("a\x1b[2J") // "a\\u001b[2J"
 */
export function visible(text: string): string {
  return text.replace(UNSEEN, escaped);
}

/** As `visible`, for texts of several lines and with tabs. */
export function visibleLines(text: string): string {
  return text.replace(UNSEEN, (character) => (/[\n\t]/.test(character) ? character : escaped(character)));
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
