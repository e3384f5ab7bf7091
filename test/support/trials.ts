/** The share of the full counts that a long run tries: 1 in `npm run test:long`, a fifth in CI; 0 in `npm test`. */
const share = Number(process.env["LONG"] ?? 0);

/**
 * What a generated test tries: few cases in `npm test`, as many as a promise asks for in `npm run test:long`. Counts of
 * cases shrink with the share of a long run, but never below the usual one; what is no count is whole in every long run.
 */
export function trials<T>(usual: T, long: T): T {
  if (share === 0) return usual;
  if (typeof usual !== "number" || typeof long !== "number") return long;
  return Math.max(usual, Math.ceil(long * share)) as T;
}
