import type { FactorBlock } from "../../data/factors/factor_batches.ts";
import { type PanelSource, panelOf } from "../../data/panel/panel_source.ts";
import type { MemoryBudget } from "../memory/memory_budget.ts";
import { KeptFile } from "./kept_file.ts";

/** The values of an output in a block: in memory, or in the file; in neither when they are not read any more. */
interface KeptColumn {
  readonly byteLength: number;
  bytes: Uint8Array | null;
  place: number | null;
}

interface KeptBlock {
  /** First row in the panel. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** The outputs; then the marks of presence, if the source has them in blocks only. */
  readonly columns: readonly KeptColumn[];
}

/**
 * Computed blocks that are read again and again, each output by itself. What does not fit into memory is written to one file,
 * whose pages the system keeps in memory as long as it can.
 */
export class KeptBlocks {
  readonly #budget: MemoryBudget;
  readonly #source: PanelSource;
  readonly #blocks: KeptBlock[] = [];
  #nextRow: number;
  #file: Promise<KeptFile> | null = null;
  #readerCount = 0;
  /** Why there is nothing to read any more: what was written is lost, or everything is closed. */
  #end: Error | null = null;

  /** @param firstRow panel row of the first block */
  constructor(budget: MemoryBudget, source: PanelSource, firstRow: number) {
    this.#budget = budget;
    this.#source = source;
    this.#nextRow = firstRow;
  }

  /** Keeps a copy of the next block. @throws ResourceError E444 if there is no place for it. */
  async append({ rowCount, present, columns }: FactorBlock): Promise<void> {
    if (this.#end) throw this.#end;
    const parts: Uint8Array[] = [];
    for (const values of columns.values())
      if (values) parts.push(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    if (!panelOf(this.#source)) parts.push(present);
    const kept = parts.map(({ byteLength }): KeptColumn => ({ byteLength, bytes: null, place: null }));
    this.#blocks.push({ firstRow: this.#nextRow, rowCount, columns: kept });
    this.#nextRow += rowCount;
    const byteLength = parts.reduce((sum, part) => sum + part.byteLength, 0);
    if (this.#budget.keep(byteLength)) {
      for (const [index, part] of parts.entries()) kept[index]!.bytes = part.slice();
    } else await this.#write(kept, parts);
  }

  /**
   * The blocks again, with these outputs as factors: null for a factor without values. A block is valid until the next one.
   *
   * @throws ResourceError E444 if they could not be written or read.
   */
  async *read(factors: ReadonlyMap<string, number | null>): AsyncGenerator<FactorBlock, void, void> {
    const { time, laneCount } = this.#source;
    const inMemory = panelOf(this.#source)?.present;
    const spaces: Uint8Array[] = [];
    this.#readerCount++;
    try {
      for (const block of this.#blocks) {
        const { firstRow, rowCount } = block;
        const end = firstRow + rowCount;
        const reading = [...factors].map(async ([name, output]) => {
          if (output === null) return [name, null] as const;
          const { buffer, byteOffset } = await this.#bytes(block.columns[output]!, spaces, output);
          return [name, new Float64Array(buffer, byteOffset, rowCount * laneCount)] as const;
        });
        const columns = new Map(await Promise.all(reading));
        const present =
          inMemory?.subarray(firstRow * laneCount, end * laneCount) ??
          (await this.#bytes(block.columns.at(-1)!, spaces, block.columns.length));
        yield { rowCount, times: time.values.subarray(firstRow, end), present, columns };
      }
    } finally {
      this.#readerCount--;
    }
    if (this.#end) throw this.#end;
  }

  /** Discards an output that is not read any more. */
  discard(output: number): void {
    for (const block of this.#blocks) this.#discard(block.columns[output]!);
  }

  /** Discards everything and releases memory and disk. May be called twice. */
  async close(): Promise<void> {
    this.#end ??= new Error("kept results were closed");
    for (const column of this.#blocks.splice(0).flatMap(({ columns }) => columns)) this.#discard(column);
    const file = await this.#file?.catch(() => null);
    await file?.close();
  }

  async #write(columns: readonly KeptColumn[], parts: readonly Uint8Array[]): Promise<void> {
    this.#file ??= KeptFile.open();
    const file = await this.#file;
    let place = await file.write(parts);
    if (this.#end) throw this.#end;
    for (const column of columns) {
      column.place = place;
      place += column.byteLength;
      this.#budget.noteSpilled(column.byteLength);
    }
  }

  /** The bytes of a column; those of the file are read into the space of this number. */
  async #bytes(
    { bytes, place, byteLength }: KeptColumn,
    spaces: Uint8Array[],
    space: number,
  ): Promise<Uint8Array> {
    if (this.#end) throw this.#end;
    if (bytes) return bytes;
    if ((spaces[space]?.length ?? 0) < byteLength) spaces[space] = new Uint8Array(byteLength);
    const target = spaces[space]!.subarray(0, byteLength);
    await (await this.#file!).read(target, place!);
    return target;
  }

  #discard(column: KeptColumn): void {
    const { bytes, place, byteLength } = column;
    if (place !== null) this.#budget.noteSpilled(-byteLength);
    if (bytes) this.#budget.letGo(byteLength);
    // At once, if nobody reads: V8 would free the memory later, and the process would grow meanwhile.
    if (bytes && this.#readerCount === 0) (bytes.buffer as ArrayBuffer).transfer(0);
    column.bytes = null;
    column.place = null;
  }
}
