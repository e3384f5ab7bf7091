/** What JavaScript lets through: a value of each kind, and what messages call it. */
export const WRONG_VALUES: readonly (readonly [value: unknown, called: string])[] = [
  [null, "null"],
  [Number.NaN, "a number"],
  [-1, "a number"],
  [0, "a number"],
  [1.5, "a number"],
  ["", "an empty text"],
  ["x", "a string"],
  ["a\0b", "a string"],
  [true, "a boolean"],
  [3n, "a bigint"],
  [Symbol("s"), "a symbol"],
  [() => {}, "a function"],
  [[], "an array"],
  [[null], "an array"],
  [[Symbol("s")], "an array"],
  [{}, "an object"],
  [{ zzz: Symbol("s") }, "an object"],
  [Object.create(null), "an object"],
  [new Map(), "a Map"],
  [Promise.resolve(), "a promise"],
  [new Date(0), "a Date"],
  [new Date(Number.NaN), "an invalid Date"],
  [Buffer.of(1), "a Buffer"],
  [new URL("file:///bars.csv"), "a URL"],
];

/** What a call says, however it fails; null where it does not. */
export async function errorOf(call: () => unknown): Promise<Error | null> {
  return await Promise.try(call).then(
    () => null,
    (error: Error) => error,
  );
}
