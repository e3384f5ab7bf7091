/** The files of a batch as one source: their rows one after the other, each file's symbols in the lanes of the job. */
import type { BlockRequest, PanelBlock, PanelSource, RowRange } from "../../data/panel/panel_source.ts";
import { sharedCodes, sharedColumn } from "../../evaluation/shared_columns.ts";
import type { GroupColumn, TimeColumn } from "../../panel.ts";
import { expectColumns } from "../input/input_source.ts";
import { type TimeDigest, TimeDigests } from "../input/time_digests.ts";
import type { LaneGroups } from "./job_groups.ts";

/** A file that is to be read. */
export interface LaneFile {
  readonly path: string;
  readonly open: () => Promise<PanelSource>;
  /** Which of its rows are read; default: all. */
  readonly rowsOf?: (source: PanelSource) => RowRange;
  /** Called once its rows are read, with the digests of its times, and the number of rows: one for each time and symbol. */
  readonly afterRead?: (digests: readonly TimeDigest[], rows: number) => Promise<void>;
  readonly onFailure?: (failure: unknown) => void;
}

export interface LaneSourceSpec {
  /** The lanes, in code-unit order. */
  readonly symbols: readonly string[];
  readonly time: Pick<TimeColumn, "name" | "type">;
  readonly fieldNames: readonly string[];
  readonly groupNames: readonly string[];
  /** Groups of the job's table of groups. */
  readonly ownGroups: LaneGroups;
  /** Fields with one value for all symbols. */
  readonly seriesNames: readonly string[];
  /** Columns that times are digested by. */
  readonly digested: readonly string[];
}

/** The lanes of the symbols, and one more that is absent in all rows: new symbols go on from its recurrences. */
export class LaneSource implements PanelSource {
  readonly symbols: readonly string[];
  readonly laneCount: number;
  readonly fieldNames: readonly string[];
  readonly groupNames: readonly string[];
  readonly seriesNames: readonly string[];
  readonly time: TimeColumn;
  readonly isOpenEnded = true;
  /** Unknown before the files are read. */
  readonly rowCount = 0;
  /** Labels of group columns of files, numbered in the order of appearance: a code has one meaning in all blocks. */
  labels: Record<string, string[]> = {};
  /** The files of the next reading; which is the next one may depend on those before. */
  files: Iterable<LaneFile> = [];
  readonly ownGroups: LaneGroups;
  readonly #laneOf: ReadonlyMap<string, number>;
  readonly #digested: readonly string[];

  constructor(spec: LaneSourceSpec) {
    const { symbols, time, fieldNames, groupNames, ownGroups, seriesNames } = spec;
    this.#digested = spec.digested;
    this.seriesNames = seriesNames;
    this.symbols = symbols;
    this.laneCount = symbols.length + 1;
    this.time = { ...time, values: new BigInt64Array(0) };
    this.fieldNames = fieldNames;
    this.groupNames = [...groupNames, ...ownGroups.names];
    this.#laneOf = new Map(symbols.map((symbol, lane) => [symbol, lane]));
    this.ownGroups = ownGroups;
  }

  /**
   * Reads the files to their end. A block has rows of several files, and its arrays are used again for the next one.
   *
   * @throws DataError E366 if a file lacks a column; as its source.
   */
  async *blocks(wanted: BlockRequest): AsyncGenerator<PanelBlock, void, void> {
    const own = this.ownGroups.names;
    const request = { ...wanted, groups: wanted.groups.filter((name) => !own.includes(name)) };
    const { blockRows } = request;
    const block = emptyBlock(request, this.laneCount);
    const filled = (rowCount: number) => ({
      ...block,
      rowCount,
      groups: new Map([...this.ownGroups.at(block.times.subarray(0, rowCount)), ...block.groups]),
    });
    let rowCount = 0;
    const isOwn = (name: string) => this.#digested.includes(name);
    for (const { path, open, rowsOf, afterRead, onFailure } of this.files) {
      let source: PanelSource | null = null;
      let rows = 0;
      try {
        source = await open();
        expectColumns(path, source, request);
        // A file may have symbols that have no row in what is read of it.
        const lanes = Int32Array.from(source.symbols, (symbol) => this.#laneOf.get(symbol) ?? -1);
        const { fields, groups, signal } = request;
        const digests: TimeDigest[] = [];
        const { symbols } = source;
        const digester = new TimeDigests(symbols, fields.filter(isOwn), groups.filter(isOwn), this.#digested);
        const range = { rows: rowsOf?.(source), blockRows, signal };
        for await (const read of source.blocks({ fields, groups, ...range })) {
          digests.push(...digester.of(read));
          for (let from = 0; from < read.rowCount; ) {
            const end = Math.min(read.rowCount, from + blockRows - rowCount);
            this.#copy(read, block, { lanes, laneCount: this.laneCount, from, end, at: rowCount });
            rowCount += end - from;
            from = end;
            if (rowCount < blockRows) continue;
            yield filled(rowCount);
            rowCount = 0;
          }
          for (let cell = read.rowCount * lanes.length - 1; cell >= 0; cell--) rows += read.present[cell]!;
        }
        await afterRead?.(digests, rows);
      } catch (error) {
        onFailure?.(error);
        throw error;
      } finally {
        await source?.close();
      }
    }
    if (rowCount > 0) yield filled(rowCount);
  }

  async close(): Promise<void> {}

  /** Copies rows of a file's block; lanes that the file lacks are null, but in series. */
  #copy(read: PanelBlock, block: PanelBlock, rows: SpreadRows): void {
    block.times.set(read.times.subarray(rows.from, rows.end), rows.at);
    spread(read.present, block.present, rows, 0);
    for (const [name, column] of block.fields) {
      if (this.seriesNames.includes(name)) repeat(read.fields.get(name)!, column, rows);
      else spread(read.fields.get(name)!, column, rows, Number.NaN);
    }
    for (const [name, { codes }] of block.groups)
      spread(this.#recoded(read.groups.get(name)!), codes, rows, -1);
  }

  /** Translates codes of the file to codes of the job. */
  #recoded({ name, labels, codes }: GroupColumn): Int32Array {
    this.labels[name] ??= [];
    const known = this.labels[name];
    const codeOf = new Map(known.map((label, code) => [label, code]));
    const translated = labels.map((label) => codeOf.get(label) ?? known.push(label) - 1);
    return codes.map((code) => translated[code] ?? -1);
  }
}

function emptyBlock({ fields, groups, blockRows }: BlockRequest, laneCount: number): PanelBlock {
  const cells = blockRows * laneCount;
  const changesOverTime = true;
  return {
    rowCount: 0,
    times: new BigInt64Array(blockRows),
    present: new Uint8Array(cells),
    fields: new Map(fields.map((name) => [name, sharedColumn(cells)])),
    groups: new Map(
      groups.map((name) => [name, { name, labels: [], codes: sharedCodes(cells), changesOverTime }]),
    ),
  };
}

interface SpreadRows {
  /** The lane of the job for each of the file. */
  readonly lanes: Int32Array;
  /** Lanes of the job. */
  readonly laneCount: number;
  readonly from: number;
  readonly end: number;
  /** Where the first of the rows goes. */
  readonly at: number;
}

/** Copies rows of a file's lanes to lanes of the job; other lanes get the value `absent`. */
function spread<T extends Float64Array | Int32Array | Uint8Array>(
  source: T,
  target: T,
  { lanes, laneCount, from, end, at }: SpreadRows,
  absent: number,
): void {
  const first = at * laneCount;
  target.fill(absent, first, first + (end - from) * laneCount);
  // Symbols of a file are in the order of those of the job: as many are the same.
  const isOfAll = lanes.length === laneCount - 1 && !lanes.includes(-1);
  for (let row = from; row < end; row++) {
    const [sourceCell, targetCell] = [row * lanes.length, (at + row - from) * laneCount];
    if (isOfAll) target.set(source.subarray(sourceCell, sourceCell + lanes.length) as never, targetCell);
    else
      for (let lane = 0; lane < lanes.length; lane++)
        if (lanes[lane]! >= 0) target[targetCell + lanes[lane]!] = source[sourceCell + lane]!;
  }
}

/** Copies the value that all lanes of a file have to all lanes of the job. */
function repeat(source: Float64Array, target: Float64Array, rows: SpreadRows): void {
  const { lanes, laneCount, from, end, at } = rows;
  for (let row = from; row < end; row++) {
    const first = (at + row - from) * laneCount;
    target.fill(source[row * lanes.length]!, first, first + laneCount);
  }
}
