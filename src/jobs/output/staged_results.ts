/** Writes the results of a batch to staged files. */
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { FactorBlock, OutputColumns } from "../../data/factors/factor_batches.ts";
import { outputNames } from "../../data/factors/factor_batches.ts";
import { digestOfRows } from "../../data/job_tables/result_table.ts";
import type { FactorWriter } from "../../data/write/batch_writer.ts";
import { openFactorWriter } from "../../data/write/factor_writer.ts";
import { makeDurableFolder, syncFile, syncFolder } from "../../files/durable.ts";
import type { SinkConfig } from "../config/config.ts";
import { digestOfFile } from "../input/input_files.ts";
import type { OutputPaths, StagedOutput } from "../ledger/records.ts";

/** Two days: clocks that go back just after midnight return to the day before. */
const OPEN_MAX = 2;

/** What of the results goes where. */
export interface ResultRules {
  readonly pathsOf: (time: bigint) => OutputPaths;
  readonly isWritten: (time: bigint) => boolean;
  readonly keepInfinite: boolean;
}

/** The results of the current batch: one file for each target, opened as rows come. */
export class StagedResults {
  /** Complete files. */
  readonly outputs: StagedOutput[] = [];
  rows = 0;
  readonly #folder: string;
  readonly #kind: SinkConfig["kind"];
  readonly #columns: OutputColumns;
  readonly #rules: ResultRules;
  /** By target, oldest first. */
  readonly #open = new Map<string, { readonly paths: OutputPaths; readonly writer: FactorWriter }>();

  constructor(folder: string, kind: SinkConfig["kind"], columns: OutputColumns, rules: ResultRules) {
    this.#folder = folder;
    this.#kind = kind;
    this.#columns = columns;
    this.#rules = rules;
  }

  async append(block: FactorBlock): Promise<void> {
    const targetOf = (row: number) => {
      const time = block.times[row]!;
      return row < block.rowCount && this.#rules.isWritten(time) ? this.#rules.pathsOf(time) : null;
    };
    for (let row = 0; row < block.rowCount; ) {
      const paths = targetOf(row);
      let end = row + 1;
      while (end < block.rowCount && targetOf(end)?.target === paths?.target) end += 1;
      if (paths !== null) await this.#write(paths, rowsOf(block, row, end, this.#columns));
      row = end;
    }
  }

  /** Completes all files and flushes them to the disk. */
  async finish(): Promise<void> {
    // A table notes the position of the ledger with the rows of each batch, and be they none.
    if (this.#kind === "duckdb" && this.#open.size === 0) await this.#writerOf(this.#rules.pathsOf(0n));
    while (this.#open.size > 0) await this.#closeFirst();
    for (const folder of new Set(this.outputs.map(({ staged }) => dirname(join(this.#folder, staged)))))
      await syncFolder(folder);
  }

  /** Closes the open files; `JobSink.discardStaged` removes them. */
  async abort(): Promise<void> {
    for (const { writer } of this.#open.values()) await writer.abort();
    this.#open.clear();
  }

  async #write(paths: OutputPaths, rows: FactorBlock): Promise<void> {
    for (const isPresent of rows.present) this.rows += isPresent;
    await (await this.#writerOf(paths)).append(rows);
  }

  async #writerOf(paths: OutputPaths): Promise<FactorWriter> {
    const open = this.#open.get(paths.target);
    if (open) return open.writer;
    if (this.#open.size === OPEN_MAX) await this.#closeFirst();
    const path = join(this.#folder, paths.staged);
    await makeDurableFolder(dirname(path));
    const { keepInfinite } = this.#rules;
    const format = this.#kind === "arrow" ? "arrow" : "parquet";
    const writer = await openFactorWriter(path, this.#columns, { keepInfinite }, format);
    this.#open.set(paths.target, { paths, writer });
    return writer;
  }

  async #closeFirst(): Promise<void> {
    const [first] = this.#open.values();
    const { paths, writer } = first!;
    await writer.commit();
    this.#open.delete(paths.target);
    const path = join(this.#folder, paths.staged);
    await syncFile(path);
    this.outputs.push({
      ...paths,
      bytes: (await stat(path)).size,
      sha256: await digestOfFile(path),
      rows: this.#kind === "duckdb" ? await digestOfRows(path, outputNames(this.#columns)) : null,
    });
  }
}

/** Some rows of a block, with these factors; those that the block lacks are null. */
export function rowsOf(
  block: FactorBlock,
  from: number,
  end: number,
  { symbols, factors }: Pick<OutputColumns, "symbols" | "factors">,
): FactorBlock {
  const [first, last] = [from * symbols.length, end * symbols.length];
  return {
    rowCount: end - from,
    times: block.times.subarray(from, end),
    present: block.present.subarray(first, last),
    columns: new Map(factors.map((name) => [name, block.columns.get(name)?.subarray(first, last) ?? null])),
  };
}
