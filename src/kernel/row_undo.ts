import type { NodeSelection } from "../plan/catch_up.ts";
import type { Plan } from "../plan/plan.ts";
import type { KernelSet } from "./kernel_set.ts";

/**
 * Keeps what the run of the next row overwrites of what the newest one started from, so that the newest row can be run
 * again though the run after it was cut off: of every column and ring the row that falls out, what recurrences carried
 * before the newest row, and the snapshots of windows. For plans of one row a block, with snapshots.
 */
export class RowUndo {
  readonly #plan: Plan;
  readonly #kernels: KernelSet;
  readonly #arena: Uint8Array;
  readonly #saved: Uint8Array;
  #spans: readonly Span[] = [];

  /** Bytes that it allocates. */
  static bytesOf(plan: Plan, kernels: KernelSet): number {
    return spansOf(plan, kernels, 0, 0).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  constructor(plan: Plan, kernels: KernelSet, memory: WebAssembly.Memory) {
    this.#plan = plan;
    this.#kernels = kernels;
    this.#arena = new Uint8Array(memory.buffer);
    this.#saved = new Uint8Array(RowUndo.bytesOf(plan, kernels));
  }

  /** To be called before the row is run, while nothing runs. @param generation that the run reads */
  save(row: number, generation: 0 | 1): void {
    this.#spans = spansOf(this.#plan, this.#kernels, row, generation);
    let position = 0;
    for (const { start, bytes } of this.#spans) {
      this.#saved.set(this.#arena.subarray(start, start + bytes), position);
      position += bytes;
    }
  }

  /** To be called when nothing of the row runs any more; then the row before it is to be run again. */
  restore(): void {
    let position = 0;
    for (const { start, bytes } of this.#spans) {
      this.#arena.set(this.#saved.subarray(position, position + bytes), start);
      position += bytes;
    }
  }
}

/** True if a run overwrites no other rows than the one that it is of: no node catches up. */
export function runsOneRow(selection: NodeSelection | null, row: number): boolean {
  if (selection === null) return true;
  const { isRun, startRows, isRebuilt } = selection;
  for (let node = 0; node < isRun.length; node++)
    if (isRun[node] === 1 && (startRows[node]! < row || isRebuilt[node] === 1)) return false;
  return true;
}

interface Span {
  readonly start: number;
  readonly bytes: number;
}

/** What a run of the row overwrites, but for windows themselves: they are made of their snapshots. */
function spansOf(
  { columns, nodes, rowBytes }: Plan,
  { rings, states, stampByteOffset }: KernelSet,
  row: number,
  generation: 0 | 1,
): Span[] {
  const rows = [...columns, ...rings].map(({ byteOffset, ringRows }) => ({
    start: byteOffset + (row % ringRows) * rowBytes,
    bytes: rowBytes,
  }));
  const carried = [...states.values()].flatMap(
    ({ recurrences, recurrenceByteOffsets, windows, snapshotByteOffset }) => [
      { start: recurrenceByteOffsets[1 - generation]!, bytes: recurrences.length * rowBytes },
      { start: snapshotByteOffset!, bytes: windows.length * rowBytes },
    ],
  );
  const partCount = nodes.reduce((sum, node) => sum + node.partCount, 0);
  const stamps = { start: stampByteOffset, bytes: 2 * partCount * Int32Array.BYTES_PER_ELEMENT };
  return [...rows, ...carried, stamps];
}
