import { DIALECTS, type Dialect, findDialect, statedDialect } from "../grammar/dialects.ts";
import { parseFormulas } from "../grammar/parse.ts";
import type { StatementSyntax } from "../grammar/syntax.ts";
import { builtInRegistry } from "../operators/index.ts";
import { bind } from "./ast/bind.ts";
import { DEFAULT_GROUPS } from "./ast/names.ts";
import type { ParamValue } from "./ast/param_value.ts";
import type { BoundProgram } from "./ast/program.ts";
import { Report } from "./ast/report.ts";
import { checkRewrites } from "./ast/rewrite_check.ts";
import type { Dag } from "./dag/dag.ts";
import { type ProgramOrigin, programFingerprints } from "./dag/fingerprints.ts";
import { graphData, type ProgramGraph } from "./dag/graph_data.ts";
import { checkLaws } from "./dag/laws.ts";
import { type CompileStage, PASS_NAMES, runPasses } from "./dag/passes/order.ts";
import { findSuspicions, type Suspicion } from "./dag/strict.ts";
import { type Diagnostic, FormulaError, type InternalError, UsageError } from "./errors.ts";
import { DIAGNOSTICS_MAX, SOURCE_BYTES_MAX } from "./limits.ts";
import { defineOperator, kernelOperators, type Operator } from "./operator/definition.ts";
import type { Registry } from "./operator/registry.ts";
import { checkTransfer } from "./operator/transfer.ts";
import { lookbackRows } from "./plan/lookback.ts";
import { PLAN_PASS_NAMES } from "./plan/passes.ts";
import { type ArgumentKind, checkArgument, hasAll, LIST, TEXT, TEXTS } from "./text/argument_kinds.ts";
import { checkedOptions, type OptionKinds } from "./text/option_kinds.ts";
import { renderDiagnostics, Source, type Span } from "./text/source.ts";
import { suggestion } from "./text/suggest.ts";

/** Fields that formulas may use unless the caller names the panel's. */
export const DEFAULT_FIELDS = ["open", "high", "low", "close", "volume", "vwap", "amount", "cap"] as const;

/** Names of all passes, those on the graph and those that form its plan, in the order in which they run. */
export const COMPILER_PASS_NAMES: readonly string[] = [...PASS_NAMES, ...PLAN_PASS_NAMES];

export interface CompileOptions {
  /** Dialect of the text; overrides the file's own `dialect` line. Default `native`. */
  readonly dialect?: string;
  /** Name of the source in diagnostics. */
  readonly file?: string;
  /** Numeric columns of the panel. */
  readonly fields?: readonly string[];
  /** Group columns of the panel. */
  readonly groups?: readonly string[];
  /** By name, why a group column that holds numbers is one, for messages: `groupReasons` of a panel or a source. */
  readonly groupReasons?: ReadonlyMap<string, string>;
  /**
   * Definition or field that is not 0 for the lanes that operators across the row include; the others are null for
   * them.
   */
  readonly universe?: string;
  /** Operators beyond the built-in ones, made with `defineOperator`. */
  readonly operators?: readonly Operator[];
  /** Names of compiler passes to leave out; never changes a bit of the result. */
  readonly disabledPasses?: readonly string[];
}

export const COMPILE_OPTIONS: OptionKinds<CompileOptions> = {
  dialect: TEXT,
  file: TEXT,
  fields: TEXTS,
  groups: TEXTS,
  groupReasons: {
    what: "a Map of texts",
    fits: (given) => given instanceof Map,
    remedy: "panel.groupReasons is one, where a panel has reasons",
  },
  universe: TEXT,
  operators: LIST,
  disabledPasses: TEXTS,
};

/** A factor as the caller sees it. */
export interface FactorInfo {
  readonly name: string;
  /** Rows of history before the current one that a value depends on. */
  readonly lookbackRows: number;
  /** True if params decide whether a call computes it. */
  readonly isConditional: boolean;
  /** Priority in the file, default 0. Where a session's budget is short, larger ones are computed first. */
  readonly priority: number;
}

/** A compiled formula file: immutable, for any panel that has its columns. */
export interface Program {
  readonly file: string;
  readonly dialect: string;
  readonly factors: readonly FactorInfo[];
  /** Call parameters and their defaults; null where each call must give a value. */
  readonly params: ReadonlyMap<string, ParamValue | null>;
  /** Operators that were passed to `compile`. */
  readonly operators: readonly Operator[];
  /** Names of the passes that were left out, including those that form plans. */
  readonly disabledPasses: ReadonlySet<string>;
  /** What is evaluated, as plain data: tasks with their inputs, and the factors. `JSON.stringify` shows all of it. */
  graph(): ProgramGraph;
  /** Names what the program computes, in this release or another one. Made at the first call. */
  origin(): ProgramOrigin;
  /** The graph after each stage of compilation; the last one is evaluated. @internal */
  readonly stages: readonly CompileStage[];
  /** The text and the tree that was bound from it, for what speaks of formulas as they are written. @internal */
  readonly written: WrittenProgram;
}

/** What evaluations read of a program. */
export type EvaluableProgram = Omit<Program, "written" | "graph">;

/** A program as its author wrote it: spans of the tree are places in the source. */
export interface WrittenProgram {
  readonly source: Source;
  readonly bound: BoundProgram;
}

/** Checks programs that callers pass. */
export const PROGRAM: ArgumentKind = {
  what: "a program",
  fits: (given) => hasAll(given, ["factors", "params", "operators", "stages"]),
  remedy: "a program is what compile(text) gives",
};

const FORMULA_TEXT: ArgumentKind = {
  what: "a text of formulas",
  fits: (given) => typeof given === "string",
  remedy: 'give the text itself, e.g. of readFileSync(file, "utf8")',
};

/**
 * Compiles formula text into a program.
 *
 * @throws FormulaError with `.diagnostics`: every mistake of the text, each with code, line, column and remedy.
 * @throws UsageError for an unknown dialect, pass or option; E528 if `text` is not a string.
 * @example
 * const program = compile("spread = (high - low) / close\nslow = ts_mean(spread, 20)");
 * program.factors.map((factor) => factor.lookbackRows); // [0, 19]
 */
export function compile(text: string, options: CompileOptions = {}): Program {
  checkArgument("compile", text, FORMULA_TEXT);
  const checked = checkedOptions("compile", options, COMPILE_OPTIONS);
  // A byte-order mark does not count in columns.
  const source = new Source(checked.file ?? "formulas", text.replace(/^\ufeff/, ""));
  refuseUnreadable(source);
  const operators = [...new Set(checked.operators ?? [])].map((operator) => defineOperator(operator));
  const disabledPasses = checkPassNames(checked.disabledPasses ?? []);
  const wanted = checked.dialect === undefined ? statedDialect(source.text) : findDialect(checked.dialect);
  const { statements, diagnostics } = parseFormulas(source, wanted ?? DIALECTS.native);
  const report = new Report(source);
  const dialect = chooseDialect(checked.dialect, statements, report);
  // With a wrong dialect, or with statements left unread, correct code would look suspicious.
  if (!dialect || diagnostics.length >= DIAGNOSTICS_MAX) {
    throw formulaError([...diagnostics, ...report.diagnostics]);
  }
  const registry = registryWith(operators);
  const bound = bind(
    statements,
    {
      dialect,
      registry,
      fields: withFieldsOf(dialect, checked.fields ?? DEFAULT_FIELDS),
      groups: checked.groups ?? DEFAULT_GROUPS,
      groupReasons: checked.groupReasons,
      universe: checked.universe ?? null,
    },
    report,
  );
  diagnostics.push(...report.diagnostics);
  if (bound.factors.length === 0 && diagnostics.length === 0) {
    diagnostics.push(
      source.diagnostic("E106", { start: 0, end: 1 }, "no factor in this file", "write name = expression"),
    );
  }
  if (diagnostics.length > 0) throw formulaError(diagnostics);
  const { stages, universe } = runPasses(bound, disabledPasses, registry);
  const { dag } = stages.at(-1) as CompileStage;
  const factors = factorInfos(dag);
  let origin: ProgramOrigin | null = null;
  return {
    file: source.file,
    dialect: dialect.name,
    factors,
    params: new Map(bound.params.map(({ name, default: value }) => [name, value])),
    operators,
    disabledPasses,
    graph: () =>
      graphData(
        dag,
        factors.map(({ lookbackRows: rows }) => rows),
      ),
    origin: () => {
      origin ??= {
        fingerprints: programFingerprints(stages[0]!.dag, universe),
        files: [{ file: source.file, dialect: dialect.name, text: source.text }],
      };
      return origin;
    },
    stages,
    written: { source, bound },
  };
}

/** Compiles a text and finds code that is valid but rarely intended. @throws as `compile`. */
export function compileStrictly(
  text: string,
  options: CompileOptions = {},
): { readonly program: Program; readonly suspicions: readonly Suspicion[] } {
  const program = compile(text, options);
  const { bound, source } = program.written;
  return { program, suspicions: findSuspicions(bound, source, withOperators(program.operators)) };
}

/** @throws UsageError for an operator whose name, functions, facts, formula or laws are unusable. */
function registryWith(operators: readonly Operator[]): Registry {
  kernelOperators(operators).forEach(checkTransfer);
  const registry = withOperators(operators);
  checkRewrites(operators, registry);
  checkLaws(operators, registry);
  return registry;
}

/** The built-in operators and others. @throws UsageError E549 for a name that is taken. */
export function withOperators(operators: readonly Operator[]): Registry {
  try {
    return builtInRegistry.with(operators);
  } catch (error) {
    throw new UsageError(
      "E549",
      (error as InternalError).problem,
      "give the operator, alias or symbol another name",
    );
  }
}

/** The graph as written: before any pass except sharing. */
export function writtenDag(program: Program): Dag {
  return (program.stages[0] as CompileStage).dag;
}

/** The graph that is evaluated. */
export function finalDag(program: EvaluableProgram): Dag {
  return (program.stages.at(-1) as CompileStage).dag;
}

function factorInfos(dag: Dag): FactorInfo[] {
  const rows = lookbackRows(dag);
  return dag.outputs.map(({ name, task, condition, priority }) => {
    return { name, lookbackRows: rows[task] as number, isConditional: condition !== null, priority };
  });
}

function refuseUnreadable(source: Source): void {
  const start: Span = { start: 0, end: 1 };
  const size = Buffer.byteLength(source.text);
  if (size > SOURCE_BYTES_MAX) {
    const message = `the source has ${size} bytes, the limit is ${SOURCE_BYTES_MAX}`;
    throw formulaError([source.diagnostic("E104", start, message, "split it into several files")]);
  }
  const at = source.text.search(/[\0\ufffd]/);
  if (at >= 0) {
    const message = "this is not a formula text: it contains bytes that are not UTF-8 text";
    throw formulaError([
      source.diagnostic("E107", { start: at, end: at + 1 }, message, "save it as plain text in UTF-8"),
    ]);
  }
}

function formulaError(diagnostics: readonly Diagnostic[]): FormulaError {
  const sorted = [...diagnostics]
    .sort((a, b) => a.line - b.line || a.column - b.column)
    .slice(0, DIAGNOSTICS_MAX);
  return new FormulaError(sorted, renderDiagnostics(sorted));
}

/** The panel's fields and the dialect's own. */
function withFieldsOf({ fields }: Dialect, panelFields: readonly string[]): string[] {
  const known = new Set(panelFields.map((name) => name.toLowerCase()));
  return [...panelFields, ...fields.filter((name) => !known.has(name.toLowerCase()))];
}

const DIALECT_NAMES = Object.keys(DIALECTS);

function remedyAmong(what: string, known: readonly string[], name: string): string {
  return suggestion(name, known, `${what}: ${known.join(", ")}`);
}

function chooseDialect(
  wanted: string | undefined,
  statements: readonly StatementSyntax[],
  report: Report,
): Dialect | undefined {
  const stated = statements.filter((statement) => statement.kind === "dialect");
  for (const { name, nameSpan } of stated) {
    if (findDialect(name)) continue;
    report.add("E108", nameSpan, `unknown dialect ${name}`, remedyAmong("dialects", DIALECT_NAMES, name));
  }
  if (stated[1]) report.add("E108", stated[1], "the dialect is stated twice", "remove this line");
  const dialect = wanted === undefined ? undefined : findDialect(wanted);
  if (wanted !== undefined && !dialect) {
    throw new UsageError("E506", `unknown dialect ${wanted}`, remedyAmong("dialects", DIALECT_NAMES, wanted));
  }
  if (dialect) return dialect;
  if (statements.some((statement) => statement.kind === "broken" && statement.keyword === "dialect")) {
    return undefined;
  }
  return stated[0] ? findDialect(stated[0].name) : DIALECTS.native;
}

function checkPassNames(names: readonly string[]): ReadonlySet<string> {
  for (const name of names) {
    if (COMPILER_PASS_NAMES.includes(name)) continue;
    throw new UsageError("E506", `unknown pass ${name}`, remedyAmong("passes", COMPILER_PASS_NAMES, name));
  }
  return new Set(names);
}
