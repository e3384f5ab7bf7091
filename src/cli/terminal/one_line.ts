import { startOf, textWidth } from "../../text/text_width.ts";

/** A formula in one line, its end cut where it is wider than `widthMax`. */
export function oneLine(formula: string, widthMax: number): string {
  return cutEnd(formula.replaceAll(/\s+/g, " "), widthMax);
}

export function cutEnd(text: string, widthMax: number): string {
  return textWidth(text) > widthMax ? `${startOf(text, widthMax - 3)}...` : text;
}
