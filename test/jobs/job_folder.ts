import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { tableFromIPC } from "apache-arrow";
import { openDatabase, queryRows } from "../../src/data/duckdb/database.ts";
import type { HostOptions } from "../../src/evaluation/start_host.ts";
import type { RunConfig } from "../../src/jobs/config/config.ts";
import { readRunConfig } from "../../src/jobs/config/read_config.ts";
import { Ledger } from "../../src/jobs/ledger/ledger.ts";
import type { Log } from "../../src/jobs/service/log.ts";
import { type RunJobsOptions, runJobs } from "../../src/jobs/service/run_jobs.ts";
import { CliHost } from "../cli/cli_host.ts";

export const ROOT = join(import.meta.dirname, "../..");
const host = new CliHost();
export const SECTORS = join(ROOT, "examples/data/sp100_sectors.csv");

/** Formulas with state: windows, a recurrence, ranks, groups. */
const FORMULAS = `
momentum = rank(delta(close, 5)) - 0.5
slow = ema(close, 10)
spread = ts_mean(high - low, 7) / close
neutral = group_neutralize(rank(volume), sector)
correlated = correlation(close, volume, 10)
`;

/** By the number of symbols: the header of the bundled table, and the lines of each day, oldest first. */
const bundled = new Map<number, readonly [header: string, days: readonly (readonly string[])[]]>();

function bundledDays(symbolCount: number): readonly [header: string, days: readonly (readonly string[])[]] {
  const known = bundled.get(symbolCount);
  if (known) return known;
  const text = gunzipSync(readFileSync(join(ROOT, "examples/data/sp100_daily.csv.gz"))).toString();
  const [header, ...lines] = text.trim().split("\n");
  const symbols = new Set(lines.slice(0, symbolCount).map((line) => line.split(",")[1]));
  const wanted = lines.filter((line) => symbols.has(line.split(",", 2)[1]));
  const days = [...Map.groupBy(wanted, (line) => line.split(",", 1)[0]!)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const found = [header!, days.map(([, ofDay]) => ofDay)] as const;
  bundled.set(symbolCount, found);
  return found;
}

/** The first bars of the bundled table for a few symbols, one text per file. */
export function realBars(fileCount: number, daysPerFile: number, symbolCount = 12): string[] {
  const [header, days] = bundledDays(symbolCount);
  return Array.from({ length: fileCount }, (_, file) => {
    const rows = days.slice(file * daysPerFile, (file + 1) * daysPerFile).flat();
    return `${[header, ...rows].join("\n")}\n`;
  });
}

export type Sink = "parquet" | "arrow" | "duckdb";

const SINKS = {
  parquet: "{ parquet: out }",
  arrow: "{ arrow: out }",
  duckdb: "{ duckdb: { database: out.duckdb, table: factors } }",
};

export interface FolderOptions {
  readonly sink?: Sink;
  readonly formulas?: string;
  /** Further lines of the job. */
  readonly job?: string;
  readonly top?: string;
  readonly source?: string;
}

/** A folder with a job whose input files tests add. */
export class JobFolder {
  readonly path = mkdtempSync(join(tmpdir(), "factorloom-jobs-"));
  readonly sink: Sink;
  readonly #formulas: string;
  #fileCount = 0;

  constructor(options: FolderOptions = {}) {
    this.sink = options.sink ?? "parquet";
    this.#formulas = options.formulas ?? FORMULAS;
    mkdirSync(join(this.path, "bars"));
    this.configure(options);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  get config(): string {
    return join(this.path, "jobs.yaml");
  }

  configure({ formulas, job = "", top = "", source = "{ folder: bars }" }: FolderOptions): void {
    writeFileSync(join(this.path, "a.factors"), formulas ?? this.#formulas);
    writeFileSync(
      this.config,
      `journal: journal
engine: { threads: 1 }
${top}
jobs:
  - name: bars
    formulas: a.factors
    source: ${source}
    groups: ${SECTORS}
    sink: ${SINKS[this.sink]}
    schedule: { cron: "* * * * * *" }
    ${job}
`,
    );
  }

  rewriteConfig(change: (text: string) => string): void {
    writeFileSync(this.config, change(readFileSync(this.config, "utf8")));
  }

  /** Adds an input file by a rename. */
  addBars(text: string, name = `bars-${String(this.#fileCount).padStart(3, "0")}.csv`): string {
    const path = join(this.path, "bars", name);
    writeFileSync(`${path}.tmp`, text);
    renameSync(`${path}.tmp`, path);
    this.#fileCount += 1;
    return path;
  }

  /** Runs the jobs once, in this process; `engine` overrides its configuration. */
  async run(
    log: Log = SILENT,
    engine: HostOptions = {},
    options: Partial<RunJobsOptions> = {},
  ): Promise<Error | null> {
    const config = await readRunConfig(this.config);
    const changed = { ...config, engine: { ...config.engine, ...engine } };
    const stop = new AbortController().signal;
    return await runJobs(changed as RunConfig, { once: true, stop, log, ...options });
  }

  /** The ledger of the job as it is on the disk now. */
  async ledger(): Promise<Ledger> {
    return await Ledger.open(join(this.path, "journal/bars/ledger.sqlite"), "bars", "read");
  }

  /** As `run`, by the built command line. */
  async runBuilt(): Promise<string | null> {
    const child = spawn(
      process.execPath,
      [join(ROOT, "dist/src/cli/main.js"), "run", this.config, "--once"],
      {
        stdio: ["ignore", "ignore", "pipe"],
      },
    );
    const errors = text(child.stderr);
    const [code] = await once(child, "exit");
    return code === 0 ? null : await errors;
  }

  /** All rows of the sink as texts, sorted by time and symbol. */
  async results(): Promise<string[]> {
    if (this.sink === "arrow") return arrowTexts(join(this.path, "out"));
    const from =
      this.sink === "parquet"
        ? `read_parquet('${this.path}/out/date=*/part-*.parquet', hive_partitioning = false)`
        : "out.factors";
    return await rowTexts(from, this.sink === "duckdb" ? join(this.path, "out.duckdb") : null);
  }

  /** The rows that `eval` gives for all bars at once, which may have the groups themselves. */
  async expected(texts: readonly string[], hasTable = true): Promise<string[]> {
    const bars = join(this.path, "all.csv");
    const out = join(this.path, "all.parquet");
    const [header] = texts[0]!.split("\n");
    writeFileSync(bars, [header, ...texts.flatMap((text) => text.trim().split("\n").slice(1))].join("\n"));
    const formulas = join(this.path, "a.factors");
    const groups = hasTable ? ["--groups", SECTORS] : [];
    const args = ["eval", formulas, "--data", bars, ...groups, "--out", out];
    const { exitCode, stderr } = await host.run({ args, folder: this.path });
    if (exitCode !== 0) throw new Error(stderr);
    return await rowTexts(`read_parquet('${out}')`, null);
  }
}

/** Rows of the Arrow files of a folder, whose times are dates, in the form of `rowTexts`. */
function arrowTexts(folder: string): string[] {
  const parts = readdirSync(folder).filter((name) => name.startsWith("part-"));
  return parts.sort().flatMap((name) => {
    const table = tableFromIPC(readFileSync(join(folder, name)));
    return table.toArray().map((row) => {
      const [time, ...others] = row.toArray() as [number, ...unknown[]];
      return [new Date(time).toISOString().slice(0, 10), ...others.map(valueText)].join(",");
    });
  });
}

const valueText = (value: unknown): string => (Object.is(value, -0) ? "-0" : String(value));

/** Rows of a table or a file as texts; -0 differs from 0. */
export async function rowTexts(from: string, databasePath: string | null): Promise<string[]> {
  using database = await openDatabase();
  if (databasePath !== null) await database.connection.run(`ATTACH '${databasePath}' AS out (READ_ONLY)`);
  const rows = await queryRows(database, `FROM ${from} ORDER BY 1, 2`);
  return rows.map((row) => row.map(valueText).join(","));
}

/** Changes a database. */
export async function sql(path: string, ...statements: string[]): Promise<void> {
  using database = await openDatabase();
  await database.connection.run(`ATTACH '${path}' AS file`);
  await database.connection.run("USE file");
  for (const statement of statements) await database.connection.run(statement);
}

export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** A log that keeps how many files each batch has. */
export function batchLog(): { log: Log; batches: number[] } {
  const batches: number[] = [];
  const debug = (fields: { step?: string; files?: number }) => {
    if (fields.step === "prepared") batches.push(fields.files!);
  };
  return { log: { ...SILENT, debug }, batches };
}

/** A log that keeps its lines. */
export function keptLog(): { log: Log; messages: string[] } {
  const messages: string[] = [];
  const keep = (fields: object, message: string) => {
    messages.push(`${message} ${JSON.stringify(fields)}`);
  };
  return { log: { debug() {}, info: keep, warn: keep, error: keep }, messages };
}
