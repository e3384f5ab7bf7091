import type { NodeSelection } from "../../plan/catch_up.ts";
import type { Plan } from "../../plan/plan.ts";
import type { KernelSet } from "../memory/kernel_set.ts";

/**
 * Saves what the next row's run overwrites of the state before the newest row, so that the newest row can run again
 * after that run was interrupted: of every column and ring the oldest row, the recurrences before the newest row, and
 * the snapshots of windows. For plans with one row per block, with snapshots.
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

  /** Call it before the row runs, while nothing runs. @param generation that the run reads */
  save(row: number, generation: 0 | 1): void {
    this.#spans = spansOf(this.#plan, this.#kernels, row, generation);
    let position = 0;
    for (const { start, bytes } of this.#spans) {
      this.#saved.set(this.#arena.subarray(start, start + bytes), position);
      position += bytes;
    }
  }

  /** Call it when nothing of the row runs any more; the row before it must then run again. */
  restore(): void {
    let position = 0;
    for (const { start, bytes } of this.#spans) {
      this.#arena.set(this.#saved.subarray(position, position + bytes), start);
      position += bytes;
    }
  }
}

/** True if a run overwrites only its own row: no node catches up. */
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

/** What a run of the row overwrites, except windows themselves: those are restored from their snapshots. */
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
