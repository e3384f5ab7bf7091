import { ResourceError } from "../../errors.ts";
import type { Evaluation } from "../../evaluation/evaluation.ts";
import type { MemoryBudget } from "../../evaluation/memory_budget.ts";
import { RowUndo } from "../../kernel/run/row_undo.ts";

/** The state before the newest row of a session, kept while the next row runs and may be aborted. */
export class NewestState {
  readonly #budget: MemoryBudget;
  readonly #evaluation: Evaluation;
  #undo: RowUndo | null = null;
  #release: (() => void) | null = null;
  #isInterrupted = false;

  constructor(budget: MemoryBudget, evaluation: Evaluation) {
    this.#budget = budget;
    this.#evaluation = evaluation;
  }

  /** Whether a row was interrupted since `keep` and not restored yet: parts of it may have run. */
  get isInterrupted(): boolean {
    return this.#isInterrupted;
  }

  /** Call before a row is run, while nothing runs. Returns false if memory does not suffice. */
  keep(row: number, generation: 0 | 1): boolean {
    this.#undo ??= this.#open();
    // An interrupted row has overwritten the state, which was kept before it ran.
    if (!this.#isInterrupted) this.#undo?.save(row, generation);
    return this.#undo !== null;
  }

  markInterrupted(): void {
    this.#isInterrupted = true;
  }

  /** Call while nothing runs; the newest row must then be run again. */
  restore(): void {
    this.#undo!.restore();
    this.#isInterrupted = false;
  }

  /** Discards the kept state: there is a newer row. */
  drop(): void {
    this.#isInterrupted = false;
  }

  close(): void {
    this.#release?.();
    this.#undo = null;
    this.#isInterrupted = false;
  }

  #open(): RowUndo | null {
    const { plan, kernels } = this.#evaluation;
    const bytes = { "the newest row's state": RowUndo.bytesOf(plan, kernels) };
    try {
      this.#release = this.#budget.reserve({ bytes, held: [], remedy: "" });
    } catch (error) {
      if (error instanceof ResourceError) return null;
      throw error;
    }
    return this.#evaluation.rowUndo();
  }
}
