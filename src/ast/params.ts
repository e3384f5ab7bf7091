import { errorsOf, UsageError } from "../errors.ts";
import { kindOf } from "../text/argument_kinds.ts";
import { suggestion } from "../text/suggest.ts";
import type { ParamValue } from "./param_value.ts";

/**
 * The params of one call: given values over defaults; a param with neither is absent.
 *
 * @throws UsageError for an unknown param, or a value of another type than the default's.
 */
export function resolveParams(
  declared: ReadonlyMap<string, ParamValue | null>,
  given: Readonly<Record<string, ParamValue>>,
): Map<string, ParamValue> {
  const values = new Map<string, ParamValue>();
  for (const [name, value] of declared) if (value !== null) values.set(name, value);
  for (const [name, value] of Object.entries(given)) {
    checkParam(declared, name, value);
    values.set(name, value);
  }
  return values;
}

/** @throws UsageError for an unknown param, or a value of another type than the default's, or of none that params have. */
export function checkParam(
  declared: ReadonlyMap<string, ParamValue | null>,
  name: string,
  value: ParamValue,
): void {
  const usual = declared.get(name);
  if (usual === undefined) throw unknownParam(name, declared);
  const wanted = usual === null ? Object.values(KINDS).join(", ") : KINDS[typeof usual];
  const kind = KINDS[typeof value];
  if (kind !== undefined && (usual === null || wanted === kind)) return;
  const got = kind === undefined ? kindOf(value) : `${kind}: ${textOf(value)}`;
  const remedy =
    usual === null ? "give it such a value" : `give it a value like its default ${textOf(usual)}`;
  throw paramTypeWrong(`param ${name} is ${wanted}, got ${got}`, remedy);
}

/** Callers in JavaScript may pass anything. */
const KINDS: Readonly<Record<string, string>> = {
  number: "a number",
  string: "a text",
  boolean: "true or false",
};

const textOf = (value: ParamValue): string =>
  typeof value === "string" ? JSON.stringify(value) : String(value);

/** A param's value has a type that its use does not accept. */
export const paramTypeWrong = errorsOf(UsageError, "E528");

/** A param without a default has no value, or two programs that are compared have none in common. */
export function paramWithoutValue(name: string, lacking = "value"): UsageError {
  return new UsageError("E555", `param ${name} has no ${lacking}`, `give it one: --param ${name}=...`);
}

function unknownParam(name: string, declared: ReadonlyMap<string, unknown>): UsageError {
  const known = [...declared.keys()].join(", ") || "none";
  const remedy = suggestion(name, declared.keys(), `params of this file: ${known}`);
  return new UsageError("E506", `unknown param ${name}`, remedy);
}

/**
 * The value of a numeric param in formulas; true and false count as 1 and 0.
 *
 * @throws UsageError if it has no value or is a text.
 */
export function numericParam(name: string, values: ReadonlyMap<string, ParamValue>): number {
  const value = values.get(name);
  if (value === undefined) throw paramWithoutValue(name);
  if (typeof value === "string") {
    const message = `param ${name} is used as a number, got the text ${JSON.stringify(value)}`;
    throw paramTypeWrong(message, "give it a number");
  }
  return Number(value);
}
