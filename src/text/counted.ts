/**
 * A number with its noun.
 *
 * @example counted(1, "factor") // "1 factor"
 * @example counted(1_204, "row") // "1,204 rows"
 */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
