import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { errorsOf, UsageError } from "../errors.ts";
import { WINDOW_ROWS_MAX } from "../limits.ts";
import { hasAll } from "../text/argument_kinds.ts";
import type {
  KernelOperator,
  Parameter,
  RecursiveDefinition,
  RollingDefinition,
  Settings,
} from "./definition.ts";
import { moduleDigest, operatorDigest } from "./operator_digest.ts";
import type { AnyWindowState } from "./window_code.ts";

/** An operator as executor threads can receive it: functions travel as source text, or as the module to import. */
export interface PackedOperator {
  readonly facts: Readonly<Record<string, unknown>>;
  readonly functions: FunctionTexts;
  /** What executors call of its window states: the functions' source texts, by path. */
  readonly states?: readonly PackedState[];
  readonly module: string | null;
  /** `moduleDigest` of the module in this thread. */
  readonly digest: string | null;
}

interface PackedState {
  readonly kind: string;
  readonly functions: FunctionTexts;
}

type FunctionTexts = Readonly<Record<string, string>>;

const FUNCTIONS_REMEDY =
  "look into its functions: they must work for every value and may return NaN for none";
const IMPORT_REMEDY = "give module: import.meta.url of the module that exports the operator";

/** Code is emitted and nulls are explained where the plan is compiled; states are packed by themselves. */
const NOT_SENT: ReadonlySet<string> = new Set(["lower", "nullWhere", "states"]);

function textsOf(functions: object): FunctionTexts {
  return Object.fromEntries(Object.entries(functions).map(([name, code]) => [name, String(code)]));
}

/** The functions of these source texts; `part` is what of the operator they belong to. */
function functionsOf(operator: string, texts: FunctionTexts, part = "") {
  const entries = Object.entries(texts);
  return Object.fromEntries(
    entries.map(([name, text]) => [name, functionOf(operator, `${part}${name}`, text)]),
  );
}

/** Packs an operator for another thread. */
export function packOperator(operator: KernelOperator): PackedOperator {
  const states = operator.axis === "rolling" ? (operator.states ?? []) : [];
  const entries = Object.entries(operator).filter(([name]) => !NOT_SENT.has(name));
  const isFunction = ([, value]: [string, unknown]) => typeof value === "function";
  return {
    facts: Object.fromEntries(entries.filter((entry) => !isFunction(entry))),
    functions: textsOf(Object.fromEntries(entries.filter(isFunction))),
    states: states.map(({ kind, rebuild, bounds }) => ({ kind, functions: textsOf({ rebuild, ...bounds }) })),
    module: operator.module ?? null,
    digest: operator.module === undefined ? null : digestOf(operator.module, operator.name),
  };
}

function unpackState(operator: string, { kind, functions }: PackedState): AnyWindowState {
  const { rebuild, ...bounds } = functionsOf(operator, functions, `${kind}.`);
  return {
    kind,
    rebuild,
    ...(Object.keys(bounds).length === 0 ? {} : { bounds }),
  } as unknown as AnyWindowState;
}

function digestOf(module: string, name: string): string {
  try {
    return moduleDigest(module);
  } catch (error) {
    throw importFailed(module, name, error);
  }
}

/** An operator that only the caller's own thread can run. */
const notTransferable = errorsOf(UsageError, "E510");

/** `costNs`, `codeNs`, `windowRows` or `initialState` fails, or gives what the plan cannot work with. */
const factImpossible = errorsOf(UsageError, "E549");

/** A function of an operator has thrown, or given what it must not. */
export function operatorFailed(problem: string, cause: unknown, remedy = FUNCTIONS_REMEDY): UsageError {
  return new UsageError("E515", problem, remedy, { cause });
}

function importFailed(module: string, name: string, cause: unknown): UsageError {
  const problem = `operator ${name}: its module ${module} cannot be imported: ${messageOf(cause)}`;
  return notTransferable(problem, IMPORT_REMEDY, { cause });
}

/** The operator that was packed. @throws UsageError E510 if its module no longer has it, if its code has changed. */
export function unpackOperator({ facts, functions, states, module, digest }: PackedOperator): KernelOperator {
  const name = String(facts["name"]);
  if (module !== null) {
    // Before the import, so that the cached digest is that of the imported files.
    if (digestOf(module, name) !== digest) throw moduleChanged(module, name);
    return importOperator(module, name);
  }
  const known = (states ?? []).map((state) => unpackState(name, state));
  return { ...facts, ...functionsOf(name, functions), states: known } as unknown as KernelOperator;
}

function moduleChanged(module: string, name: string): UsageError {
  const problem = `operator ${name}: the process has imported ${module}, or what it imports, before it was changed`;
  return new UsageError("E510", problem, "start the process again, so that all of it runs the same code");
}

/** Executors run a loop that never yields, so the import must be synchronous. */
function importOperator(module: string, name: string): KernelOperator {
  let exported: Readonly<Record<string, unknown>>;
  try {
    exported = createRequire(import.meta.url)(fileURLToPath(module));
  } catch (error) {
    throw importFailed(module, name, error);
  }
  const operators = Object.values(exported).filter((value) => hasAll(value, ["axis", "name"]));
  const operator = (operators as KernelOperator[]).find((one) => one.name === name);
  if (!operator) throw notTransferable(`${module} exports no operator ${name}`, IMPORT_REMEDY);
  return operator;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A function of the caller's own program from its source text, which is never formula text. */
function functionOf(operator: string, name: string, text: string): unknown {
  // Functions and arrow functions are expressions; methods of any name are parts of an object.
  const made = compiled(`(${text})`) ?? compiled(`Object.values({ ${text} })[0]`);
  if (made) return made();
  const problem = `operator ${operator}: the source of its ${name} cannot be read by other threads`;
  throw notTransferable(problem, "give it as an arrow function, or add module: import.meta.url");
}

/** The function that gives the value of an expression; null if the text is not an expression. */
function compiled(expression: string): (() => unknown) | null {
  try {
    return new Function(`"use strict"; return ${expression};`) as () => unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/**
 * Checks that an operator works in other threads: its facts and functions can be sent, its functions need nothing from
 * outside, and its costs and windows are usable.
 *
 * @throws UsageError if one does not.
 */
export function checkTransfer(operator: KernelOperator): void {
  const packed = packOperator(operator);
  checkFacts(operator.name, packed);
  try {
    const unpacked = unpackOperator(packed);
    // Taken now: by the time that state is saved, the files may have changed.
    operatorDigest(operator);
    checkCosts(unpacked);
    if (unpacked.axis === "rolling") checkWindows(unpacked);
    if (unpacked.axis === "recursive") checkState(unpacked);
    tryOut(unpacked);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (!(error instanceof ReferenceError)) return;
    const remedy = "add module: import.meta.url to its definition and export it from that module";
    throw notTransferable(
      `operator ${operator.name} uses something outside its functions: ${error.message}`,
      remedy,
    );
  }
}

function checkFacts(name: string, { facts }: PackedOperator): void {
  try {
    structuredClone(facts);
  } catch (error) {
    const problem = `operator ${name} cannot be sent to other threads: ${messageOf(error)}`;
    const remedy = "beside its functions, give it plain data only";
    throw notTransferable(problem, remedy, { cause: error });
  }
}

const TRIED_WINDOW_ROWS = [1, 2, 20, WINDOW_ROWS_MAX];

function checkCosts({ name, costNs, codeNs = costNs }: KernelOperator): void {
  for (const [what, nsOf] of Object.entries({ costNs, codeNs })) {
    for (const rows of TRIED_WINDOW_ROWS) {
      const cost = resultOf(name, what, () => nsOf(rows));
      if (Number.isFinite(cost) && cost >= 0) continue;
      const problem = `operator ${name}: ${what} gives ${cost} for a window of ${rows} rows`;
      throw factImpossible(problem, "give an estimate in ns per cell: a finite number of 0 or more");
    }
  }
}

function checkWindows({ name, parameters, windowRows }: Readonly<RollingDefinition>): void {
  for (const settings of triedSettings(parameters)) {
    const rows = resultOf(name, "windowRows", () => windowRows(settings));
    if (Number.isInteger(rows) && rows >= 1 && rows <= WINDOW_ROWS_MAX + 1) continue;
    const problem = `operator ${name}: windowRows gives ${rows} for ${JSON.stringify(settings)}`;
    throw factImpossible(problem, `give a whole number of rows from 1 to ${WINDOW_ROWS_MAX + 1}`);
  }
}

function checkState({ name, parameters, initialState }: Readonly<RecursiveDefinition>): void {
  for (const settings of triedSettings(parameters)) {
    const state: unknown = resultOf(name, "initialState", () => initialState(settings));
    if (Array.isArray(state) && state.every((value) => typeof value === "number")) continue;
    const problem = `operator ${name}: initialState gives ${state} for ${JSON.stringify(settings)}`;
    throw factImpossible(problem, "give an array of numbers: what a lane carries before its first row");
  }
}

/** The defaults, and settings of 1, 2 and 20 rows: sums and differences of such windows are valid windows. */
function triedSettings(parameters: readonly Parameter[]): Settings[] {
  const ofRows = (rows: number, parameter: Parameter) => {
    if (parameter.kind === "constant") return parameter.default ?? 1;
    return parameter.kind === "delay" ? rows - 1 : rows;
  };
  const rounds = [
    parameters.map((parameter) => parameter.default ?? ofRows(2, parameter)),
    ...[1, 2, 20].map((rows) => parameters.map((parameter) => ofRows(rows, parameter))),
  ];
  const isSetting = ({ kind }: Parameter) => kind === "window" || kind === "delay" || kind === "constant";
  return rounds.map((values) => {
    const entries = parameters.map((parameter, i) => [parameter, values[i] as number] as const);
    const settings = entries.filter(([parameter]) => isSetting(parameter));
    return Object.fromEntries(settings.map(([parameter, value]) => [parameter.name, value]));
  });
}

function resultOf<T>(name: string, part: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof ReferenceError) throw error;
    const problem = `operator ${name}: ${part} fails: ${messageOf(error)}`;
    throw factImpossible(problem, "it must work for every number of rows", { cause: error });
  }
}

/** Runs a reference once on ones, to see whether it throws. The result does not matter. */
function tryOut(operator: KernelOperator): void {
  const settings = Object.fromEntries(
    operator.parameters.map(({ name, default: value = 1 }) => [name, value]),
  );
  const series = operator.parameters.filter(({ kind }) => kind === "series" || kind === "condition");
  const ones = series.map(() => 1);
  const vectors = series.map(() => Float64Array.of(1, 1));
  if (operator.axis === "elementwise") operator.reference(...ones);
  else if (operator.axis === "recursive") {
    operator.reference(ones, settings, Float64Array.from(operator.initialState(settings)));
  } else if (operator.axis === "rolling") {
    operator.reference(vectors, settings, { positions: Float64Array.of(0, 1), last: 1 });
  } else operator.reference(vectors, settings, new Float64Array(2));
}
