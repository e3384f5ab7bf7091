/** Compiles the formulas of a job for the columns of its input. */
import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { builtInRegistry } from "../../../operators/index.ts";
import type { ParamValue } from "../../ast/param_value.ts";
import { CallParams, COMMON_SET } from "../../call_params.ts";
import { compile, type Program } from "../../compile.ts";
import {
  type ColumnsRead,
  columnsRead,
  type WantedFactors,
  wantedFactors,
} from "../../evaluation/wanted_factors.ts";
import { moduleDigest } from "../../operator/operator_digest.ts";
import { noSuchFile } from "../../text/no_such_file.ts";
import type { JobConfig } from "../config/config.ts";
import { factorTwice, jobChanged, nothingSelected } from "../errors.ts";
import type { BeginRecord } from "../journal/records.ts";

/** A compiled formula file: its selected factors, and the columns and params that they read. */
export interface JobProgram {
  readonly file: string;
  readonly program: Program;
  readonly wanted: WantedFactors;
  readonly read: ColumnsRead;
  readonly params: Readonly<Record<string, number>>;
}

/** Operators, what runs them, and what gives formulas their meaning: other code changes no result. */
const CODE = "the code of operators";
const LANGUAGE = new URL(`../../compile${import.meta.url.slice(-3)}`, import.meta.url).href;

export type FormulaTexts = ReadonlyMap<string, string>;

/** @throws UsageError E508 if a file is missing. */
export async function readFormulas({ formulas }: JobConfig): Promise<FormulaTexts> {
  const texts = formulas.files.map(async (file) => {
    const text = await readFile(file, "utf8").catch(() => {
      throw noSuchFile(`${file}: no such file`, "give the path of a formula file");
    });
    return [file, text] as const;
  });
  return new Map(await Promise.all(texts));
}

/** What results depend on beside the input, as digests by their names in messages. */
export function settingsOf(
  job: JobConfig,
  texts: FormulaTexts,
  engineDigest: string,
): Readonly<Record<string, string>> {
  const { formulas, source, groups, sink, params, select, crossSession, schedule } = job;
  const { timeColumn, symbolColumn, rename } = source;
  const query = source.kind === "duckdb" ? source.query : null;
  const sessions = crossSession ? null : [schedule.calendar.sessions, schedule.timezone];
  const dates = sink.kind === "parquet" ? schedule.timezone : null;
  const settings: Record<string, unknown> = {
    formulas: [[...texts.values()], formulas.dialect ?? null],
    params: Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1)),
    select: select ?? null,
    source: [timeColumn ?? null, symbolColumn ?? null, rename ?? null, groups === undefined, query],
    windows: sessions,
    sink: [sink, dates],
    [CODE]: [engineDigest, moduleDigest(LANGUAGE)],
  };
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, digestOf(value)]));
}

/** @throws UsageError E531 if a setting changed that earlier results depend on. */
export function expectSameSettings(
  job: JobConfig,
  settings: BeginRecord["settings"],
  begin: BeginRecord,
): void {
  const changed = Object.keys(settings).find((name) => settings[name] !== begin.settings[name]);
  if (changed === CODE)
    throw jobChanged(job.name, changed, "install the version of factorloom that began it");
  if (changed !== undefined) throw jobChanged(job.name, changed);
}

function digestOf(value: unknown): string {
  return hash("sha256", JSON.stringify(value));
}

/** Columns that formulas may read. */
export type InputColumns = Pick<BeginRecord, "fieldNames" | "groupNames" | "time">;

/**
 * Compiles each formula file by itself, so that diagnostics name the file.
 *
 * @param ownGroups names of the groups of the job's table of groups
 * @throws FormulaError, DataError E350, UsageError for params, selected names, and factors that two files define.
 */
export async function compileJob(
  job: JobConfig,
  texts: FormulaTexts,
  { fieldNames: fields, groupNames, time }: InputColumns,
  ownGroups: Iterable<string>,
): Promise<JobProgram[]> {
  const { dialect } = job.formulas;
  const groups = [...groupNames, ...ownGroups];
  const programs = [...texts].map(([file, text]) => {
    return compile(text, { file, fields, groups, ...(dialect === undefined ? {} : { dialect }) });
  });
  checkNames(job, programs);
  const columns = { fieldNames: fields, groupNames: groups, time };
  return await Promise.all(programs.map((program) => prepare(job, program, columns)));
}

async function prepare(job: JobConfig, program: Program, columns: InputColumns): Promise<JobProgram> {
  const registry = builtInRegistry.with(program.operators);
  const given = Object.entries(job.params).filter(([name]) => program.params.has(name));
  const options = { params: Object.fromEntries(given) as Record<string, ParamValue> };
  const call = await CallParams.of(program, columns.time.type, options, registry);
  const select = job.select?.filter((name) => program.factors.some((factor) => factor.name === name));
  const wanted = wantedFactors(program, select, call, [COMMON_SET]);
  const read = columnsRead(wanted.dag, columns);
  const params = Object.fromEntries(read.params.map((name) => [name, call.numeric(name)]));
  return { file: program.file, program, wanted, read, params };
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
  for (const name of job.select ?? [])
    if (!fileOf.has(name)) throw nothingSelected(job.name, `the factor ${name}`);
  for (const name of Object.keys(job.params)) {
    if (!programs.some(({ params }) => params.has(name)))
      throw nothingSelected(job.name, `the param ${name}`);
  }
}

/** Factors of the output, in the order of the files. */
export function factorNames(programs: readonly JobProgram[]): string[] {
  return programs.flatMap(({ wanted }) => wanted.factors.map(({ name }) => name));
}

/** Rows of history that the state depends on; infinite for recursive factors. */
export function historyRows(programs: readonly JobProgram[]): number {
  const rows = programs.flatMap(({ program, wanted }) => {
    const names = new Set(wanted.factors.map(({ name }) => name));
    return program.factors.filter(({ name }) => names.has(name)).map(({ lookbackRows }) => lookbackRows);
  });
  return Math.max(0, ...rows);
}
