import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { InternalError, UsageError } from "../errors.ts";
import type { KernelOperator, Operator } from "./definition.ts";

/** An operator as executor threads can receive it: functions travel as source text, or as the module to import. */
export interface PackedOperator {
  readonly facts: Readonly<Record<string, unknown>>;
  readonly functions: Readonly<Record<string, string>>;
  readonly module: string | null;
}

/** Packs an operator for another thread. */
export function packOperator(operator: KernelOperator): PackedOperator {
  const entries = Object.entries(operator);
  const isFunction = ([, value]: [string, unknown]) => typeof value === "function";
  return {
    facts: Object.fromEntries(entries.filter((entry) => !isFunction(entry))),
    functions: Object.fromEntries(entries.filter(isFunction).map(([name, code]) => [name, String(code)])),
    module: operator.module ?? null,
  };
}

/** The operator that was packed. */
export function unpackOperator({ facts, functions, module }: PackedOperator): KernelOperator {
  if (module !== null) return importOperator(module, String(facts["name"]));
  const code = Object.entries(functions).map(([name, text]) => [name, functionOf(name, text)]);
  return { ...facts, ...Object.fromEntries(code) } as KernelOperator;
}

/** Executors run a loop that never yields, so the import must be synchronous. */
function importOperator(module: string, name: string): KernelOperator {
  const exported: Record<string, unknown> = createRequire(import.meta.url)(fileURLToPath(module));
  const operator = Object.values(exported).find((value) => (value as Operator | null)?.name === name);
  if (!operator) throw new InternalError(`${module} exports no operator ${name}`);
  return operator as KernelOperator;
}

/** A function of the caller's own program from its source: never of formula text. */
function functionOf(name: string, text: string): unknown {
  const isMethod = new RegExp(`^${name}\\s*\\(`).test(text);
  return new Function(`"use strict"; return ${isMethod ? `({ ${text} }).${name}` : `(${text})`};`)();
}

/**
 * Checks that the functions of an operator work by themselves.
 *
 * @throws UsageError if one uses something from outside and the operator names no module.
 */
export function checkTransfer(operator: KernelOperator): void {
  const { reference } = unpackOperator(packOperator(operator));
  try {
    tryOut(operator, reference);
  } catch (error) {
    if (!(error instanceof ReferenceError)) return;
    const remedy = "add module: import.meta.url to its definition and export it from that module";
    throw new UsageError(
      "E510",
      `operator ${operator.name} uses something outside its functions: ${error.message}`,
      remedy,
    );
  }
}

/** Runs a reference once on ones: whether the result makes sense does not matter. */
function tryOut(operator: KernelOperator, reference: KernelOperator["reference"]): void {
  const settings = Object.fromEntries(
    operator.parameters.map(({ name, default: value = 1 }) => [name, value]),
  );
  const series = operator.parameters.filter(({ kind }) => kind === "series" || kind === "condition");
  if (operator.axis === "elementwise") {
    (reference as typeof operator.reference)(...series.map(() => 1));
    return;
  }
  const vectors = series.map(() => Float64Array.of(1, 1));
  const third =
    operator.axis === "rolling" ? { positions: Float64Array.of(0, 1), last: 1 } : new Float64Array(2);
  (reference as (columns: Float64Array[], settings: object, third: object) => unknown)(
    vectors,
    settings,
    third,
  );
}
