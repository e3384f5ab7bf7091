import { WORD_BITS } from "../dag/dag.ts";
import { InternalError } from "../errors.ts";
import type { Plan, PlanNode } from "./plan.ts";

/** What the nodes of a plan do in one run, by node id. */
export interface NodeSelection {
  /** 1 for nodes that run. */
  readonly isRun: Uint8Array;
  /** First row of each node: the block's first, or an earlier one to catch up. */
  readonly startRows: Float64Array;
  /**
   * 1 where window state is rebuilt as of the row before the start; 0 where it is there, or as the last block of the node
   * found it.
   */
  readonly isRebuilt: Uint8Array;
}

/** True if the run is that of all nodes over the block. */
export function runsWhole({ isRun, startRows, isRebuilt }: NodeSelection, firstRow: number): boolean {
  for (let id = 0; id < isRun.length; id++)
    if (isRun[id] === 0 || startRows[id] !== firstRow || isRebuilt[id] === 1) return false;
  return true;
}

/** The set of a node that runs every time. */
const ALWAYS = -1;

/** No node starts at this row. */
const NO_ROW = -1;

/**
 * Selects the nodes that a run needs. Remembers how far the others are current, so that they can catch up later.
 *
 * A node that was skipped for at most `replayRows` rows runs those rows first. Everything it reads is still there, also
 * from other conditional nodes: they were needed whenever it was, and replay at least the same rows. After a longer gap
 * it starts `catchUpRows` rows early, with its windows rebuilt. `catchUpRows` is at most `replayRows`, so no node
 * starts before row 0; windows that reach beyond it find the nulls of the empty arena.
 */
export class CatchUp {
  readonly #nodes: readonly PlanNode[];
  readonly #blockRows: number;
  /** The distinct sets of conditions, and for each node the index of its own. */
  readonly #sets: readonly (readonly number[])[];
  readonly #setOfNode: Int32Array;
  /** For each set 1 if one of its conditions holds. */
  readonly #isSetNeeded: Uint8Array;
  /** Conditions that hold, as 32-bit words. */
  readonly #words: Int32Array;
  /** For each node the row before which all rows have run, and the row up to which its windows have advanced. */
  readonly #currentRows: Float64Array;
  readonly #stateRows: Float64Array;
  readonly #selection: NodeSelection;

  constructor({ nodes, blockRows }: Pick<Plan, "nodes" | "blockRows">) {
    const ids = new Map<string, number>();
    const sets: (readonly number[])[] = [];
    this.#nodes = nodes;
    this.#blockRows = blockRows;
    this.#setOfNode = Int32Array.from(nodes, ({ conditions }) => {
      if (conditions === null) return ALWAYS;
      const key = conditions.join(" ");
      const id = ids.get(key) ?? sets.push(conditions) - 1;
      ids.set(key, id);
      return id;
    });
    this.#sets = sets;
    this.#isSetNeeded = new Uint8Array(sets.length);
    this.#words = new Int32Array(sets.reduce((most, { length }) => Math.max(most, length), 0));
    this.#currentRows = new Float64Array(nodes.length);
    this.#stateRows = new Float64Array(nodes.length);
    this.#selection = {
      isRun: new Uint8Array(nodes.length),
      startRows: new Float64Array(nodes.length),
      isRebuilt: new Uint8Array(nodes.length),
    };
  }

  /**
   * Selects the nodes of a block; the result is reused by the next call. A block may be selected again, also under
   * other conditions.
   *
   * @param areTrue whether each condition of the program holds in this run; null: all do
   * @param addsRemainingNodes the block has run under other conditions, over the same input: only nodes left out then
   *   run
   */
  select(areTrue: readonly boolean[] | null, firstRow: number, addsRemainingNodes = false): NodeSelection {
    this.#decideSets(areTrue);
    const { isRun, startRows, isRebuilt } = this.#selection;
    for (let id = 0; id < isRun.length; id++) {
      const set = this.#setOfNode[id]!;
      isRun[id] = set === ALWAYS ? 1 : this.#isSetNeeded[set]!;
      if (addsRemainingNodes && this.#currentRows[id]! > firstRow) isRun[id] = 0;
      startRows[id] = set === ALWAYS ? firstRow : this.#startRow(id, firstRow);
      const advancedRows = this.#stateRows[id]! - startRows[id]!;
      isRebuilt[id] = set === ALWAYS || advancedRows === 0 || advancedRows === this.#blockRows ? 0 : 1;
    }
    return this.#selection;
  }

  /**
   * The selected block, from `firstRow` to before `endRow`, runs. If it is interrupted, `restore` the positions before.
   *
   * @param addsRemainingNodes as for `select`
   */
  commit({ isRun }: NodeSelection, firstRow: number, endRow: number, addsRemainingNodes = false): void {
    for (let id = 0; id < isRun.length; id++) {
      if (isRun[id] === 1) {
        this.#currentRows[id] = endRow;
        this.#stateRows[id] = endRow;
      } else if (!addsRemainingNodes) {
        if (this.#currentRows[id]! <= firstRow) continue;
        // It ran over these rows before their input changed: its windows hold values that no longer exist.
        this.#currentRows[id] = firstRow;
        this.#stateRows[id] = NO_ROW;
      }
    }
  }

  /**
   * The state that `restore` needs, for a checkpoint.
   *
   * @param wasInterrupted an interrupted run may have begun rows: `restore` must rebuild the state of all nodes
   */
  positions(wasInterrupted = false): Float64Array {
    const { length } = this.#currentRows;
    const positions = new Float64Array(2 * length).fill(NO_ROW);
    positions.set(this.#currentRows);
    if (!wasInterrupted) positions.set(this.#stateRows, length);
    return positions;
  }

  /** @throws InternalError if the positions belong to another plan. */
  restore(positions: Float64Array): void {
    const { length } = this.#currentRows;
    if (positions.length !== 2 * length) throw new InternalError("positions of another plan");
    this.#currentRows.set(positions.subarray(0, length));
    this.#stateRows.set(positions.subarray(length));
  }

  #startRow(id: number, firstRow: number): number {
    const { catchUpRows, replayRows } = this.#nodes[id]!;
    const currentRow = Math.min(this.#currentRows[id]!, firstRow);
    return firstRow - currentRow <= replayRows ? currentRow : firstRow - catchUpRows;
  }

  #decideSets(areTrue: readonly boolean[] | null): void {
    const words = this.#words.fill(areTrue === null ? -1 : 0);
    for (let i = 0; i < (areTrue?.length ?? 0); i++) {
      if (areTrue![i]) words[Math.floor(i / WORD_BITS)]! |= 1 << (i % WORD_BITS);
    }
    for (let set = 0; set < this.#sets.length; set++) {
      const conditions = this.#sets[set]!;
      let any = 0;
      for (let i = 0; i < conditions.length; i++) any |= conditions[i]! & words[i]!;
      this.#isSetNeeded[set] = any === 0 ? 0 : 1;
    }
  }
}
