/** How long a job takes to catch up, as a process: of this version and another one in turn, or with its formulas in several files. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { publishedText } from "../src/bench/open_formulas.ts";
import { syntheticPanel } from "../src/bench/synthetic_panel.ts";
import { openFactorWriter } from "../src/data/write/factor_writer.ts";

export interface CatchUpShape {
  readonly files: number;
  readonly rowsPerFile: number;
  readonly lanes: number;
  readonly threads: number;
  readonly repeats: number;
}

/** A way to run the job: the command line of a version, and its formula files by name. */
export interface JobVariant {
  readonly name: string;
  readonly cli: string;
  readonly formulas: Readonly<Record<string, string>>;
}

export interface VariantTimes {
  readonly name: string;
  /** Seconds of the whole process, one for each repeat. */
  readonly seconds: readonly number[];
}

export const alpha101 = (): Readonly<Record<string, string>> => ({ "a.factors": publishedText("alpha101") });

/** A hundred factors that share sub-expressions, in a number of files. */
export function sharingFormulas(fileCount: number): Record<string, string> {
  const factors = Array.from({ length: 50 }, (_, i) => [
    `f${i} = ts_corr(rank(close), rank(volume), ${5 + i})`,
    `g${i} = ts_mean(rank(close - open), ${5 + i})`,
  ]).flat();
  const perFile = Math.ceil(factors.length / fileCount);
  return Object.fromEntries(
    Array.from({ length: fileCount }, (_, file) => {
      const own = factors.slice(file * perFile, (file + 1) * perFile);
      return [`part${file}.factors`, `${own.join("\n")}\n`];
    }),
  );
}

/** Runs the variants in turn, each time from nothing. */
export async function measureCatchUp(
  { files, rowsPerFile, lanes, threads, repeats }: CatchUpShape,
  variants: readonly JobVariant[],
  onProgress: (done: number, total: number) => void,
): Promise<VariantTimes[]> {
  const folder = mkdtempSync(join(tmpdir(), "factorloom-bench-jobs-"));
  try {
    await writeBars(join(folder, "bars"), { files, rowsPerFile, lanes });
    const seconds = variants.map((): number[] => []);
    for (let repeat = 0; repeat < repeats; repeat++)
      for (const [index, variant] of variants.entries()) {
        seconds[index]!.push(await runOnce(folder, variant, threads));
        onProgress(repeat * variants.length + index + 1, repeats * variants.length);
      }
    return variants.map(({ name }, index) => ({ name, seconds: seconds[index]! }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runOnce(folder: string, { cli, formulas }: JobVariant, threads: number): Promise<number> {
  const names = Object.keys(formulas);
  for (const name of names) writeFileSync(join(folder, name), formulas[name]!);
  for (const made of ["journal", "out"]) rmSync(join(folder, made), { recursive: true, force: true });
  const config = join(folder, "jobs.yaml");
  writeFileSync(
    config,
    `journal: journal
log: { level: silent }
engine: { threads: ${threads} }
jobs:
  - name: bars
    formulas: [${names.join(", ")}]
    source: { folder: bars }
    groups: sectors.csv
    sink: { arrow: out }
    schedule: { cron: "0 0 * * *" }
`,
  );
  const started = performance.now();
  await promisify(execFile)(process.execPath, [cli, "run", config, "--once"]);
  return (performance.now() - started) / 1_000;
}

async function writeBars(
  folder: string,
  { files, rowsPerFile, lanes }: Pick<CatchUpShape, "files" | "rowsPerFile" | "lanes">,
): Promise<void> {
  mkdirSync(folder);
  const { time, symbols, fields, present } = syntheticPanel({
    lanes,
    rows: files * rowsPerFile,
    nullShare: 0,
  });
  for (let file = 0; file < files; file++) {
    const [first, end] = [file * rowsPerFile, (file + 1) * rowsPerFile];
    const cells = [first * lanes, end * lanes] as const;
    const path = join(folder, `bars-${String(file).padStart(4, "0")}.arrow`);
    const writer = await openFactorWriter(path, { time, symbols, factors: [...fields.keys()] });
    await writer.append({
      rowCount: rowsPerFile,
      times: time.values.subarray(first, end),
      present: present.subarray(...cells),
      columns: new Map([...fields].map(([name, values]) => [name, values.subarray(...cells)])),
    });
    await writer.commit();
  }
  const sectors = symbols.map((symbol, lane) => `${symbol},sector ${lane % 11}`);
  writeFileSync(join(folder, "../sectors.csv"), `symbol,sector\n${sectors.join("\n")}\n`);
}
