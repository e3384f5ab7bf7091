import { WORD_BITS } from "../dag/dag.ts";
import { InternalError } from "../errors.ts";
import { operatorFailed } from "../operator/transfer.ts";
import { mayRest, type Plan, type PlanNode } from "./plan.ts";

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
  /** Number of the generation that recurrences read at the start. They write one for rows before the block, and one for it. */
  readonly generations: Float64Array;
}

/**
 * Which block of a plan runs: the next one; the last one `again` over other input; or the `rest` of the last one, what it
 * left out, under other conditions.
 */
export type BlockChoice = "next" | "again" | "rest";

/** Where a block begins. */
export interface BlockStart {
  readonly firstRow: number;
  /** Number of the generation that recurrences read: of nodes that run in every block. */
  readonly generation: number;
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

/** Numbers that are kept of each node. */
const POSITIONS = 3;

/** How the nodes of a run are selected. */
export interface SelectionOptions {
  /** Default: the next one. The others run alone. */
  readonly block?: BlockChoice | undefined;
  /**
   * For each condition of the program whether it holds in this run: nodes that no wanted factor needs are skipped, and
   * catch up when they are needed again. Default: all nodes run.
   */
  readonly conditions?: readonly boolean[] | undefined;
  /** Of the nodes that the conditions need only those run that may rest, with what they read. */
  readonly endsRest?: boolean | undefined;
  /** Nodes that may rest do so even where they lose a row: the caller ends their rest before (`isRestDue`), if it can. */
  readonly mayLose?: boolean | undefined;
  /** Of the nodes that would run only this many do, the first, which read nothing of the others. Default: all. */
  readonly nodesMax?: number | undefined;
  /** By node id 0 for nodes that are left out though conditions need them: no later row needs what they would make. */
  readonly mayRun?: Uint8Array | undefined;
}

/**
 * How far a plan has run: its next row, up to which row each node is current, and in which generation its recurrences
 * are. It selects the nodes that a run needs, and remembers how far the others are, so that they can catch up later.
 *
 * A node that was skipped for at most `replayRows` rows runs those rows first. Everything it reads is still there, also
 * from other conditional nodes: they were needed whenever it was, and replay at least the same rows. After a longer gap
 * it starts `catchUpRows` rows early, with its windows rebuilt. `catchUpRows` is at most `replayRows`, so no node
 * starts before row 0; windows that reach beyond it find the nulls of the empty arena. Nodes that have to run every row
 * are selected before they have missed more than `replayRows`, with all that they read, unless the block may lose them.
 *
 * A block counts from its begin on. The last one may run again, and is then undone if that fails; nothing else is.
 */
export class Progress {
  readonly #nodes: readonly PlanNode[];
  readonly #tasks: Plan["tasks"];
  readonly #blockRows: number;
  /** The distinct sets of conditions, and for each node the index of its own. */
  readonly #sets: readonly (readonly number[])[];
  readonly #setOfNode: Int32Array;
  /** For each set 1 if one of its conditions holds. */
  readonly #isSetNeeded: Uint8Array;
  /** Conditions that hold, as 32-bit words. */
  readonly #words: Int32Array;
  /** All that is kept of nodes: the next three, one after the other. */
  readonly #positions: Float64Array;
  /** The same before the last block ran again. */
  readonly #positionsBefore: Float64Array;
  /** For each node the row before which all rows have run. */
  readonly #currentRows: Float64Array;
  /** For each node the number of the generation that its recurrences carry into its current row. */
  readonly #generations: Float64Array;
  /** For each node the row up to which its windows have advanced. */
  readonly #stateRows: Float64Array;
  readonly #selection: NodeSelection;
  /** First rows of the next block, and of the last one since the start. */
  #nextRow = 0;
  #lastRow: number | null = null;
  /** Blocks since the start: the next one reads the generation of this number. */
  #blockCount = 0;

  constructor({ nodes, tasks, blockRows }: Pick<Plan, "nodes" | "tasks" | "blockRows">) {
    const ids = new Map<string, number>();
    const sets: (readonly number[])[] = [];
    this.#nodes = nodes;
    this.#tasks = tasks;
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
    this.#positions = new Float64Array(POSITIONS * nodes.length);
    this.#positionsBefore = this.#positions.slice();
    const ofNodes = (place: number) =>
      this.#positions.subarray(place * nodes.length, (place + 1) * nodes.length);
    this.#currentRows = ofNodes(0);
    this.#generations = ofNodes(1);
    this.#stateRows = ofNodes(2);
    this.#selection = {
      isRun: new Uint8Array(nodes.length),
      startRows: new Float64Array(nodes.length),
      isRebuilt: new Uint8Array(nodes.length),
      generations: new Float64Array(nodes.length),
    };
  }

  /** First row of the next block. */
  get nextRow(): number {
    return this.#nextRow;
  }

  startOf(block: BlockChoice = "next"): BlockStart {
    if (block === "next") return { firstRow: this.#nextRow, generation: this.#blockCount };
    if (this.#lastRow === null) throw new InternalError("no block has run that could run again");
    return { firstRow: this.#lastRow, generation: this.#blockCount - 1 };
  }

  /** Selects the nodes of a block; null where all run, in a plan without conditions. The result is reused by the next call. */
  select({
    block,
    conditions,
    endsRest = false,
    mayLose = false,
    nodesMax = Number.POSITIVE_INFINITY,
    mayRun,
  }: SelectionOptions = {}): NodeSelection | null {
    if (this.#sets.length === 0 && !mayRun) return null;
    const { firstRow } = this.startOf(block);
    this.#decideSets(conditions);
    this.#chooseNodes(endsRest);
    this.#addDueNodes(firstRow, mayLose);
    const { isRun, startRows, isRebuilt, generations } = this.#selection;
    let nodeCount = 0;
    for (let id = 0; id < isRun.length; id++) {
      const set = this.#setOfNode[id]!;
      const isAgain = this.#currentRows[id]! > firstRow;
      const isLeftOut = (block === "rest" && isAgain) || nodeCount === nodesMax || mayRun?.[id] === 0;
      if (isLeftOut) isRun[id] = 0;
      nodeCount += isRun[id]!;
      startRows[id] = set === ALWAYS ? firstRow : this.#startRow(id, firstRow);
      const advancedRows = this.#stateRows[id]! - startRows[id]!;
      isRebuilt[id] = advancedRows === 0 || advancedRows === this.#blockRows ? 0 : 1;
      generations[id] = this.#generations[id]! - (isAgain ? 1 : 0);
    }
    return this.#selection;
  }

  /**
   * The selected block runs.
   *
   * @throws UsageError E515 for a node that lost rows since it failed in one (`SelectionOptions.mayLose`); nothing has
   *   changed then
   */
  begin(selection: NodeSelection | null, rowCount: number, block: BlockChoice = "next"): void {
    const { firstRow } = this.startOf(block);
    if (selection) {
      this.#expectRowsKept(selection.isRun, firstRow);
      if (block !== "next") this.#positionsBefore.set(this.#positions);
      this.#advance(selection, firstRow, firstRow + rowCount, block === "rest");
    }
    if (block !== "next") return;
    this.#lastRow = firstRow;
    this.#nextRow = firstRow + rowCount;
    this.#blockCount++;
  }

  /** The last block has run `again`, or its `rest`, and failed: it is as it was before. */
  undo(): void {
    this.#positions.set(this.#positionsBefore);
  }

  #advance(
    { isRun, startRows, generations }: NodeSelection,
    firstRow: number,
    endRow: number,
    isRest: boolean,
  ): void {
    for (let id = 0; id < isRun.length; id++) {
      if (isRun[id] === 1) {
        this.#currentRows[id] = endRow;
        this.#stateRows[id] = endRow;
        this.#generations[id] = generations[id]! + (startRows[id]! < firstRow ? 2 : 1);
      } else if (!isRest) {
        if (this.#currentRows[id]! <= firstRow) continue;
        // It ran over these rows before their input changed: its windows hold values that no longer exist.
        this.#currentRows[id] = firstRow;
        this.#stateRows[id] = NO_ROW;
        this.#generations[id] = generations[id]!;
      }
    }
  }

  /**
   * Number of the generation that the recurrences of a node carry into the next row, or, with blocks of one row, into the
   * one `rowsBack` before it; null if the node has missed rows before, or has run some behind it at once.
   */
  generationBefore(node: number, rowsBack = 0): number | null {
    if (this.#sets.length === 0) return this.#blockCount - rowsBack;
    const rowsSince = this.#currentRows[node]! - (this.#nextRow - rowsBack);
    if (mayRest(this.#nodes[node]!) && rowsSince !== 0 && rowsSince !== 1) return null;
    return this.#generations[node]! - rowsSince;
  }

  /** Goes on at a row, as if nothing had run. */
  restart(row: number): void {
    this.#positions.fill(0);
    this.#nextRow = row;
    this.#lastRow = null;
    this.#blockCount = 0;
  }

  /** Whether a node that rests would lose a row if it missed the next block. */
  get isRestDue(): boolean {
    const row = this.#nextRow;
    return this.#nodes.some((node, id) => mayRest(node) && this.#isDue(id, row) && !this.#isLost(id, row));
  }

  /** @throws UsageError E515 for a node that cannot run: it failed in rows that nothing needed, and these are gone. */
  #expectRowsKept(isRun: Uint8Array, firstRow: number): void {
    const lost = isRun.findIndex((one, id) => one === 1 && this.#isLost(id, firstRow));
    if (lost < 0) return;
    const names = this.#nodes[lost]!.tasks.map((task) => this.#tasks[task]!.operator);
    const what = `${[...new Set(names)].join(", ")}, or what it reads,`;
    const problem = `${what} failed in a row that nothing needed then and that is gone`;
    throw operatorFailed(problem, null, "mend what failed there, then update the session or open it again");
  }

  #chooseNodes(endsRest: boolean): void {
    const { isRun } = this.#selection;
    for (let id = 0; id < isRun.length; id++) {
      const set = this.#setOfNode[id]!;
      const isLeftOut = endsRest && !mayRest(this.#nodes[id]!);
      isRun[id] = isLeftOut ? 0 : set === ALWAYS ? 1 : this.#isSetNeeded[set]!;
    }
  }

  /** Those that have to run every row and must not miss another block, with all that they read. */
  #addDueNodes(firstRow: number, mayLose: boolean): void {
    const { isRun } = this.#selection;
    let hasMore = false;
    for (let id = isRun.length - 1; id >= 0; id--) {
      if (isRun[id] === 1 || (mayLose && mayRest(this.#nodes[id]!)) || !this.#isDue(id, firstRow)) continue;
      isRun[id] = 1;
      hasMore = true;
    }
    for (let id = isRun.length - 1; hasMore && id >= 0; id--)
      if (isRun[id] === 1) for (const input of this.#nodes[id]!.inputs) isRun[input] = 1;
  }

  #isDue(id: number, firstRow: number): boolean {
    const { catchUpRows, replayRows } = this.#nodes[id]!;
    return catchUpRows === null && firstRow - this.#currentRows[id]! + this.#blockRows > replayRows;
  }

  #isLost(id: number, firstRow: number): boolean {
    const node = this.#nodes[id]!;
    return mayRest(node) && firstRow - this.#currentRows[id]! > node.replayRows;
  }

  #startRow(id: number, firstRow: number): number {
    const { catchUpRows, replayRows } = this.#nodes[id]!;
    const currentRow = Math.min(this.#currentRows[id]!, firstRow);
    if (catchUpRows === null || firstRow - currentRow <= replayRows) return currentRow;
    return firstRow - catchUpRows;
  }

  #decideSets(conditions: readonly boolean[] | undefined): void {
    const words = this.#words.fill(conditions ? 0 : -1);
    for (let i = 0; i < (conditions?.length ?? 0); i++) {
      if (conditions![i]) words[Math.floor(i / WORD_BITS)]! |= 1 << (i % WORD_BITS);
    }
    for (let set = 0; set < this.#sets.length; set++) {
      const ofSet = this.#sets[set]!;
      let any = 0;
      for (let i = 0; i < ofSet.length; i++) any |= ofSet[i]! & words[i]!;
      this.#isSetNeeded[set] = any === 0 ? 0 : 1;
    }
  }
}
