import type { PackedOperator } from "../../operator/transfer.ts";
import type { TimeType } from "../../panel.ts";
import type { Plan } from "../../plan/plan.ts";

/** Raised with every change of a record below: bridge, plugin and executors of another version are refused. */
export const PROTOCOL_VERSION = 6;

/** Names a task in the Dask graph: the name of its group and indices in it, e.g. `["factorloom_3f2a_stage1-t000002", 5]`. */
export type TaskKey = readonly [group: string, ...indices: number[]];

/**
 * What a task of the Dask graph does. `run` goes to an executor; the others are a line of Python: `barrier` waits,
 * `merge` takes entries `from` to `to` of each dependency's list, `pick` takes one entry of the only dependency's list.
 */
export type GraphWork =
  | { readonly kind: "run"; readonly task: ClusterTask; readonly buffers: readonly BufferPath[] }
  | { readonly kind: "barrier" }
  | { readonly kind: "merge"; readonly from: number; readonly to: number }
  | { readonly kind: "pick"; readonly index: number };

/** A buffer among the values of a task's dependencies: which dependency, then indices into its nested lists. */
export type BufferPath = readonly [dependency: number, ...indices: number[]];

/** One task of the Dask graph. */
export interface GraphTask {
  readonly key: TaskKey;
  readonly work: GraphWork;
  readonly dependencies: readonly TaskKey[];
  /** Of the tasks of a graph that are ready, the most urgent one runs first. */
  readonly urgency: number;
  /** Of `run` tasks: an executor that takes longer is killed. */
  readonly deadlineSeconds: number;
  /**
   * The preferred worker as a fraction of the list of workers, from 0 (the first) to below 1; null: any. Another worker
   * runs the task if that one is busy or has left.
   */
  readonly preferredWorker: number | null;
}

/** All tasks of a run. */
export interface TaskGraph {
  readonly tasks: readonly GraphTask[];
  /** Tasks whose values the client gathers, in this order. */
  readonly results: readonly TaskKey[];
  /** Of all its tasks: graphs of higher priority go first, of equal ones the earlier. Default 0. */
  readonly priority?: number | undefined;
  /** Where its tasks may run: Dask's worker resources and hosts, or addresses, of workers. */
  readonly resources?: Readonly<Record<string, number>> | undefined;
  readonly workers?: readonly string[] | undefined;
}

/** A task for an executor that has loaded the job. Slabs, blocks and shards are counted from 0. */
export type ClusterTask =
  /** Reads the panel's rows of a block and writes them as a tile. */
  | { readonly kind: "read"; readonly slab: number; readonly block: number }
  /** Runs a stage: `part` is the shard of a stage of lanes, the block of a stage of rows. */
  | { readonly kind: "stage"; readonly stage: number; readonly slab: number; readonly part: number }
  /** Gathers the factors of a block into a buffer or a file of the result. */
  | { readonly kind: "output"; readonly slab: number; readonly block: number }
  /** Reads the rows of a slab and the earlier rows that they depend on, runs the whole plan, gathers the factors. */
  | { readonly kind: "slab"; readonly slab: number }
  /** Says which versions run here, and writes in the folder, for `factorloom cluster doctor`. */
  | { readonly kind: "probe"; readonly folder: string | null };

/**
 * How the panel is split: lanes into shards of `shardLanes` (the last one is padded with null lanes), rows into slabs, and
 * each slab into blocks.
 */
export interface Partition {
  readonly laneCount: number;
  readonly shardLanes: number;
  readonly shardCount: number;
  /** First row of each slab, and the end of the last. */
  readonly slabRows: readonly number[];
  /** Rows of a block; the last one of a slab may be shorter. */
  readonly blockRows: number;
}

/**
 * Where a series that a stage reads comes from: `stage` -1 is the panel (series `i` is the `i`th of `JobSource.fields`,
 * then of `JobSource.groups`), `n` the export `series` of stage `n`.
 */
export interface SeriesOrigin {
  readonly stage: number;
  readonly series: number;
}

/** A stage of the plan (`ClusterStage`), ready to run. */
export interface JobStage {
  /** `lanes`: one task per slab and shard, in order of slabs, with state between them; `rows`: one per slab and block. */
  readonly kind: "lanes" | "rows";
  /** For `shardLanes` or `laneCount` lanes; its outputs are the exports of the stage, in order. */
  readonly plan: Plan;
  /** Where the fields of the plan come from, by name. */
  readonly imports: Readonly<Record<string, SeriesOrigin>>;
  /** True if each slab passes state to the next one. */
  readonly hasState: boolean;
}

/** The panel as workers see it. */
export interface JobSource {
  /** A file or folder that all workers see, and how to read it; null if the client brings the tiles of the panel. */
  readonly path: string | null;
  /** `PanelSourceOptions` of `src/data`. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly fields: readonly string[];
  readonly groups: readonly string[];
  readonly time: { readonly name: string; readonly type: TimeType; readonly values: BigInt64Array };
  readonly symbols: readonly string[];
}

/** A factor and where its values come from; null if it is wanted in no row. */
export interface JobFactor {
  readonly name: string;
  readonly origin: SeriesOrigin | null;
  /** Pairs `from, to` of rows `[from, to)` in which the factor is not wanted, and so is null. */
  readonly unwantedRows: readonly number[];
}

/** With this, workers check that they see the same folders, inputs and code as the client. */
export interface RunIdentity {
  /** In the claim of each folder that the run writes (`folder_claim.ts`); null if the run claims no folder. */
  readonly token: string | null;
  /** Owner in the seals of files: equal for runs that may use each other's files. */
  readonly seal: string;
  /** What the client saw under the paths that workers read. */
  readonly inputs: readonly InputDigest[];
  /** Digests of the modules of operators and their imports, by URL. */
  readonly modules: Readonly<Record<string, string>>;
}

/** An input: a file or folder. */
export interface InputDigest {
  readonly path: string;
  /** Paths below the folder; the name of an input that is a file. */
  readonly files: readonly { readonly name: string; readonly bytes: number; readonly digest: string }[];
}

/** What the executors of a run share. Each loads it once; its name is the digest of its bytes. */
export interface ClusterJob {
  readonly protocol: number;
  /** `store`: tiles are files below `folder`, which all workers see; `memory`: they are values that Dask holds and moves. */
  readonly exchange: "store" | "memory";
  readonly folder: string | null;
  readonly identity: RunIdentity;
  readonly partition: Partition;
  readonly source: JobSource;
  readonly stages: readonly JobStage[];
  /**
   * Null if the plan is split into stages. Else slabs are independent: each also reads this many earlier rows, and its only
   * stage, of kind `rows`, runs over all lanes.
   */
  readonly warmUpRows: number | null;
  readonly operators: readonly PackedOperator[];
  /** Numeric params: a number, or one value per row of the panel. */
  readonly params: Readonly<Record<string, number | Float64Array>>;
  readonly reference: boolean;
  readonly factors: readonly JobFactor[];
  /** Rows `[first, end)` that are output. */
  readonly outputRows: readonly [number, number];
  /** The folder of the Parquet dataset; null if results are buffers. */
  readonly dataset: { readonly folder: string; readonly keepInfinite: boolean } | null;
}

/** The first record of an executor. */
export interface HelloRecord {
  readonly kind: "hello";
  readonly protocol: number;
  /** Version of the package. */
  readonly version: string;
  readonly node: string;
  readonly pid: number;
}

/** Plugin -> executor, followed by buffers. */
export type ToExecutor =
  /** One buffer: the serialised job, whose SHA-256 is the digest. */
  | { readonly kind: "load"; readonly job: string }
  | { readonly kind: "run"; readonly job: string; readonly task: ClusterTask }
  | { readonly kind: "release"; readonly job: string };

/** Executor -> plugin: one answer to each record. */
export type FromExecutor =
  | HelloRecord
  | { readonly kind: "loaded"; readonly job: string }
  | { readonly kind: "released"; readonly job: string }
  /** The buffers are the tile of the task, or its result. */
  | { readonly kind: "done"; readonly report: TaskReport }
  | ({ readonly kind: "fault" } & TaskFault);

/** The first line of an executor's stamp file while it runs an operator of a user; else that is empty. */
export interface StampRecord {
  /** Counts what was begun. */
  readonly turn: number;
  readonly stage: number;
  readonly node: number;
  /** Those of users in the node. */
  readonly operators: readonly string[];
  /** How long this takes by estimate and measurement. */
  readonly estimatedMs: number;
}

/** When a worker takes the operator of a user for one that hangs. */
export interface HangWatchRecord {
  /** Both must be exceeded: seconds, and a multiple of the estimate. */
  readonly seconds: number;
  readonly timesEstimate: number;
  /** Whether the executor is killed, so that its task runs again. */
  readonly replaces: boolean;
}

/** The executors' code, and how to run it. */
export interface Bundle {
  /** SHA-256 of the bytes. */
  readonly digest: string;
  /** A zip. */
  readonly bytes: Uint8Array;
  /** Path in the zip of the main module of executors. */
  readonly entry: string;
  /** Path of Node on the workers; null: FACTORLOOM_NODE in their environment, else `node` on their PATH. */
  readonly node: string | null;
  /** What executors must send in their first record. */
  readonly hello: { readonly protocol: number; readonly version: string };
  /** When an operator of a user counts as one that hangs; null: never. */
  readonly hang: HangWatchRecord | null;
}

/** What a task did. */
export interface TaskReport {
  readonly startMs: number;
  readonly ns: number;
  /** Of tiles, as files or as values. */
  readonly bytesRead: number;
  readonly bytesWritten: number;
  /** True if the tile or result existed already. */
  readonly wasDone: boolean;
  /** Of outputs: rows of the table, and nulls and infinities of each factor. */
  readonly counts?: OutputCounts | undefined;
}

export interface OutputCounts {
  readonly rowCount: number;
  readonly nulls: readonly number[];
  readonly nonFinite: readonly number[];
  /** Size of the part; 0 if there is no file. */
  readonly bytes: number;
}

/** Why a task failed, for the error that the client throws. */
export interface TaskFault {
  readonly errorClass: "data" | "usage" | "resource" | "internal";
  readonly code: string;
  readonly problem: string;
  readonly remedy: string;
}
