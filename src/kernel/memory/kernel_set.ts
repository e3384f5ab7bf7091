import type { Ring } from "../../operator/window_code.ts";
import type { NodeState } from "./state_layout.ts";

/** Code and memory layout of a plan's nodes: what executors need, beside the plan, to run its parts. */
export interface KernelSet {
  /** One exported function `node<id>` per compiled node, over the arena as imported shared memory. */
  readonly module: WebAssembly.Module;
  /** Bytes of the arena, in whole pages: columns first, then operator state, then scratch space. */
  readonly arenaBytes: number;
  /** Start of the operator state. */
  readonly stateByteOffset: number;
  readonly stateBytes: number;
  readonly states: ReadonlyMap<number, NodeState>;
  /** 64-bit patterns, each stored twice, at the start of the arena. */
  readonly constants: readonly bigint[];
  /** Rings of single kernels, between the plan's columns and the state. */
  readonly rings: readonly Ring[];
  /**
   * Start markers: one i32 for each part of each node, in order: one more than the first row of the block that the part
   * began last. A part that finds its own start there, or a later row, has already run from it, wholly or partly. With
   * `snapshots` the same number again: one more than the row before which the snapshot of the part's window state was
   * taken.
   */
  readonly stampByteOffset: number;
  /** True if window state is kept as it was before the last block, so that running it again costs a copy. */
  readonly snapshots: boolean;
  /** Rows of every output that are finished (`FinishedRow`): their memory is used in turn. They start there. */
  readonly finishedRows: number;
  readonly finishedByteOffset: number;
  /** Scratch space of executor `e` starts at `scratchByteOffset + e * scratchBytes`. */
  readonly scratchByteOffset: number;
  readonly scratchBytes: number;
}

/** Rows that run through every node of a plan. */
export interface Block {
  /** First row of the block in the run, from 0. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** Recurrences are read from this generation and written to the next one, modulo those that are kept (`generationsOf`). */
  readonly generation: number;
  /** Row of the input columns that holds the block's first row. */
  readonly inputRow: number;
  /** Row of the result columns that receives the block's first row. */
  readonly outputRow: number;
}
