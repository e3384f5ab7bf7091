import type { ParamValue } from "../../ast/param_value.ts";
import { type CompileOptions, finalDag, type Program } from "../../compile.ts";
import type { PanelSource } from "../../data/panel/panel_source.ts";
import type { PanelSourceOptions } from "../../data/source/source_options.ts";
import { readsWholeRows } from "../../operator/definition.ts";

/** The options that `addCallOptions` adds. */
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

export function sourceOptions(options: CallOptions): PanelSourceOptions {
  const memory = options.memoryLimit === undefined ? {} : { memoryLimitBytes: options.memoryLimit };
  const tables = pick(options, ["groups", "series", "timeColumn", "symbolColumn"]);
  return { ...tables, rename: options.field ?? {}, ...memory };
}

export function compileOptions(file: string, source: PanelSource, options: CallOptions): CompileOptions {
  const { fieldNames, groupNames, groupReasons } = source;
  return {
    file,
    fields: [...fieldNames],
    groups: [...groupNames],
    ...(groupReasons === undefined ? {} : { groupReasons }),
    ...pick(options, ["dialect", "universe"]),
  };
}

/** Warns if no operator reads the universe: even an unknown name would go unnoticed. */
export function warnOfIdleUniverse(program: Program, universe: string | undefined): void {
  const readsRows = finalDag(program).tasks.some(
    (task) => task.kind === "call" && readsWholeRows(task.operator),
  );
  if (universe === undefined || readsRows) return;
  const reason = `no operator of ${program.file} works across the row`;
  process.emitWarning(`--universe ${universe} changes nothing: ${reason}`, "FactorloomWarning");
}

/** Converts params to their declared types: `600519` is a text if the default is a text. */
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
