import { UsageError } from "../errors.ts";
import { type ArgumentKind, checkArgument, isRecord } from "./argument_kinds.ts";
import { nearestName } from "./suggest.ts";

/**
 * The names of all options of a type, with the kind of their values where it is to be checked: a name that is missing or
 * unknown does not compile.
 */
export type OptionNames<Options> = Readonly<Record<keyof Options, true | ArgumentKind>>;

/**
 * Throws for unknown options, which JavaScript would silently ignore, and for values of another kind than those that are
 * known; undefined and null stand for an option that is not given.
 *
 * @param callee the function, for the message, e.g. `evaluate`
 * @throws UsageError E527 for the first unknown name, E528 if the options are not an object, or for a wrong value.
 */
export function checkOptionNames<Options extends object>(
  callee: string,
  given: Options,
  known: OptionNames<Options>,
): void {
  const names = () => `options of ${callee}: ${Object.keys(known).join(", ")}`;
  checkArgument(callee, given, { what: "an object of options", fits: isRecord, remedy: names() });
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) {
    for (const [name, value] of Object.entries(given) as [keyof Options & string, unknown][]) {
      const kind = known[name];
      if (kind !== true && value != null) checkArgument(`the option ${name}`, value, kind);
    }
    return;
  }
  const nearest = nearestName(unknown, Object.keys(known));
  const message = `unknown option ${unknown} of ${callee}`;
  throw new UsageError("E527", message, nearest ? `did you mean ${nearest}?` : names());
}
