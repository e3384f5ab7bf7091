import type { Ring } from "../../operator/window_code.ts";
import { generationsOf, mayRest, type Plan } from "../../plan/plan.ts";

/** A window state of a plan: what its kind needs to rebuild it. */
export interface StateRecord {
  readonly kind: string;
  readonly layout: object;
}

/** Lanes whose state is adjacent: one cache line of each vector. */
export const GROUP_LANES = 8;

/** Bytes of one vector for the lanes of a group. */
export const GROUP_BYTES = 64;

/**
 * State that a lanes node carries from row to row: vectors of one double per lane. For each group of lanes all vectors
 * are adjacent, so that a kernel, which processes several lanes at a time, reads memory in one direction.
 *
 * Recurrences read one generation and write the next, in turn, so that a part can run again; one that runs missed rows
 * first writes a generation before its block as well. Window state is a function
 * of the rows in the columns: it is kept once, and rebuilt from them if a part was interrupted.
 */
export interface NodeState extends NodeContents {
  readonly recurrenceByteOffsets: readonly number[];
  readonly windowByteOffset: number;
  /** Offset of the window vectors as they were before the last block; null where they are not kept. */
  readonly snapshotByteOffset: number | null;
}

/** What a node carries, before its place is known. */
export interface NodeContents {
  /** Value of each recurrence vector before the first row. */
  readonly recurrences: readonly number[];
  /** Whose they are. */
  readonly recurrentTasks: readonly RecurrentTask[];
  /** Value of each window vector before the first row. */
  readonly windows: readonly number[];
  /** Its window states; states have numbers in the plan, of which these begin with `firstRecord`. */
  readonly records: readonly StateRecord[];
  readonly firstRecord: number;
  readonly rings: readonly Ring[];
  /**
   * If its windows have a function `states<id>`, how many rows make them: it moves empty windows on over rows that are
   * in the columns.
   */
  readonly rowsOfStates: number | null;
}

/** The recurrence vectors of a task. */
export interface RecurrentTask {
  readonly task: number;
  readonly firstVector: number;
  readonly vectorCount: number;
}

/** The vectors of one node, while its kernel is emitted. */
export class NodeVectors {
  readonly recurrences: number[] = [];
  readonly recurrentTasks: RecurrentTask[] = [];
  readonly windows: number[];

  constructor(windows: number[] = []) {
    this.windows = windows;
  }

  /** Reserves vectors for a task; returns the index of the first. */
  addRecurrence(task: number, initial: readonly number[]): number {
    const firstVector = this.recurrences.length;
    this.recurrences.push(...initial);
    this.recurrentTasks.push({ task, firstVector, vectorCount: initial.length });
    return firstVector;
  }

  addWindow(initial: readonly number[]): number {
    return this.windows.push(...initial) - initial.length;
  }
}

/** Lays out rings, followed by the state of the nodes. */
export class StateLayout {
  readonly rings: Ring[] = [];
  ringsEnd: number;
  readonly #rowBytes: number;
  /** Rows of a ring beyond those that its readers look back. */
  readonly #runRows: number;
  readonly #plan: Plan;
  readonly #emptyRows = new Map<number, Ring>();

  constructor(plan: Plan) {
    const { columnBytes, rowBytes, blockRows, keptBlocks } = plan;
    this.#plan = plan;
    this.ringsEnd = columnBytes;
    this.#rowBytes = rowBytes;
    this.#runRows = blockRows * keptBlocks;
  }

  /** Reserves a ring whose readers look back `historyRows` rows. */
  addRing(historyRows: number, initial: number): Ring {
    return this.#reserve(historyRows + this.#runRows, initial);
  }

  /** A row that holds the value in every lane. */
  emptyRow(initial: number): Ring {
    const row = this.#emptyRows.get(initial) ?? this.#reserve(1, initial);
    this.#emptyRows.set(initial, row);
    return row;
  }

  #reserve(ringRows: number, initial: number): Ring {
    const ring = { byteOffset: this.ringsEnd, ringRows, initial };
    this.rings.push(ring);
    this.ringsEnd += ringRows * this.#rowBytes;
    return ring;
  }

  /** The state of the nodes, its end, and the end of the snapshots that follow it. */
  layOut(
    nodes: ReadonlyMap<number, NodeContents>,
    snapshots: boolean,
  ): { states: Map<number, NodeState>; end: number; snapshotsEnd: number } {
    let position = this.ringsEnd;
    const reserve = (vectors: readonly number[]) => {
      position += vectors.length * this.#rowBytes;
      return position - vectors.length * this.#rowBytes;
    };
    const states = new Map<number, NodeState>();
    for (const [id, node] of nodes) {
      const generations = generationsOf(this.#plan) + (mayRest(this.#plan.nodes[id]!) ? 1 : 0);
      const recurrenceByteOffsets = Array.from({ length: generations }, () => reserve(node.recurrences));
      const windowByteOffset = reserve(node.windows);
      states.set(id, { ...node, recurrenceByteOffsets, windowByteOffset, snapshotByteOffset: null });
    }
    const end = position;
    if (snapshots)
      for (const [id, state] of states)
        states.set(id, { ...state, snapshotByteOffset: reserve(state.windows) });
    return { states, end, snapshotsEnd: position };
  }
}

/** Position of one lane of one vector, in doubles after the start of the vectors. */
export function vectorPosition(vectorCount: number, vector: number, lane: number): number {
  const group = Math.floor(lane / GROUP_LANES);
  return (group * vectorCount + vector) * GROUP_LANES + (lane % GROUP_LANES);
}
