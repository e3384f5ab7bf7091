import { UsageError } from "../errors.ts";
import { type ArgumentKind, checkArgument, isRecord } from "./argument_kinds.ts";
import { suggestion } from "./suggest.ts";

/** The kind of each option of a type: one that is missing or unknown does not compile. */
export type OptionKinds<Options> = Readonly<Record<keyof Options, ArgumentKind>>;

/** Why a callee does not take an option that others take. */
export interface Refusal {
  /** Default: that it knows no such option. */
  readonly problem?: string;
  readonly remedy: string;
}

/**
 * The options that are given, null taken like nothing.
 *
 * Throws for unknown options, which JavaScript would silently ignore, and for values of another kind.
 *
 * @param callee the function, for the message, e.g. `evaluate`
 * @param noun what its options are called
 * @param refused options that the callee does not take, or no longer
 * @throws UsageError E527 for the first unknown name, E528 if the options are not an object, or one is of a wrong kind;
 *   the error of a kind that has its own.
 */
export function checkedOptions<Options extends object>(
  callee: string,
  given: Options,
  kinds: OptionKinds<Options>,
  noun = "option",
  refused?: ReadonlyMap<string, Refusal>,
): Options {
  const names = () => `${noun}s of ${callee}: ${Object.keys(kinds).join(", ")}`;
  checkArgument(callee, given, { what: "an object of options", fits: isRecord, remedy: names() });
  const unknown = Object.keys(given).find(
    (name) => !Object.hasOwn(kinds, name) && !(refused?.has(name) && isNothing(given[name as keyof Options])),
  );
  if (unknown !== undefined) {
    const { problem = `unknown ${noun} ${unknown} of ${callee}`, remedy } = refused?.get(unknown) ?? {
      remedy: suggestion(unknown, Object.keys(kinds), names()),
    };
    throw notAnOption(problem, remedy);
  }
  const checked: Partial<Options> = {};
  for (const name of Object.keys(kinds) as (keyof Options & string)[]) {
    const [value, kind] = [given[name], kinds[name]];
    const isNull = value === null && !kind.refuse && !kind.takesNull;
    if (!kind.isRequired && (value === undefined || isNull)) continue;
    if (!kind.fits(value) && kind.refuse) throw kind.refuse(name, value);
    checkArgument(`the option ${name}`, value, kind);
    checked[name] = value;
  }
  return checked as Options;
}

const isNothing = (value: unknown) => value === undefined || value === null;

/** A kind for options that are objects of options. */
export function optionsOf<Options extends object>(callee: string, kinds: OptionKinds<Options>): ArgumentKind {
  return {
    what: "an object of options",
    fits: (given) => checkedOptions(callee, given as Options, kinds) !== null,
    remedy: `options of ${callee}: ${Object.keys(kinds).join(", ")}`,
    takesNull: true,
  };
}

/** For an option that does not exist, or no longer does. */
export function notAnOption(problem: string, remedy: string): UsageError {
  return new UsageError("E527", problem, remedy);
}
