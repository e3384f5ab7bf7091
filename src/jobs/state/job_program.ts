/** Reads and compiles the formulas of a job for the columns of its input. */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { compile, type EvaluableProgram, finalDag, type Program, withOperators } from "../../compile.ts";
import { readSeriesTable } from "../../data/side_tables/series_table.ts";
import { broughtFields } from "../../evaluation/has_row.ts";
import { joinPrograms } from "../../evaluation/joined_programs.ts";
import type { EvaluateOptions } from "../../evaluation/options.ts";
import { prepareCall } from "../../evaluation/prepared_call.ts";
import { timeOf } from "../../evaluation/row_range.ts";
import { loadOperators } from "../../operator/load_operators.ts";
import { moduleDigest } from "../../operator/operator_digest.ts";
import type { TimeColumn, TimeType } from "../../panel.ts";
import { noSuchFile } from "../../text/no_such_file.ts";
import type { JobConfig } from "../config/config.ts";
import { factorTwice, jobChanged, nothingSelected } from "../errors.ts";
import type { FileColumns } from "../input/input_source.ts";
import type { BeginRecord, InputColumns } from "../ledger/records.ts";
import type { JobGroups } from "./job_groups.ts";

/** The formula files of a job as one program, with the options of its evaluation. */
export interface JobProgram {
  readonly program: EvaluableProgram;
  readonly options: EvaluateOptions;
  /** Factors of the output, in the order of the files. */
  readonly factors: readonly string[];
  /** Fields with one value for all symbols. */
  readonly seriesNames: readonly string[];
  /** Whether the results of a time are written: `from` and `to` of the job. */
  readonly isWritten: (time: bigint) => boolean;
  /** Columns that files must have. */
  readonly read: FileColumns;
  /** Groups of the job's table of groups that formulas read. */
  readonly ownGroups: readonly string[];
  /** Rows of history that the state depends on; infinite for recursive factors. */
  readonly historyRows: number;
}

export type FormulaTexts = ReadonlyMap<string, string>;

/** The texts of the formula files. @throws UsageError E508 if a file is missing, E510 for modules without operators. */
export async function readFormulas({ formulas, program }: JobConfig): Promise<FormulaTexts> {
  await loadOperators(program.operators ?? []);
  const texts = formulas.files.map(async (file) => {
    const text = await readFile(file, "utf8").catch(() => {
      throw noSuchFile(`${file}: no such file`, "give the path of a formula file");
    });
    return [file, text] as const;
  });
  return new Map(await Promise.all(texts));
}

/**
 * What results depend on beside the input, as digests by their names in messages. Formulas count by what they compute: not
 * their comments, nor the release that compiles them.
 */
function settingsOf(job: JobConfig, { program: computed }: JobProgram): BeginRecord["settings"] {
  const { program, source, groups, sink, schedule } = job;
  const { params = {}, paramsByTime, select, from, to, restarts, keepInfinite = false } = job.call;
  const { timeColumn, symbolColumn, rename, series, renames } = source;
  const { operators = [] } = program;
  const query = source.kind === "duckdb" ? source.query : null;
  const dates = sink.kind === "parquet" ? schedule.timezone : null;
  const settings: Record<string, unknown> = {
    operators: operators.map((path) => moduleDigest(pathToFileURL(path).href)),
    formulas: computed.origin().fingerprints.program,
    params: [...new Map([...computed.params, ...Object.entries(params)])].sort(([a], [b]) =>
      a < b ? -1 : 1,
    ),
    select: select ?? null,
    "params by time": paramsByTime === undefined,
    times: [from ?? null, to ?? null],
    restarts: restarts ?? null,
    source: [
      timeColumn ?? null,
      symbolColumn ?? null,
      rename ?? null,
      groups === undefined,
      series === undefined,
      query,
    ],
    keep_infinite: keepInfinite,
    renames: renames === undefined ? null : hash("sha256", readFileSync(renames)),
    sink: [sink, dates],
  };
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, digestOf(value)]));
}

/** Settings that a rebuild cannot follow: other input, another place. */
const FIXED: readonly string[] = ["source", "sink"];
/** Settings of which fingerprints of factors tell the rest. */
const OF_FACTORS: readonly string[] = ["formulas", "operators", "select"];

/** How a job differs from what its results were made with. */
export interface JobChange {
  /** Names of settings, in words. */
  readonly changed: readonly string[];
  /** Columns of the results: those of before in their order, then new ones. */
  readonly columns: readonly string[];
  /** Columns that are to be computed. */
  readonly evaluated: readonly string[];
  /** Columns whose values stay where nothing is computed, with their names of before. */
  readonly kept: ReadonlyMap<string, string>;
  /** Whether the results of before differ from those of the job as it is. */
  readonly needsRebuild: boolean;
}

/**
 * What has changed since the results began; null if nothing has. Factors are the same if their fingerprints are, by whatever
 * name. A column whose factor is gone stays, null from then on, unless such columns are dropped.
 *
 * @throws UsageError E531 if a setting changed that no rebuild can follow.
 */
export function changeOf(job: JobConfig, program: JobProgram, begin: BeginRecord): JobChange | null {
  const settings = settingsOf(job, program);
  const changed = Object.keys(settings).filter((name) => settings[name] !== begin.settings[name]);
  if (changed.length === 0) return null;
  const fixed = changed.find((name) => FIXED.includes(name));
  if (fixed !== undefined) throw jobChanged(job.name, fixed);
  const now = fingerprintsOf(program);
  const isAll = changed.some((name) => !OF_FACTORS.includes(name));
  const renamed = new Map(begin.factors.map((name) => [name, name]));
  const free = new Map(
    Object.entries(begin.fingerprints).flatMap(([name, one]) => (name in now ? [] : [[one, name] as const])),
  );
  const evaluated: string[] = [];
  for (const [name, fingerprint] of Object.entries(now)) {
    const before = free.get(fingerprint);
    if (!isAll && begin.fingerprints[name] === fingerprint) continue;
    if (!isAll && before !== undefined && !begin.factors.includes(name)) {
      renamed.set(before, name);
      free.delete(fingerprint);
    } else evaluated.push(name);
  }
  const isDropped = (name: string) => job.drop && !(name in now);
  const stayed = [...renamed].filter(([, name]) => !isDropped(name));
  const columns = [...new Set([...stayed.map(([, name]) => name), ...Object.keys(now)])];
  const kept = new Map(
    stayed.flatMap(([before, name]) => (evaluated.includes(name) ? [] : [[name, before]])),
  );
  const isSame = begin.factors.every((name, index) => columns[index] === name);
  return { changed, columns, evaluated, kept, needsRebuild: evaluated.length > 0 || !isSame };
}

/** What is to be computed because rows of before have changed, and perhaps the job as well: all factors. */
export function changeOfInput(
  { factors }: JobProgram,
  change: JobChange | null,
  begin: BeginRecord,
): JobChange {
  const own = new Map(begin.factors.map((name) => [name, name]));
  const { changed, columns } = change ?? { changed: [], columns: begin.factors };
  const kept = change === null ? own : new Map([...change.kept].filter(([name]) => !factors.includes(name)));
  return { changed: [...changed, "input"], columns, evaluated: factors, kept, needsRebuild: true };
}

/** What the ledger keeps of the job that results are made with. */
export function madeWith(
  job: JobConfig,
  program: JobProgram,
  texts: FormulaTexts,
): Pick<BeginRecord, "settings" | "fingerprints" | "formulas"> {
  return {
    settings: settingsOf(job, program),
    fingerprints: fingerprintsOf(program),
    formulas: { texts: [...texts], program: job.program, call: job.call },
  };
}

/** Of each factor of the results, in their order. One with a condition is known by what decides it, too. */
export function fingerprintsOf({ program, factors }: JobProgram): Record<string, string> {
  const { outputs, conditions } = finalDag(program);
  const conditionOf = new Map(outputs.map(({ name, condition }) => [name, condition]));
  const own = program.origin().fingerprints.factors;
  const entries = factors.map((name) => {
    const condition = conditionOf.get(name) ?? null;
    return [name, condition === null ? own.get(name)! : digestOf([own.get(name), conditions[condition]])];
  });
  return Object.fromEntries(entries);
}

function digestOf(value: unknown): string {
  return hash("sha256", JSON.stringify(value));
}

/**
 * Compiles each formula file by itself, so that diagnostics name the file, and joins them: what several files compute is
 * computed once. A param of the job has its value in every file that declares it.
 *
 * @throws FormulaError, DataError E350, UsageError for params, selected names, and factors that two files define; as
 *   `loadOperators`.
 */
export async function compileJob(
  job: JobConfig,
  texts: FormulaTexts,
  columns: InputColumns,
  table: JobGroups,
): Promise<JobProgram> {
  const { fieldNames: fields, groupNames, time } = columns;
  const operators = await loadOperators(job.program.operators ?? []);
  const ownGroups = [...(await table.forSymbols(columns, [])).keys()];
  const groups = [...groupNames, ...ownGroups];
  const programs = [...texts].map(([file, text]) => {
    return compile(text, { file, fields, groups, ...job.program, operators });
  });
  checkNames(job, programs);
  const { from, to, ...options } = job.call;
  const parts = programs.map((program) => ({ program, called: basename(program.file) }));
  const program = joinPrograms(parts, options);
  const times = { ...time, values: new BigInt64Array(0) };
  const seriesNames = await seriesNamesOf(job, times);
  const shape = { time: times, isOpenEnded: true, fieldNames: fields, groupNames: groups, seriesNames };
  const { wanted, read } = await prepareCall(withOperators(program.operators), program, shape, options);
  const factors = wanted.factors.map(({ name }) => name);
  const lookbacks = program.factors.filter(({ name }) => factors.includes(name));
  return {
    program,
    options,
    seriesNames,
    isWritten: await writtenTimes(job.call, time.type),
    factors,
    read: {
      fields: broughtFields(read.fields),
      groups: read.groups.filter((name) => !ownGroups.includes(name)),
    },
    ownGroups: read.groups.filter((name) => ownGroups.includes(name)),
    historyRows: Math.max(0, ...lookbacks.map(({ lookbackRows }) => lookbackRows)),
  };
}

/** Names of the series that every file gets, which depend on no file. */
async function seriesNamesOf({ source, name }: JobConfig, time: TimeColumn): Promise<string[]> {
  const { series, timeColumn, symbolColumn } = source;
  if (series === undefined) return [];
  const shape = { time, fieldNames: [], groupNames: [] };
  const columns = await readSeriesTable(series, shape, `the input of job ${name}`, timeColumn, symbolColumn);
  return columns.map(([column]) => column);
}

/** Whether the results of a time are written. @throws UsageError E541. */
async function writtenTimes(
  { from, to }: EvaluateOptions,
  type: TimeType,
): Promise<(time: bigint) => boolean> {
  const first = from === undefined ? null : await timeOf(from, type, "from");
  const last = to === undefined ? null : await timeOf(to, type, "to");
  return (time) => (first === null || time >= first) && (last === null || time <= last);
}

function checkNames(job: JobConfig, programs: readonly Program[]): void {
  const fileOf = new Map<string, string>();
  for (const { file, factors } of programs) {
    for (const { name } of factors) {
      const first = fileOf.get(name);
      if (first !== undefined) throw factorTwice(job.name, name, basename(first), basename(file));
      fileOf.set(name, file);
    }
  }
  for (const name of job.call.select ?? [])
    if (!fileOf.has(name)) throw nothingSelected(job.name, `the factor ${name}`);
  for (const name of Object.keys(job.call.params ?? {})) {
    if (!programs.some(({ params }) => params.has(name)))
      throw nothingSelected(job.name, `the param ${name}`);
  }
}
