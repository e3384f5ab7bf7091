import { settlesWithin } from "../execution/settles_within.ts";

/** How the factors of a row are divided where a budget is given, by classes of priority, the most urgent first. */
export interface Division {
  /** So many classes are run at first. */
  readonly first: number;
  /** So many are run before the deadline if time allows; those beyond come after it, or not at all. */
  readonly inTime: number;
}

/** A run that is foretold to take less than this share of the budget is not divided. */
const SAFE_SHARE = 0.5;

/**
 * The most urgent class is always run, and those after it while all together are foretold to stay within the budget.
 * Unless there is much room the most urgent one is run by itself first: so it is there at the deadline even if the others
 * take longer than was foretold.
 *
 * @param predictMs for each number of classes, from 1 on, the time that they are foretold to take
 */
export function divide(predictMs: readonly number[], budgetMs: number): Division {
  let inTime = 1;
  while (inTime < predictMs.length && predictMs[inTime]! <= budgetMs) inTime++;
  const isSafe = inTime === predictMs.length && predictMs.at(-1)! <= SAFE_SHARE * budgetMs;
  return { first: isSafe ? inTime : 1, inTime };
}

/** The time, and waiting for it. */
export interface LiveClock {
  /** In ms. */
  now(): number;
  /** Resolves to true if the promise settles within so many ms, else to false once they are over. */
  settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean>;
}

export const SYSTEM_CLOCK: LiveClock = {
  now: () => performance.now(),
  settlesWithin,
};
