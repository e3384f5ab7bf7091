import { THREADS_MAX } from "../../limits.ts";
import type { Plan, PlanNode } from "../../plan/plan.ts";
import type { Arena } from "../memory/arena.ts";
import type { Block, KernelSet } from "../memory/kernel_set.ts";
import { VALUE_BYTES } from "../memory/vectors.ts";
import { paddedLanes } from "../rows/layout/padded_row.ts";
import { rowColumns } from "../rows/row_kernel.ts";
import { CHOSEN_PLACES } from "../rows/split/share_lists.ts";
import { resultsName, summaryName } from "../rows/split/step_function.ts";
import { partRange } from "./part_range.ts";
import { ValueRanges } from "./value_ranges.ts";

type Step = (...values: number[]) => number;

/** Looks at a word between two reads of the clock: about a microsecond. */
const LOOKS = 16;

/** Words in front of what the code shares: for each share the run in which it was begun, then those in which it was done. */
export const SHARE_WORDS_BYTES = 2 * THREADS_MAX * Int32Array.BYTES_PER_ELEMENT;

/** How long a share takes before one has been measured, in ms. */
const SHARE_MS = 0.2;

/**
 * Runs parts of a row node that is split over lanes. Each part summarises its share of the row, and shares that no other
 * part has begun; then it waits for the rest, but not longer than a share takes: what is missing it makes itself, with
 * the same bits. So parts that stand behind other work, or were lost with their thread, keep none waiting.
 */
export class SplitRow {
  readonly #plan: Plan;
  readonly #node: PlanNode;
  readonly #arena: Arena;
  readonly #columns: readonly number[];
  /** By share, one more than the number of a run. */
  readonly #begun: Int32Array;
  readonly #done: Int32Array;
  /** Address of what the code shares. */
  readonly #shared: number;
  readonly #summarise: Step;
  readonly #store: Step;
  readonly #keyColumn: number;
  readonly #ranges: ValueRanges | null;
  /** An executor begins with the same share in every row: what its code keeps from row to row is of use. */
  readonly #firstShare: number;
  #addresses: readonly number[] = [];
  /** What the last share took. */
  #shareMs = SHARE_MS;

  constructor(
    plan: Plan,
    node: PlanNode,
    arena: Arena,
    { kernels, executor }: { readonly kernels: KernelSet; readonly executor: number },
    exports: WebAssembly.Exports,
  ) {
    const { buffer } = arena.values;
    const { byteOffset: words, keyColumn } = kernels.splitRows.get(node.id)!;
    this.#plan = plan;
    this.#firstShare = executor % node.partCount;
    this.#node = node;
    this.#arena = arena;
    this.#columns = rowColumns(plan, plan.tasks[node.tasks[0]!]!);
    this.#begun = new Int32Array(buffer, words, THREADS_MAX);
    this.#done = new Int32Array(buffer, words + SHARE_WORDS_BYTES / 2, THREADS_MAX);
    this.#shared = words + SHARE_WORDS_BYTES;
    if (keyColumn !== null) new Int32Array(buffer, this.#shared, CHOSEN_PLACES.length).set(CHOSEN_PLACES);
    this.#keyColumn = keyColumn ?? 0;
    this.#ranges = keyColumn !== null ? new ValueRanges(arena.values, plan.laneCount, node.partCount) : null;
    this.#summarise = exports[summaryName(node.id)] as Step;
    this.#store = exports[resultsName(node.id)] as Step;
  }

  /** False if the reference has to compute the part's lanes. */
  run(row: number, part: number, { run }: Block): boolean {
    const { partCount } = this.#node;
    this.#findRow(row);
    const word = run === undefined ? null : (run + 1) | 0;
    for (let i = 0; i < partCount; i++) this.#begin((this.#firstShare + i) % partCount, word);
    const untilMs = performance.now() + this.#shareMs;
    if (word !== null)
      for (let share = 0; share < partCount; share++)
        if (!this.#awaits(share, word, untilMs)) this.#make(share, word);
    return this.#step(this.#store, part) === 0;
  }

  #findRow(row: number): void {
    const { laneCount } = this.#plan;
    const starts = this.#columns.map((column) => this.#arena.rowStart(column, row));
    // The code reads whole steps; what lies behind the row belongs to no lane.
    for (const start of starts)
      this.#arena.values.fill(Number.NaN, start + laneCount, start + paddedLanes(laneCount));
    this.#addresses = starts.map((start) => start * VALUE_BYTES);
    this.#ranges?.find(starts[this.#keyColumn]!);
  }

  /** Makes the summary of a share unless another part has begun it. */
  #begin(share: number, word: number | null): void {
    if (word !== null && Atomics.exchange(this.#begun, share, word) === word) return;
    this.#make(share, word);
  }

  #make(share: number, word: number | null): void {
    const startedAt = performance.now();
    this.#step(this.#summarise, share);
    this.#shareMs = performance.now() - startedAt;
    if (word !== null) Atomics.store(this.#done, share, word);
  }

  /** False if the summary of a share is not there in time. */
  #awaits(share: number, word: number, untilMs: number): boolean {
    do {
      for (let look = 0; look < LOOKS; look++) {
        if (Atomics.load(this.#done, share) === word) return true;
        Atomics.pause();
      }
    } while (performance.now() < untilMs);
    return false;
  }

  #step(step: Step, share: number): number {
    const { partCount } = this.#node;
    const { laneStart, laneEnd } = partRange(this.#node, share, 0, 1, this.#plan.laneCount);
    const [low, high] = this.#ranges?.of(share) ?? [];
    return step(...this.#addresses, this.#shared, share, partCount, laneStart, laneEnd, low!, high!);
  }
}
