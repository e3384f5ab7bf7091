import { settlesWithin } from "../execution/settles_within.ts";

/** How a row with a budget is run, in numbers of priority classes, the most urgent first. */
export interface BudgetSplit {
  /** Classes of the first run. */
  readonly first: number;
  /** Classes to run before the deadline; the others come late or are skipped. */
  readonly inTime: number;
}

/** A run that is predicted to take less than this share of the budget is not split. */
const SAFE_SHARE = 0.5;

/**
 * Chooses the most urgent classes that are predicted to fit into the budget together, at least one. Unless there is much
 * room, the most urgent class runs alone first, so that it meets the deadline even if the others take longer than predicted.
 *
 * @param predictMs predicted time of the first 1, 2, ... classes
 */
export function splitByBudget(predictMs: readonly number[], budgetMs: number): BudgetSplit {
  let inTime = 1;
  while (inTime < predictMs.length && predictMs[inTime]! <= budgetMs) inTime++;
  const isSafe = inTime === predictMs.length && predictMs.at(-1)! <= SAFE_SHARE * budgetMs;
  return { first: isSafe ? inTime : 1, inTime };
}

/** A clock that can wait. */
export interface LiveClock {
  /** In ms. */
  now(): number;
  /** Resolves to true if the promise settles within `ms`, else to false after that time. */
  settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean>;
}

export const SYSTEM_CLOCK: LiveClock = {
  now: () => performance.now(),
  settlesWithin,
};
