/**
 * The error classes name the culprit: the formula, the data, the arguments, the machine, or factorloom.
 * Each message starts with a stable code and says what to do about it.
 */

/** Process exit code for each culprit. */
export const EXIT_CODES = { done: 0, input: 1, resources: 2, internal: 3 } as const;

/** One problem in a formula source, with its position and what to do about it. */
export interface Diagnostic {
  /** Stable code, e.g. `E203`. */
  readonly code: string;
  /** What is wrong, in one sentence. */
  readonly message: string;
  /** What to do about it, printed after the caret. */
  readonly remedy: string;
  /** Name of the source as given to `compile`. */
  readonly file: string;
  /** 1-based line of the problem's first character. */
  readonly line: number;
  /** 1-based column of that character, in UTF-16 units. */
  readonly column: number;
  /** The line with the problem (shortened when long) and a caret line below it. */
  readonly snippet: string;
}

/** Base of all errors that factorloom throws on purpose. */
export abstract class FactorloomError extends Error {
  /** Stable code, e.g. `E301`. */
  readonly code: string;
  /** What is wrong, without code and remedy. */
  readonly problem: string;
  /** What to do about it. */
  readonly remedy: string;

  constructor(code: string, message: string, remedy: string, options?: ErrorOptions) {
    super(`${code} ${message}\n  ${remedy}`, options);
    this.problem = message;
    this.name = new.target.name;
    this.code = code;
    this.remedy = remedy;
  }
}

/** The formula text is wrong; `diagnostics` lists every problem found in one run, `problem` and `remedy` are the first. */
export class FormulaError extends FactorloomError {
  readonly diagnostics: readonly Diagnostic[];

  /** @param diagnostics at least one */
  constructor(diagnostics: readonly Diagnostic[], rendered: string) {
    const { code, message, remedy } = diagnostics[0]!;
    super(code, message, remedy);
    this.message = rendered;
    this.diagnostics = diagnostics;
  }
}

/** The data is wrong: missing columns, text among numbers, duplicate rows (codes E3xx, of clusters E6xx). */
export class DataError extends FactorloomError {}

/** The arguments of a command or of an API call are wrong (codes E5xx, of clusters E6xx). */
export class UsageError extends FactorloomError {}

/** Memory, threads, files or the environment do not suffice (codes E4xx, of clusters E6xx). */
export class ResourceError extends FactorloomError {}

/** A bug in factorloom: an invariant does not hold (codes E9xx). */
export class InternalError extends FactorloomError {
  constructor(message: string, options?: ErrorOptions) {
    super(
      "E900",
      message,
      "this is a bug in factorloom; please report it with the formula and the data",
      options,
    );
  }
}

/** Makes the errors of one code, which differ by their texts. */
export function errorsOf<E extends FactorloomError>(
  kind: new (code: string, problem: string, remedy: string, options?: ErrorOptions) => E,
  code: string,
): (problem: string, remedy: string, options?: ErrorOptions) => E {
  return (problem, remedy, options) => new kind(code, problem, remedy, options);
}
