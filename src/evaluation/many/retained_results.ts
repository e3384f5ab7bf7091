import { type SpilledColumn, SpillFile } from "../../data/write/spill_file.ts";
import type { MemoryBudget } from "../memory/memory_budget.ts";
import type { RetainedBuffer } from "../memory/retained_buffers.ts";

/**
 * Computed values that wait to be read: each output's, block by block. They count as the engine's retained memory;
 * where that is short they are spilled to disk and read back on demand.
 */
export class RetainedResults {
  readonly #budget: MemoryBudget;
  /** By output, then in block order. */
  readonly #blocks: RetainedBlock[][];
  #file: Promise<SpillFile> | null = null;
  /** Why values could not be written to disk; they are lost. */
  #failure: Error | null = null;

  constructor(budget: MemoryBudget, outputCount: number) {
    this.#budget = budget;
    this.#blocks = Array.from({ length: outputCount }, () => []);
  }

  /** Keeps a copy of an output's next block. @throws ResourceError E444 if earlier ones could not be spilled. */
  keep(output: number, values: Float64Array): void {
    if (this.#failure) throw this.#failure;
    const block = new RetainedBlock(values.slice(), (kept) => this.#write(kept), this.#budget);
    this.#blocks[output]!.push(block);
    this.#budget.retain(block);
  }

  /**
   * The values of an output in a block, bit for bit.
   *
   * @throws ResourceError E444 if they could not be written or read.
   */
  async read(output: number, index: number): Promise<Float64Array> {
    if (this.#failure) throw this.#failure;
    const block = this.#blocks[output]![index]!;
    if (block.values) {
      this.#budget.retain(block);
      return block.lend();
    }
    const file = await (this.#file as Promise<SpillFile>);
    const values = await file.read(block.place as SpilledColumn);
    // Outputs that calls share are read again; but this one may have been discarded meanwhile.
    if (block.place && this.#budget.hasRoomFor(block.byteLength)) block.bringBack(values);
    return values;
  }

  /** Discards an output that is not read any more. */
  discard(output: number): void {
    for (const block of this.#blocks[output]!.splice(0)) block.discard();
  }

  /** Discards everything and releases memory and disk. May be called twice. */
  async close(): Promise<void> {
    for (const output of this.#blocks.keys()) this.discard(output);
    const file = await this.#file?.catch(() => null);
    await file?.close();
  }

  async #write(values: Float64Array): Promise<SpilledColumn | null> {
    try {
      this.#file ??= SpillFile.open();
      return await (await this.#file).write(values);
    } catch (error) {
      this.#failure ??= error as Error;
      return null;
    }
  }
}

type Write = (values: Float64Array) => Promise<SpilledColumn | null>;

/** The values of one output in one block. */
class RetainedBlock implements RetainedBuffer {
  readonly byteLength: number;
  /** Null while they are on disk. */
  values: Float64Array | null;
  place: SpilledColumn | null = null;
  /** A reader may hold them; they are being written to disk. */
  #isLent = false;
  #isWriting = false;
  readonly #write: Write;
  readonly #budget: MemoryBudget;

  constructor(values: Float64Array, write: Write, budget: MemoryBudget) {
    this.byteLength = values.byteLength;
    this.values = values;
    this.#write = write;
    this.#budget = budget;
  }

  async spill(): Promise<void> {
    if (this.values && !this.place) {
      this.#isWriting = true;
      const place = await this.#write(this.values);
      this.#isWriting = false;
      // It may have been discarded meanwhile.
      if (place && this.values) {
        this.place = place;
        this.#budget.retained.noteSpilled(place.byteLength);
      }
    }
    this.#free();
  }

  lend(): Float64Array {
    this.#isLent = true;
    return this.values as Float64Array;
  }

  bringBack(values: Float64Array): void {
    this.values = values;
    this.#isLent = true;
    this.#budget.retain(this);
  }

  discard(): void {
    this.#budget.retained.letGo(this);
    if (this.place) this.#budget.retained.noteDiscarded(this.place.byteLength);
    this.#free();
    this.place = null;
  }

  /** At once, if nobody has them: V8 would collect them later, and the process would grow meanwhile. */
  #free(): void {
    if (this.values && !this.#isLent && !this.#isWriting) (this.values.buffer as ArrayBuffer).transfer(0);
    this.values = null;
  }
}
