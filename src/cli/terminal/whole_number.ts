import { InvalidArgumentError } from "commander";

/** Parses a whole number of an option. @throws InvalidArgumentError for what is none, or beyond these bounds. */
export function parseCount(text: string, countMin: number, countMax: number): number {
  const count = /^-?\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= countMin && count <= countMax) return count;
  throw new InvalidArgumentError(`A whole number from ${countMin} to ${countMax}.`);
}
