/** Results of a batch of inputs, written where no reader looks. */
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { FactorBlock, OutputColumns } from "../../data/factors/factor_batches.ts";
import { outputNames } from "../../data/factors/factor_batches.ts";
import { digestOfRows } from "../../data/job_tables/result_table.ts";
import { IdleWriters } from "../../data/write/copy_sink.ts";
import { type FactorWriter, openWriterOf } from "../../data/write/factor_writer.ts";
import type { SinkConfig } from "../config/config.ts";
import { digestOfFile } from "../input/input_files.ts";
import { makeFolder, syncFile, syncFolder } from "../journal/durable.ts";
import type { OutputPlace, StagedOutput } from "../journal/records.ts";

/** Clocks that go back just after midnight bring the day before once more. */
const OPEN_MAX = 2;

/** The results of a batch under way: a file for each target, one after the other as the rows come. */
export class StagedResults {
  /** Those that are complete. */
  readonly outputs: StagedOutput[] = [];
  rows = 0;
  readonly #folder: string;
  readonly #kind: SinkConfig["kind"];
  readonly #columns: OutputColumns;
  readonly #placeOf: (time: bigint) => OutputPlace;
  readonly #idle = new IdleWriters();
  /** By target, in the order in which they were opened. */
  readonly #open = new Map<string, { readonly place: OutputPlace; readonly writer: FactorWriter }>();

  constructor(
    folder: string,
    kind: SinkConfig["kind"],
    columns: OutputColumns,
    placeOf: (time: bigint) => OutputPlace,
  ) {
    this.#folder = folder;
    this.#kind = kind;
    this.#columns = columns;
    this.#placeOf = placeOf;
  }

  async append(block: FactorBlock): Promise<void> {
    for (const isPresent of block.present) this.rows += isPresent;
    for (let row = 0; row < block.rowCount; ) {
      const place = this.#placeOf(block.times[row]!);
      let end = row + 1;
      while (end < block.rowCount && this.#placeOf(block.times[end]!).target === place.target) end += 1;
      const writer = await this.#writerOf(place);
      await writer.append(rowsOf(block, row, end, this.#columns.symbols.length));
      row = end;
    }
  }

  /** Brings all files to the disk. */
  async finish(): Promise<void> {
    while (this.#open.size > 0) await this.#closeFirst();
    this.#idle[Symbol.dispose]();
    for (const folder of new Set(this.outputs.map(({ staged }) => dirname(join(this.#folder, staged)))))
      await syncFolder(folder);
  }

  /** Lets go of the files under way; what is staged is discarded later. */
  async abort(): Promise<void> {
    for (const { writer } of this.#open.values()) await writer.abort();
    this.#open.clear();
    this.#idle[Symbol.dispose]();
  }

  async #writerOf(place: OutputPlace): Promise<FactorWriter> {
    const open = this.#open.get(place.target);
    if (open) return open.writer;
    if (this.#open.size === OPEN_MAX) await this.#closeFirst();
    const path = join(this.#folder, place.staged);
    await makeFolder(dirname(path));
    const format = this.#kind === "arrow" ? "arrow" : "parquet";
    const writer = await openWriterOf(path, this.#columns, {}, format, this.#idle);
    this.#open.set(place.target, { place, writer });
    return writer;
  }

  async #closeFirst(): Promise<void> {
    const [first] = this.#open.values();
    const { place, writer } = first!;
    await writer.commit();
    this.#open.delete(place.target);
    const path = join(this.#folder, place.staged);
    await syncFile(path);
    this.outputs.push({
      ...place,
      bytes: (await stat(path)).size,
      sha256: await digestOfFile(path),
      rows: this.#kind === "duckdb" ? await digestOfRows(path, outputNames(this.#columns)) : null,
    });
  }
}

function rowsOf(block: FactorBlock, from: number, end: number, laneCount: number): FactorBlock {
  const [first, last] = [from * laneCount, end * laneCount];
  return {
    rowCount: end - from,
    times: block.times.subarray(from, end),
    present: block.present.subarray(first, last),
    columns: new Map(
      [...block.columns].map(([name, values]) => [name, values?.subarray(first, last) ?? null]),
    ),
  };
}
