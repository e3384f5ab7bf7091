/** A formula in one line, its end cut where it is longer than `charactersMax`. */
export function oneLine(formula: string, charactersMax: number): string {
  const line = formula.replaceAll(/\s+/g, " ");
  return line.length > charactersMax ? `${line.slice(0, charactersMax - 3)}...` : line;
}
