/** A formula in one line, its end cut where it is longer than `charactersMax`. */
export function oneLine(formula: string, charactersMax: number): string {
  return cutEnd(formula.replaceAll(/\s+/g, " "), charactersMax);
}

export function cutEnd(text: string, charactersMax: number): string {
  return text.length > charactersMax ? `${text.slice(0, charactersMax - 3)}...` : text;
}
