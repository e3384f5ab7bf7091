/** The files of a batch as one source: their rows one after the other, each file's symbols in the lanes of the job. */
import type { BlockRequest, PanelBlock, PanelSource } from "../../data/panel/panel_source.ts";
import { sharedCodes, sharedColumn } from "../../evaluation/shared_columns.ts";
import type { GroupColumn, TimeColumn } from "../../panel.ts";
import { expectColumns } from "../input/new_inputs.ts";

/** A file that is to be read. */
export interface LaneFile {
  readonly path: string;
  readonly open: () => Promise<PanelSource>;
  /** Called once its rows are read. */
  readonly afterRead?: (rows: RowCounts) => Promise<void>;
  readonly onFailure?: (failure: unknown) => void;
}

export interface RowCounts {
  /** Distinct times. */
  readonly times: number;
  /** Rows, one for each time and symbol. */
  readonly rows: number;
}

export interface LaneSourceSpec {
  /** The lanes, in code-unit order. */
  readonly symbols: readonly string[];
  readonly time: Pick<TimeColumn, "name" | "type">;
  readonly fieldNames: readonly string[];
  readonly groupNames: readonly string[];
  /** Groups of the job's table of groups, one code per lane. */
  readonly ownGroups: ReadonlyMap<string, GroupColumn>;
  /** Fields with one value for all symbols. */
  readonly seriesNames: readonly string[];
}

export class LaneSource implements PanelSource {
  readonly symbols: readonly string[];
  readonly laneCount: number;
  readonly fieldNames: readonly string[];
  readonly groupNames: readonly string[];
  /** Unknown before the files are read. */
  readonly rowCount = 0;
  readonly time: TimeColumn;
  readonly seriesNames: readonly string[];
  readonly isOpenEnded = true;
  /** Labels of group columns of files, numbered in the order of appearance: a code has one meaning in all blocks. */
  labels: Record<string, string[]> = {};
  /** The files of the next reading; which is the next one may depend on those before. */
  files: Iterable<LaneFile> = [];
  readonly #laneOf: ReadonlyMap<string, number>;
  readonly #ownGroups: ReadonlyMap<string, GroupColumn>;

  constructor({ symbols, time, fieldNames, groupNames, ownGroups, seriesNames }: LaneSourceSpec) {
    this.seriesNames = seriesNames;
    this.symbols = symbols;
    this.laneCount = symbols.length;
    this.time = { ...time, values: new BigInt64Array(0) };
    this.fieldNames = fieldNames;
    this.groupNames = [...groupNames, ...ownGroups.keys()];
    this.#laneOf = new Map(symbols.map((symbol, lane) => [symbol, lane]));
    this.#ownGroups = ownGroups;
  }

  /**
   * Reads the files to their end. A block has rows of several files, and its arrays are used again for the next one.
   *
   * @throws DataError E366 if a file lacks a column; as its source.
   */
  async *blocks({ fields, groups, blockRows, signal }: BlockRequest): AsyncGenerator<PanelBlock, void, void> {
    const ofFile = groups.filter((name) => !this.#ownGroups.has(name));
    const { laneCount, seriesNames } = this;
    const filled = new LaneBlock({ fields, groups: ofFile, blockRows, laneCount, seriesNames });
    const block = () => filled.take(this.#ownGroups);
    for (const { path, open, afterRead, onFailure } of this.files) {
      const counts = { times: 0, rows: 0 };
      let source: PanelSource | null = null;
      try {
        source = await open();
        expectColumns(path, source, { fields, groups: ofFile });
        const lanes = Int32Array.from(source.symbols, (symbol) => this.#laneOf.get(symbol)!);
        for await (const read of source.blocks({ fields, groups: ofFile, blockRows, signal })) {
          const recoded = this.#recoded(read, ofFile);
          for (let row = 0; row < read.rowCount; ) {
            const end = Math.min(read.rowCount, row + blockRows - filled.rowCount);
            filled.add(recoded, lanes, row, end);
            row = end;
            if (filled.rowCount === blockRows) yield block();
          }
          counts.times += read.rowCount;
          for (let cell = read.rowCount * lanes.length - 1; cell >= 0; cell--)
            counts.rows += read.present[cell]!;
        }
        await afterRead?.(counts);
      } catch (error) {
        onFailure?.(error);
        throw error;
      } finally {
        await source?.close();
      }
    }
    if (filled.rowCount > 0) yield block();
  }

  async close(): Promise<void> {}

  /** The block with the job's codes of labels in place of the file's. */
  #recoded(block: PanelBlock, names: readonly string[]): PanelBlock {
    if (names.length === 0) return block;
    const groups = names.map((name) => {
      this.labels[name] ??= [];
      const known = this.labels[name];
      const group = block.groups.get(name)!;
      const codeOf = new Map(known.map((label, code) => [label, code]));
      const codes = group.labels.map((label) => codeOf.get(label) ?? known.push(label) - 1);
      const recoded = sharedCodes(group.codes.length);
      for (let cell = 0; cell < recoded.length; cell++) recoded[cell] = codes[group.codes[cell]!] ?? -1;
      return [name, { ...group, codes: recoded }] as const;
    });
    return { ...block, groups: new Map(groups) };
  }
}

interface LaneBlockShape {
  readonly fields: readonly string[];
  readonly groups: readonly string[];
  readonly blockRows: number;
  readonly laneCount: number;
  readonly seriesNames: readonly string[];
}

/** A block that is filled with rows of files. */
class LaneBlock {
  rowCount = 0;
  readonly #laneCount: number;
  readonly #seriesNames: readonly string[];
  readonly #times: BigInt64Array;
  readonly #present: Uint8Array;
  readonly #fields: ReadonlyMap<string, Float64Array<SharedArrayBuffer>>;
  readonly #groups: ReadonlyMap<string, GroupColumn>;

  constructor({ fields, groups, blockRows, laneCount, seriesNames }: LaneBlockShape) {
    this.#seriesNames = seriesNames;
    const cells = blockRows * laneCount;
    this.#laneCount = laneCount;
    this.#times = new BigInt64Array(blockRows);
    this.#present = new Uint8Array(cells);
    this.#fields = new Map(fields.map((name) => [name, sharedColumn(cells)]));
    this.#groups = new Map(
      groups.map((name) => [name, { name, labels: [], codes: sharedCodes(cells), changesOverTime: true }]),
    );
  }

  /** Adds the rows `from` to `end` of a file's block; lanes that the file lacks are null, but in series. */
  add(block: PanelBlock, lanes: Int32Array, from: number, end: number): void {
    const rows = { lanes, laneCount: this.#laneCount, from, end, at: this.rowCount };
    this.#times.set(block.times.subarray(from, end), this.rowCount);
    spread(block.present, this.#present, rows, 0);
    for (const [name, column] of this.#fields) {
      if (this.#seriesNames.includes(name)) repeat(block.fields.get(name)!, column, rows);
      else spread(block.fields.get(name)!, column, rows, Number.NaN);
    }
    for (const [name, { codes }] of this.#groups) spread(block.groups.get(name)!.codes, codes, rows, -1);
    this.rowCount += end - from;
  }

  /** The rows so far; the next ones take their place. */
  take(ownGroups: ReadonlyMap<string, GroupColumn>): PanelBlock {
    const { rowCount } = this;
    this.rowCount = 0;
    return {
      rowCount,
      times: this.#times,
      present: this.#present,
      fields: this.#fields,
      groups: new Map([...ownGroups, ...this.#groups]),
    };
  }
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

/** Copies the value that all lanes of a file have to all lanes of the job. */
function repeat(source: Float64Array, target: Float64Array, rows: SpreadRows): void {
  const { lanes, laneCount, from, end, at } = rows;
  for (let row = from; row < end; row++) {
    const first = (at + row - from) * laneCount;
    target.fill(source[row * lanes.length]!, first, first + laneCount);
  }
}

/** Copies rows of a file's lanes to lanes of the job; other lanes get the value `absent`. */
function spread<T extends Float64Array | Int32Array | Uint8Array>(
  source: T,
  target: T,
  { lanes, laneCount, from, end, at }: SpreadRows,
  absent: number,
): void {
  const first = at * laneCount;
  // Symbols of a file are in the order of those of the job: as many are the same.
  if (lanes.length === laneCount) {
    target.set(source.subarray(from * laneCount, end * laneCount) as never, first);
    return;
  }
  target.fill(absent, first, first + (end - from) * laneCount);
  for (let row = from; row < end; row++) {
    const [sourceCell, targetCell] = [row * lanes.length, (at + row - from) * laneCount];
    for (let lane = 0; lane < lanes.length; lane++)
      target[targetCell + lanes[lane]!] = source[sourceCell + lane]!;
  }
}
