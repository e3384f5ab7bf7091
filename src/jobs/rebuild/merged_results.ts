/** Old results and rows that were evaluated again, as one stream in the order of time. */
import type { FactorBlock } from "../../data/factors/factor_batches.ts";
import type { PanelSource } from "../../data/panel/panel_source.ts";

export interface OldResults {
  readonly source: PanelSource;
  /** The source's name of each column of the result that it has. */
  readonly nameOf: ReadonlyMap<string, string>;
}

export interface MergeSpec {
  /** The lanes of the result, in code-unit order; those of the old results are among them. */
  readonly symbols: readonly string[];
  /** The factors of the result. */
  readonly columns: readonly string[];
  /** Null if there are none. */
  readonly old: OldResults | null;
  /** Rows `[rows x symbols]`, ascending, of some columns. */
  readonly evaluated: AsyncIterable<FactorBlock>;
  /** The columns of these rows. Of the others old values stay, null where there are none. */
  readonly evaluatedColumns: ReadonlySet<string>;
  /** Between these times, both included, a row that was not evaluated is gone. */
  readonly from: bigint;
  readonly to: bigint;
  /** False: infinities are null in results. */
  readonly keepInfinite: boolean;
  readonly blockRows: number;
}

export interface MergedBlock extends FactorBlock {
  readonly columns: ReadonlyMap<string, Float64Array>;
  /** Of each row 1 if it is not, bit by bit, what the old results hold. A row that is gone has no present cell. */
  readonly differs: Uint8Array;
}

/** Merges by time. The arrays of a block are used again for the next one. */
export async function* mergedResults(spec: MergeSpec): AsyncGenerator<MergedBlock, void, void> {
  const { symbols, columns, blockRows } = spec;
  const old = rowsOf(oldBlocks(spec));
  const evaluated = rowsOf(spec.evaluated);
  const merged = new MergedRows(symbols.length, columns, blockRows);
  try {
    let [before, now] = [await next(old), await next(evaluated)];
    while (before !== null || now !== null) {
      const isBefore = before !== null && (now === null || before.time <= now.time);
      const isNow = now !== null && (before === null || now.time <= before.time);
      merged.add(isBefore ? before : null, isNow ? now : null, spec);
      if (merged.isFull) yield merged.take();
      if (isBefore) before = await next(old);
      if (isNow) now = await next(evaluated);
    }
    if (!merged.isEmpty) yield merged.take();
  } finally {
    await old.return();
    await evaluated.return();
  }
}

/** A row of a block. */
interface Row {
  readonly time: bigint;
  readonly block: FactorBlock;
  /** Its first cell. */
  readonly first: number;
}

async function* rowsOf(blocks: AsyncIterable<FactorBlock>): AsyncGenerator<Row, void, void> {
  for await (const block of blocks) {
    const laneCount = block.rowCount === 0 ? 0 : block.present.length / block.rowCount;
    for (let row = 0; row < block.rowCount; row++)
      yield { time: block.times[row]!, block, first: row * laneCount };
  }
}

async function next(rows: AsyncGenerator<Row, void, void>): Promise<Row | null> {
  const { value } = await rows.next();
  return value ?? null;
}

/** The old results in the lanes and under the names of the merged ones. */
async function* oldBlocks({ symbols, old, blockRows }: MergeSpec): AsyncGenerator<FactorBlock, void, void> {
  if (old === null) return;
  const { source, nameOf } = old;
  const laneOf = new Map(symbols.map((symbol, lane) => [symbol, lane]));
  const lanes = source.symbols.map((symbol) => laneOf.get(symbol)!);
  const request = { fields: [...new Set(nameOf.values())], groups: [], blockRows };
  for await (const { rowCount, times, present, fields } of source.blocks(request)) {
    const spread = <T extends Float64Array | Uint8Array>(values: T, target: T): T => {
      for (let row = 0; row < rowCount; row++)
        for (const [lane, to] of lanes.entries())
          target[row * symbols.length + to] = values[row * lanes.length + lane]!;
      return target;
    };
    const cellCount = rowCount * symbols.length;
    const columns = [...nameOf].map(([column, name]) => {
      const values = new Float64Array(cellCount).fill(Number.NaN);
      return [column, spread(fields.get(name)! as Float64Array, values)] as const;
    });
    yield {
      rowCount,
      times,
      present: spread(present, new Uint8Array(cellCount)),
      columns: new Map(columns),
    };
  }
}

/** Rows that are merged until there is a block of them. */
class MergedRows {
  readonly #laneCount: number;
  readonly #times: BigInt64Array;
  readonly #present: Uint8Array;
  readonly #differs: Uint8Array;
  readonly #columns: ReadonlyMap<string, Float64Array>;
  #rowCount = 0;

  constructor(laneCount: number, columns: readonly string[], blockRows: number) {
    this.#laneCount = laneCount;
    this.#times = new BigInt64Array(blockRows);
    this.#present = new Uint8Array(blockRows * laneCount);
    this.#differs = new Uint8Array(blockRows);
    this.#columns = new Map(columns.map((name) => [name, new Float64Array(blockRows * laneCount)]));
  }

  get isEmpty(): boolean {
    return this.#rowCount === 0;
  }

  get isFull(): boolean {
    return this.#rowCount === this.#times.length;
  }

  /** Adds a time that the old results, the evaluated ones or both have. */
  add(old: Row | null, evaluated: Row | null, { evaluatedColumns, from, to, keepInfinite }: MergeSpec): void {
    const { time } = (old ?? evaluated)!;
    const isGone = evaluated === null && time >= from && time <= to;
    const shown = isGone ? null : (evaluated ?? old);
    const at = this.#rowCount++ * this.#laneCount;
    this.#times[this.#rowCount - 1] = time;
    let differs = old === null || isGone;
    for (let lane = 0; lane < this.#laneCount; lane++) {
      const isPresent = shown === null ? 0 : shown.block.present[shown.first + lane]!;
      this.#present[at + lane] = isPresent;
      differs ||= old!.block.present[old!.first + lane] !== isPresent;
    }
    for (const [name, target] of this.#columns) {
      const own = old?.block.columns.get(name) ?? null;
      const source = evaluated !== null && evaluatedColumns.has(name) ? evaluated : isGone ? null : old;
      const values = source?.block.columns.get(name) ?? null;
      differs ||= own === null;
      for (let lane = 0; lane < this.#laneCount; lane++) {
        const cell = at + lane;
        const value =
          values === null || this.#present[cell] === 0 ? Number.NaN : values[source!.first + lane]!;
        target[cell] = keepInfinite || Number.isFinite(value) ? value : Number.NaN;
        differs ||= !Object.is(target[cell], own![old!.first + lane]);
      }
    }
    this.#differs[this.#rowCount - 1] = differs ? 1 : 0;
  }

  take(): MergedBlock {
    const rowCount = this.#rowCount;
    this.#rowCount = 0;
    const cells = rowCount * this.#laneCount;
    return {
      rowCount,
      times: this.#times.subarray(0, rowCount),
      present: this.#present.subarray(0, cells),
      differs: this.#differs.subarray(0, rowCount),
      columns: new Map([...this.#columns].map(([name, values]) => [name, values.subarray(0, cells)])),
    };
  }
}
