import { UsageError } from "../errors.ts";
import { type ArgumentKind, checkArgument, isRecord } from "./argument_kinds.ts";
import { suggestion } from "./suggest.ts";

/**
 * The kind of each option of a type, null for one that the callee checks itself: one that is missing or unknown does not
 * compile.
 */
export type OptionKinds<Options> = Readonly<Record<keyof Options, ArgumentKind | null>>;

/**
 * The options that are given. Where a kind is checked here, null is like not given.
 *
 * Throws for unknown options, which JavaScript would silently ignore, and for values of another kind.
 *
 * @param callee the function, for the message, e.g. `evaluate`
 * @param noun what its options are called
 * @param removed what to use instead of options that earlier versions had
 * @throws UsageError E527 for the first unknown name, E528 if the options are not an object, or one is of a wrong kind.
 */
export function checkedOptions<Options extends object>(
  callee: string,
  given: Options,
  kinds: OptionKinds<Options>,
  noun = "option",
  removed?: ReadonlyMap<string, string>,
): Options {
  const names = () => `${noun}s of ${callee}: ${Object.keys(kinds).join(", ")}`;
  checkArgument(callee, given, { what: "an object of options", fits: isRecord, remedy: names() });
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(kinds, name));
  if (unknown !== undefined) {
    const remedy = removed?.get(unknown) ?? suggestion(unknown, Object.keys(kinds), names());
    throw notAnOption(`unknown ${noun} ${unknown} of ${callee}`, remedy);
  }
  const checked: Partial<Options> = {};
  for (const name of Object.keys(kinds) as (keyof Options & string)[]) {
    const [value, kind] = [given[name], kinds[name]];
    if (value === undefined || (kind && value === null)) continue;
    if (kind) checkArgument(`the option ${name}`, value, kind);
    checked[name] = value;
  }
  return checked as Options;
}

/** For an option that does not exist, or no longer does. */
export function notAnOption(problem: string, remedy: string): UsageError {
  return new UsageError("E527", problem, remedy);
}
