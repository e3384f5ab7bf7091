import { UsageError } from "../errors.ts";
import { nearestName } from "../text/suggest.ts";
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

/** @throws UsageError for an unknown param, or a value of another type than the default's. */
export function checkParam(
  declared: ReadonlyMap<string, ParamValue | null>,
  name: string,
  value: ParamValue,
): void {
  const usual = declared.get(name);
  if (usual === undefined) throw unknownParam(name, declared);
  if (usual === null || typeof usual === typeof value) return;
  const message = `param ${name} is ${kindOf(usual)}, got ${kindOf(value)}: ${JSON.stringify(value)}`;
  throw paramTypeWrong(message, `give it a value like its default ${JSON.stringify(usual)}`);
}

function kindOf(value: ParamValue): string {
  if (typeof value === "boolean") return "true or false";
  return typeof value === "number" ? "a number" : "a text";
}

/** A param's value has a type that its use does not accept. */
export function paramTypeWrong(message: string, remedy: string): UsageError {
  return new UsageError("E504", message, remedy);
}

/** A param without a default has no value, or two programs that are compared have none in common. */
export function paramWithoutValue(name: string, lacking = "value"): UsageError {
  return new UsageError("E555", `param ${name} has no ${lacking}`, `give it one: --param ${name}=...`);
}

function unknownParam(name: string, declared: ReadonlyMap<string, unknown>): UsageError {
  const nearest = nearestName(name, declared.keys());
  const known = [...declared.keys()].join(", ") || "none";
  const remedy = nearest ? `did you mean ${nearest}?` : `params of this file: ${known}`;
  return new UsageError("E503", `unknown param ${name}`, remedy);
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
