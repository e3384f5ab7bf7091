import { Seeded } from "./seeded.ts";

/** The share of the full counts that a long run tries: 1 in `npm run test:long`, a fifth in CI; 0 in `npm test`. */
export const share = Number(process.env["LONG"] ?? 0);

/** Whether full counts are tried, so that what a few cases may leave out by chance must be there. */
export const triesAll = share >= 1;

/** How many cases a generated test tries: the usual count in `npm test`, otherwise the share of the full count. */
export function trials(usual: number, full: number): number {
  return share === 0 ? usual : Math.ceil(share * full);
}

/** The cases of a table: the usual ones in `npm test`, all in full counts, and otherwise the share of them, drawn. */
export function cases<T>(usual: readonly T[], all: readonly T[]): readonly T[] {
  if (share === 0) return usual;
  const random = new Seeded();
  const left = all.map((_, index) => index);
  const kept = new Set<number>();
  while (kept.size < share * all.length) kept.add(left.splice(random.below(left.length), 1)[0]!);
  return all.filter((_, index) => kept.has(index));
}

/** The share of a list of files, evenly spaced from a drawn one on, so that each room has its part. */
export function spread<T>(all: readonly T[]): readonly T[] {
  const first = new Seeded().uniform();
  return all.filter(
    (_, index) => Math.floor(index * share + first) < Math.floor((index + 1) * share + first),
  );
}
