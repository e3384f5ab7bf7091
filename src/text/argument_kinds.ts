import { UsageError } from "../errors.ts";

/** What an argument has to be, for JavaScript, where no compiler looks at it. */
export interface ArgumentKind {
  /** With its article, e.g. `a panel`. */
  readonly what: string;
  readonly fits: (given: unknown) => boolean;
  /** Where such a thing comes from. */
  readonly remedy: string;
}

export const PATH: ArgumentKind = {
  what: "a path",
  fits: (given) => typeof given === "string",
  remedy: "give the path as a text",
};

/** An array, or what can be read like one, such as a vector of Arrow. */
export const LIST: ArgumentKind = {
  what: "a list",
  fits: (given) => hasAll(given, [Symbol.iterator, "length"]),
  remedy: "give an array: [...]",
};

/**
 * Refuses an argument of another kind, which would fail somewhere inside, in words of ours. Most often it is a promise.
 *
 * @param taker what takes the argument, for the message, e.g. `evaluate`
 * @throws UsageError E528.
 * @example checkArgument("evaluate", readPanel("bars.csv"), PANEL) // E528 evaluate takes a panel, got a promise ...
 */
export function checkArgument(taker: string, given: unknown, { what, fits, remedy }: ArgumentKind): void {
  if (fits(given)) return;
  const toDo = isPromise(given) ? `await it: ${remedy}` : remedy;
  throw new UsageError("E528", `${taker} takes ${what}, got ${kindOf(given)}`, toDo);
}

/** True for an object that has all of these properties. */
export function hasAll(given: unknown, names: readonly (string | symbol)[]): boolean {
  return typeof given === "object" && given !== null && names.every((name) => name in given);
}

function isPromise(given: unknown): boolean {
  return hasAll(given, ["then"]);
}

/** True for an object of named things: neither an array nor a promise of one. */
export function isRecord(given: unknown): boolean {
  return hasAll(given, []) && !Array.isArray(given) && !isPromise(given);
}

/** What a value is, in words: the class of an object where it says more than that it is one. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (isPromise(value)) return "a promise";
  const name: unknown = typeof value === "object" ? value.constructor?.name : typeof value;
  if (typeof name !== "string" || name === "") return "an object";
  const shown = name === "Object" || name === "Array" ? name.toLowerCase() : name;
  return `${/^[aeio]/i.test(shown) ? "an" : "a"} ${shown}`;
}
