import { InvalidArgumentError } from "commander";

/** The largest count of options without another bound. */
export const COUNT_MAX = 999_999_999;

/** A parser of whole numbers from 1 on. */
export function parseCountTo(countMax: number): (text: string) => number {
  return (text) => parseCount(text, 1, countMax);
}

/** Parses a whole number of an option. @throws InvalidArgumentError for what is none, or beyond these bounds. */
export function parseCount(text: string, countMin: number, countMax: number): number {
  const count = /^-?\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= countMin && count <= countMax) return count;
  throw new InvalidArgumentError(`A whole number from ${countMin} to ${countMax}.`);
}
