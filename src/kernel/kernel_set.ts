import type { Site } from "./sites.ts";
import type { NodeState, Ring } from "./state_layout.ts";

/** The code and the memory layout of a plan's nodes: what executors need beside the plan to run its parts. */
export interface KernelSet {
  /** One exported function `node<id>` per compiled node, over the arena as imported shared memory. */
  readonly module: WebAssembly.Module;
  /** Bytes of the arena, whole pages: columns first, then operator state, then scratch space. */
  readonly arenaBytes: number;
  /** Where operator state lies; what a checkpoint holds beside the columns. */
  readonly stateByteOffset: number;
  readonly stateBytes: number;
  /** State of each lanes node. */
  readonly states: ReadonlyMap<number, NodeState>;
  /** Patterns of 64 bits that stand twice each at the start of the arena. */
  readonly constants: readonly bigint[];
  /** Ids of the row nodes that have a function; the others run their operator's reference. */
  readonly compiledRows: ReadonlySet<number>;
  /** Rings beside the plan's columns, between them and the state. */
  readonly rings: readonly Ring[];
  /** Window state that the host can make anew. */
  readonly sites: readonly Site[];
  /** For each lanes node the range of its sites. */
  readonly siteRanges: ReadonlyMap<number, readonly [number, number]>;
  /**
   * One i32 for each part of each node, in their order: one more than the row with which the part began last. A part that
   * finds its own start there has been run from it before, whole or in part. With `snapshots` as many again: the same of
   * the row before which the snapshot of the part's window state was taken.
   */
  readonly stampByteOffset: number;
  /** True if window state is kept as it was before the last block, so that running it again costs a copy. */
  readonly snapshots: boolean;
  /** True if every value of the outputs is digested, and where the digests of output 0 lie, one row of lanes each. */
  readonly digests: boolean;
  readonly digestByteOffset: number;
  /** True if the newest row of every output is finished (`FinishedRow`), and where that of output 0 lies. */
  readonly finishes: boolean;
  readonly finishedByteOffset: number;
  /** Scratch space of executor `e` starts at `scratchByteOffset + e * scratchBytes`. */
  readonly scratchByteOffset: number;
  readonly scratchBytes: number;
}

/** Rows that are run through every node of a plan. */
export interface Block {
  /** Row of the run with which the block starts, counted from 0. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** Recurrences are read from this generation and left in the other one, so that a part can be run again. */
  readonly generation: 0 | 1;
  /** Row of the input columns that holds the block's first row. */
  readonly inputRow: number;
  /** Row of the result columns that takes the block's first row. */
  readonly outputRow: number;
}
