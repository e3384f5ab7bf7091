import { UsageError } from "../errors.ts";

/** A kind of argument, to be checked at run time for callers in JavaScript. */
export interface ArgumentKind {
  /** With its article, e.g. `a panel`. */
  readonly what: string;
  readonly fits: (given: unknown) => boolean;
  /** How to get a right argument. */
  readonly remedy: string;
  /** For options: the error of what does not fit. Default: E528. */
  readonly refuse?: (name: string, given: unknown) => Error;
  /** For options: null is a value. It is by default where `refuse` is given; else it is like nothing. */
  readonly takesNull?: true;
  /** For options: what is not given is wrong as well. */
  readonly isRequired?: true;
}

export const PATH: ArgumentKind = {
  what: "a path",
  // An empty path would be the working directory.
  fits: (given) => typeof given === "string" && given !== "" && !given.includes("\0"),
  remedy: "give the path as a text",
};

export const TEXT: ArgumentKind = {
  what: "a text",
  fits: (given) => typeof given === "string",
  remedy: 'write it in quotes: "..."',
};

export const FLAG: ArgumentKind = {
  what: "true or false",
  fits: (given) => typeof given === "boolean",
  remedy: "give one of them",
};

export const FUNCTION: ArgumentKind = {
  what: "a function",
  fits: (given) => typeof given === "function",
  remedy: "write (...) => ...",
};

export const SIGNAL: ArgumentKind = {
  what: "an AbortSignal",
  fits: (given) => hasAll(given, ["aborted", "reason", "throwIfAborted", "addEventListener"]),
  remedy: "give the signal of an AbortController",
};

/** For options: whole numbers within these bounds, both inclusive. */
export function wholeNumber(
  min: number,
  max: number,
  refuse: NonNullable<ArgumentKind["refuse"]>,
): NumberKind {
  return {
    what: `a whole number from ${min} to ${max}`,
    fits: (given) => Number.isInteger(given) && (given as number) >= min && (given as number) <= max,
    remedy: `give a whole number from ${min} to ${max}`,
    refuse,
    min,
    max,
  };
}

export interface NumberKind extends ArgumentKind {
  readonly min: number;
  readonly max: number;
}

/** For options: one of these texts. */
export function oneOf<Choice extends string>(
  choices: readonly Choice[],
  refuse: NonNullable<ArgumentKind["refuse"]>,
): ChoiceKind<Choice> {
  const what = `one of ${choices.join(", ")}`;
  return {
    what,
    fits: (given) => choices.some((choice) => choice === given),
    remedy: `give ${what}`,
    refuse,
    choices,
  };
}

export interface ChoiceKind<Choice extends string = string> extends ArgumentKind {
  readonly choices: readonly Choice[];
}

/** What data decide, such as whether a text is a time of theirs: it is checked once they are known. */
export const decidedByData = (what: string, remedy: string): ArgumentKind => ({
  what,
  fits: () => true,
  remedy,
  takesNull: true,
});

/** Values by name. */
export const RECORD: ArgumentKind = {
  what: "an object",
  fits: isRecord,
  remedy: "write { name: value }",
};

/** An array, or an iterable with a length, such as a vector of Arrow. */
export const LIST: ArgumentKind = {
  what: "a list",
  fits: (given) => hasAll(given, [Symbol.iterator, "length"]),
  remedy: "give an array: [...]",
};

export const TEXTS: ArgumentKind = {
  what: "a list of texts",
  fits: (given) => LIST.fits(given) && [...(given as Iterable<unknown>)].every(TEXT.fits),
  remedy: 'give an array: ["..."]',
};

/**
 * Throws if an argument, most often a promise, is not of the kind: else it would fail later with an obscure message.
 *
 * @param callee the function, for the message, e.g. `evaluate`
 * @throws UsageError E528.
 */
export function checkArgument(callee: string, given: unknown, { what, fits, remedy }: ArgumentKind): void {
  if (fits(given)) return;
  const toDo = isPromise(given) ? `await it: ${remedy}` : remedy;
  throw wrongArgument(callee, what, kindOf(given), toDo);
}

/** The error for an argument of another kind. */
export function wrongArgument(callee: string, what: string, given: string, remedy: string): UsageError {
  return new UsageError("E528", `${callee} takes ${what}, got ${given}`, remedy);
}

/** True for an object with all of these properties. */
export function hasAll(given: unknown, names: readonly (string | symbol)[]): boolean {
  return typeof given === "object" && given !== null && names.every((name) => name in given);
}

function isPromise(given: unknown): boolean {
  return hasAll(given, ["then"]);
}

/** True for an object that is no promise, no date, and no array, map or other collection: its names would be none of the values. */
export function isRecord(given: unknown): boolean {
  return (
    hasAll(given, []) && !hasAll(given, [Symbol.iterator]) && !isPromise(given) && !(given instanceof Date)
  );
}

/** A value for a message, whatever it is: a text in quotes, an object by its class. */
export function shownValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  return typeof value === "object" || typeof value === "function" ? kindOf(value) : String(value);
}

/** Describes a value by its type, with an article; an object by its class. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (value === "") return "an empty text";
  if (isPromise(value)) return "a promise";
  if (value instanceof Date && Number.isNaN(value.getTime())) return "an invalid Date";
  const name: unknown = typeof value === "object" ? value.constructor?.name : typeof value;
  if (typeof name !== "string" || name === "") return "an object";
  const shown = name === "Object" || name === "Array" ? name.toLowerCase() : name;
  return `${/^[aeio]/i.test(shown) ? "an" : "a"} ${shown}`;
}
