import { ResourceError } from "../../errors.ts";
import type { Evaluation } from "../../evaluation/evaluation.ts";
import type { MemoryBudget } from "../../evaluation/memory_budget.ts";
import { RowUndo } from "../../kernel/row_undo.ts";

/** What the newest row of a session started from, kept while the next one runs that may be aborted. */
export class NewestState {
  readonly #budget: MemoryBudget;
  readonly #evaluation: Evaluation;
  #undo: RowUndo | null = null;
  #release: (() => void) | null = null;
  #isCut = false;

  constructor(budget: MemoryBudget, evaluation: Evaluation) {
    this.#budget = budget;
    this.#evaluation = evaluation;
  }

  /** True if a row was cut off since `keep`: parts of it may have run, until `restore`. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** To be called before a row is run, while nothing runs; false if there is no memory for it. */
  keep(row: number, generation: 0 | 1): boolean {
    this.#undo ??= this.#open();
    // Once a row was cut off what it overwrote is gone, and kept already.
    if (!this.#isCut) this.#undo?.save(row, generation);
    return this.#undo !== null;
  }

  noteCut(): void {
    this.#isCut = true;
  }

  /** To be called when nothing runs; then the newest row is to be run again. */
  restore(): void {
    this.#undo!.restore();
    this.#isCut = false;
  }

  /** What is kept is of a row that is not the newest any more. */
  drop(): void {
    this.#isCut = false;
  }

  close(): void {
    this.#release?.();
    this.#undo = null;
    this.#isCut = false;
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
