import { resolve } from "node:path";
import type { ParamValue } from "../ast/program.ts";
import { type CompileOptions, compile, type Program } from "../compile.ts";
import type { FactorBatches } from "../data/factor_batches.ts";
import type { FactorWriter } from "../data/factor_writer.ts";
import type { PanelSourceOptions } from "../data/open_panel_source.ts";
import type { PanelSource } from "../data/panel_source.ts";
import type { Engine, KernelChoice } from "../engine.ts";
import { UsageError } from "../errors.ts";
import { type EvalResult, type StageTimes, summarise, summaryText } from "./eval_summary.ts";
import { disabledPasses } from "./explain.ts";
import { readFormulaFile } from "./formula_file.ts";
import { interruptionSignal } from "./interruption.ts";

/** What `addCallOptions` reads. */
export interface CallOptions {
  readonly data: string;
  readonly groups?: string;
  readonly series?: string;
  readonly field?: Readonly<Record<string, string>>;
  readonly timeColumn?: string;
  readonly symbolColumn?: string;
  readonly universe?: string;
  readonly paramsByTime?: string;
  readonly dialect?: string;
  readonly select?: string[];
  readonly param?: Readonly<Record<string, string>>;
  readonly from?: string;
  readonly to?: string;
  readonly threads?: number;
  readonly memoryLimit?: number;
}

interface EvalOptions extends CallOptions {
  readonly out?: string;
  readonly blockRows?: number;
  readonly kernel: KernelChoice;
  readonly keepInf?: true;
  readonly pass?: string[] | true;
  readonly json?: true;
}

/** What only this command needs: without Arrow, DuckDB and the pool the others start in half the time. */
async function loadEngine() {
  const [{ default: ora }, output, input, writer, batches, { Engine }] = await Promise.all([
    import("ora"),
    import("../data/output_path.ts"),
    import("../data/open_panel_source.ts"),
    import("../data/factor_writer.ts"),
    import("../data/factor_batches.ts"),
    import("../engine.ts"),
  ]);
  return { ora, ...output, ...input, ...writer, ...batches, Engine };
}

type Modules = Awaited<ReturnType<typeof loadEngine>>;

/** Shows which step is under way and keeps how long each took. */
export class Steps {
  readonly times: StageTimes = {};
  readonly #spinner: ReturnType<Modules["ora"]>;

  constructor(ora: Modules["ora"]) {
    // A terminal of 0 columns (a script's pseudo-terminal) would have the spinner redraw without end.
    const isEnabled = process.stderr.isTTY === true && process.stderr.columns > 0;
    this.#spinner = ora({ stream: process.stderr, discardStdin: false, isEnabled });
  }

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    if (this.#spinner.isEnabled) this.#spinner.start(name);
    try {
      return await work();
    } finally {
      this.times[name] = performance.now() - started;
      this.#spinner.stop();
    }
  }

  note(text: string): void {
    this.#spinner.text = text;
  }
}

/** Evaluates a formula file over a table of bars, writes the factors if asked to, and prints a summary. */
export async function evaluateFile(file: string, options: EvalOptions): Promise<void> {
  const text = await readFormulaFile(file);
  const modules = await loadEngine();
  const steps = new Steps(modules.ora);
  const { out, data } = options;
  if (out !== undefined) {
    refuseOverwriting(out, [file, data, options.groups, options.series, options.paramsByTime]);
    await modules.checkOutputPath(out);
  }
  const source = await steps.run("read", () => modules.openPanelSource(data, sourceOptions(options)));
  try {
    const program = await steps.run("compile", async () =>
      compile(text, {
        ...compileOptions(file, source, options),
        disabledPasses: disabledPasses(options.pass),
      }),
    );
    const engine = await steps.run("start threads", () =>
      modules.Engine.start(pick(options, ["threads", "memoryLimit"])),
    );
    try {
      const result = await steps.run("evaluate", () =>
        evaluateStream(modules, engine, program, source, options, steps),
      );
      const summary = summarise(program, result, steps.times, out);
      process.stdout.write(options.json ? `${JSON.stringify(summary)}\n` : `${summaryText(summary)}\n`);
    } finally {
      await engine.close();
    }
  } finally {
    await source.close();
  }
}

export function sourceOptions(options: CallOptions): PanelSourceOptions {
  const memory = options.memoryLimit === undefined ? {} : { memoryLimitBytes: options.memoryLimit };
  const tables = pick(options, ["groups", "series", "timeColumn", "symbolColumn"]);
  return { ...tables, rename: options.field ?? {}, ...memory };
}

export function compileOptions(file: string, source: PanelSource, options: CallOptions): CompileOptions {
  const { fieldNames, groupNames } = source;
  return {
    file,
    fields: [...fieldNames],
    groups: [...groupNames],
    ...pick(options, ["dialect", "universe"]),
  };
}

/** Computes block by block and writes each as it comes. */
async function evaluateStream(
  modules: Modules,
  engine: Engine,
  program: Program,
  source: PanelSource,
  options: EvalOptions,
  steps: Steps,
): Promise<EvalResult> {
  const keepInfinite = options.keepInf === true;
  const stream = await engine.openStream(program, source, {
    ...pick(options, ["select", "from", "to", "paramsByTime", "blockRows", "kernel"]),
    params: typedParams(program, options.param ?? {}),
    keepInfinite,
    signal: interruptionSignal(),
    onProgress: (rowsDone, rowCount) => {
      steps.note(`evaluate: ${Math.floor((100 * rowsDone) / rowCount)} % of ${rowCount} times`);
    },
  });
  const { time, symbols } = source;
  const columns = { time, symbols, factors: stream.wanted.factors.map(({ name }) => name) };
  const { out } = options;
  const writer =
    out === undefined
      ? countingWriter(new modules.FactorBatches(columns, { keepInfinite }))
      : await modules.openFactorWriter(out, columns, { keepInfinite });
  let rowCount = 0;
  try {
    for await (const block of stream.blocks()) {
      for (const isPresent of block.present) rowCount += isPresent;
      await writer.append(block);
    }
    await writer.commit();
  } catch (error) {
    await writer.abort();
    throw error;
  }
  return { stream, rowCount, nullCounts: writer.nullCounts, nonFiniteCounts: writer.nonFiniteCounts };
}

/** Counts what would be written. */
function countingWriter(batches: FactorBatches): FactorWriter {
  return {
    append: async (block) => batches.append(block).forEach(() => {}),
    commit: async () => batches.finish().forEach(() => {}),
    abort: async () => {},
    get nullCounts() {
      return batches.nullCounts();
    },
    get nonFiniteCounts() {
      return batches.nonFiniteCounts();
    },
  };
}

/** @throws UsageError if the result would replace one of the files that it is made from. */
function refuseOverwriting(out: string, inputs: readonly (string | undefined)[]): void {
  if (!inputs.some((input) => input !== undefined && resolve(input) === resolve(out))) return;
  throw new UsageError("E514", `--out ${out} would overwrite an input`, "give the result a name of its own");
}

/** The values of params as the file declares them: for a param with a text as default `600519` is a text. */
export function typedParams(
  program: Program,
  given: Readonly<Record<string, string>>,
): Record<string, ParamValue> {
  const typed = Object.entries(given).map(([name, text]) => {
    const isText = typeof program.params.get(name) === "string";
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

export function pick<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(
    keys.filter((key) => from[key] !== undefined).map((key) => [key, from[key]]),
  ) as Pick<T, K>;
}
