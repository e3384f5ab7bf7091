import { Seeded } from "./seeded.ts";

/** The share of the full counts that a long run tries: 1 in `npm run test:long`, a fifth in CI; 0 in `npm test`. */
export const share = Number(process.env["LONG"] ?? 0);

/** Whether full counts are tried, so that what a few cases may leave out by chance must be there. */
export const triesAll = share >= 1;

/**
 * What a generated test tries: few cases in `npm test`, as many as a promise asks for in `npm run test:long`. Counts of
 * cases shrink with the share of a long run, but never below the usual one; what is no count is whole in every long run.
 */
export function trials<T>(usual: T, long: T): T {
  if (share === 0) return usual;
  if (typeof usual !== "number" || typeof long !== "number") return long;
  return Math.max(usual, Math.ceil(long * share)) as T;
}

/** The cases of a table: the usual ones in `npm test`, all in full counts; the usual and drawn ones in a share of them. */
export function cases<T>(usual: readonly T[], all: readonly T[]): readonly T[] {
  if (share === 0) return usual;
  if (triesAll) return all;
  const random = new Seeded();
  const kept = new Set(usual);
  for (const wanted = share * all.length; kept.size < wanted; ) kept.add(all[random.below(all.length)]!);
  return all.filter((one) => kept.has(one));
}
