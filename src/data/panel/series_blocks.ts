/** Copies series, which have one value per panel row, to all lanes, block by block. */
import type { BlockRequest } from "./panel_source.ts";

/** Blocks alternate between two buffers, as those of `PanelBlock`. */
export class SeriesBlocks {
  readonly #series: readonly (readonly [name: string, values: Float64Array])[];
  readonly #laneCount: number;
  readonly #buffers: [older: SeriesBuffers, newer: SeriesBuffers] = [new Map(), new Map()];
  #row: number;

  /** @param series `[rows]` each; those that the request does not name are ignored */
  constructor(series: ReadonlyMap<string, Float64Array>, laneCount: number, { fields, rows }: BlockRequest) {
    this.#series = [...series].filter(([name]) => fields.includes(name));
    this.#laneCount = laneCount;
    this.#row = rows?.first ?? 0;
  }

  /** The fields `[rows x lanes]` of the next rows. */
  next(rowCount: number): SeriesBuffers {
    const cellCount = rowCount * this.#laneCount;
    const buffers = this.#buffers[0];
    this.#buffers.reverse();
    const block = new Map<string, Float64Array<SharedArrayBuffer>>();
    for (const [name, values] of this.#series) {
      let buffer = buffers.get(name);
      if (buffer === undefined || buffer.length < cellCount) {
        buffer = new Float64Array(new SharedArrayBuffer(cellCount * 8));
        buffers.set(name, buffer);
      }
      for (let row = 0; row < rowCount; row += 1) {
        buffer.fill(values[this.#row + row]!, row * this.#laneCount, (row + 1) * this.#laneCount);
      }
      block.set(name, buffer.subarray(0, cellCount));
    }
    this.#row += rowCount;
    return block;
  }
}

type SeriesBuffers = Map<string, Float64Array<SharedArrayBuffer>>;
