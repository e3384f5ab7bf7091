/** The one opening of commands that read bars and formulas. */
import type { ParamValue } from "../../ast/param_value.ts";
import { type CompileOptions, compile, finalDag, type Program } from "../../compile.ts";
import type { PanelSource } from "../../data/panel/panel_source.ts";
import type { Engine } from "../../engine.ts";
import type { EvaluateOptions } from "../../evaluation/options.ts";
import { readsWholeRows } from "../../operator/definition.ts";
import type { CommandDoor } from "../../options/doors.ts";
import type { NullReport } from "../../reasons/null_report.ts";
import { counted } from "../../text/counted.ts";
import { readFormulaFile } from "../terminal/formula_file.ts";
import { interruptionSignal } from "../terminal/interruption.ts";
import { Progress } from "../terminal/progress.ts";
import { dataFile, STANDARD } from "../terminal/standard_input.ts";
import { type Flags, type Specs, specsOf } from "./option_flags.ts";

/** Formulas and what errors call them. */
export interface Formulas {
  readonly name: string;
  readonly text: string;
  /** Their file, if they have one. */
  readonly input?: string;
}

/** @throws as `readFormulaFile`. */
export async function formulasOfFile(file: string): Promise<Formulas> {
  const text = await readFormulaFile(file);
  return file === STANDARD ? { name: "stdin", text } : { name: file, text, input: file };
}

/** What a command works with. */
export interface Opened {
  readonly program: Program;
  readonly source: PanelSource;
  /** The bars: their path, and what messages call them. */
  readonly path: string;
  readonly bars: string;
  readonly specs: Specs;
  readonly steps: Progress;
  /** Aborted by SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  /** Compiles other formulas for the bars, or the same in another way. */
  compile(formulas: Formulas, changes?: CompileOptions): Program;
  /** What the flags say of a call of these programs, with signal and progress. */
  callOf(...programs: Program[]): EvaluateOptions;
  /** Does a step in threads of its own. */
  inEngine<T>(step: string, work: (engine: Engine) => Promise<T>): Promise<T>;
}

/** Opens bars, compiles formulas for their columns, does the work and closes the bars. */
export async function withProgram<T>(
  door: CommandDoor,
  formulas: Formulas,
  flags: Flags & { readonly data: string },
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  // Loaded here: other commands start in half the time without Arrow and DuckDB.
  const [{ default: ora }, { openPanelSource }] = await Promise.all([
    import("ora"),
    import("../../data/source/open_panel_source.ts"),
  ]);
  const specs = await specsOf(door, flags);
  await using data = await dataFile(flags.data);
  const bars = flags.data === STANDARD ? "stdin" : flags.data;
  const steps = new Progress(ora);
  const source = await steps.run("read", () => openPanelSource(data.path, specs.source));
  try {
    const compileOf = (of: Formulas, changes: CompileOptions = {}) => {
      const program = compile(of.text, {
        file: of.name,
        ...columnsOf(source),
        ...specs.program,
        ...changes,
      });
      if (changes.disabledPasses === undefined) warnOfIdleUniverse(program, specs.program.universe);
      return program;
    };
    const program = await steps.run("compile", async () => compileOf(formulas));
    // From here on an interruption must remove or complete files.
    const signal = interruptionSignal();
    const callOf = (...programs: Program[]): EvaluateOptions => ({
      ...specs.call,
      params: typedParams(programs, specs.call.params ?? {}),
      signal,
      onProgress: (done, count) => steps.show(done / count, counted(count, "time")),
    });
    const inEngine = async <R>(step: string, ask: (engine: Engine) => Promise<R>): Promise<R> => {
      const { Engine } = await import("../../engine.ts");
      return await steps.run(step, async () => {
        await using engine = await Engine.start(specs.engine);
        return await ask(engine);
      });
    };
    const opened = { program, source, path: data.path, bars, specs, steps, signal, callOf, inEngine };
    return await work({ ...opened, compile: compileOf });
  } finally {
    await source.close();
  }
}

/** Where the nulls of a call's factors come from: a pass over the bars. */
export const countNulls = ({ program, source, callOf, inEngine }: Opened): Promise<NullReport> =>
  inEngine("count nulls", (engine) => engine.nulls(program, source, callOf(program)));

/** The columns that formulas over bars may read. */
export function columnsOf({ fieldNames, groupNames, groupReasons }: PanelSource): CompileOptions {
  return { fields: fieldNames, groups: groupNames, ...(groupReasons && { groupReasons }) };
}

/** Warns if no operator reads the universe: even an unknown name would go unnoticed. */
function warnOfIdleUniverse(program: Program, universe: string | undefined): void {
  const readsRows = finalDag(program).tasks.some(
    (task) => task.kind === "call" && readsWholeRows(task.operator),
  );
  if (universe === undefined || readsRows) return;
  const reason = `no operator of ${program.file} works across the row`;
  process.emitWarning(`--universe ${universe} changes nothing: ${reason}`, "FactorloomWarning");
}

/** Converts params to their declared types: `600519` is a text if the default is a text. */
function typedParams(
  programs: readonly Program[],
  given: Readonly<Record<string, string>>,
): Record<string, ParamValue> {
  const typed = Object.entries(given).map(([name, text]) => {
    const program = programs.find(({ params }) => params.has(name));
    const isText = typeof program?.params.get(name) === "string";
    return [name, isText ? withoutQuotes(text) : parseValue(text)] as const;
  });
  return Object.fromEntries(typed);
}

function parseValue(text: string): ParamValue {
  if (text === "true" || text === "false") return text === "true";
  return text !== "" && Number.isFinite(Number(text)) ? Number(text) : withoutQuotes(text);
}

function withoutQuotes(text: string): string {
  return text.replace(/^(["'])(.*)\1$/, "$2");
}
