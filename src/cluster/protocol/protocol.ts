import type { EvaluateOptions } from "../../evaluation/options.ts";
import type { TimeType } from "../../panel.ts";
import type { CostModel } from "../../plan/cost_model.ts";
import type { PackedProgram } from "./packed_program.ts";

/** Raised with every change of a record below: bridge, plugin and executors of another version are refused. */
export const PROTOCOL_VERSION = 9;

/** Names a task in the Dask graph: the name of its group and indices in it, e.g. `["factorloom_3f2a_slabs", 5]`. */
export type TaskKey = readonly [group: string, ...indices: number[]];

/** What a task of the Dask graph does: `run` goes to an executor, `pick` takes one buffer of its only dependency's list. */
export type GraphWork =
  | { readonly kind: "run"; readonly task: ClusterTask }
  | { readonly kind: "pick"; readonly index: number };

/** One task of the Dask graph. */
export interface GraphTask {
  readonly key: TaskKey;
  readonly work: GraphWork;
  /** Tasks of this graph, or results of an earlier one that were not gathered. */
  readonly dependencies: readonly TaskKey[];
  /** Of the tasks of a graph that are ready, the most urgent one runs first. */
  readonly urgency: number;
  /** Of `run` tasks: an executor that takes longer is killed. */
  readonly deadlineSeconds: number;
}

/** Some or all tasks of a run. */
export interface TaskGraph {
  readonly tasks: readonly GraphTask[];
  /** Tasks whose values the client gathers or releases. */
  readonly results: readonly TaskKey[];
  /** Of all its tasks: graphs of higher priority go first, of equal ones the earlier. Default 0. */
  readonly priority?: number | undefined;
  /** Where its tasks may run: Dask's worker resources and hosts, or addresses, of workers. */
  readonly resources?: Readonly<Record<string, number>> | undefined;
  readonly workers?: readonly string[] | undefined;
}

/** A task for an executor that has loaded the job: an ordinary evaluation of some factors over some rows. */
export type ClusterTask =
  /** Evaluates a share of the factors over the rows of a slab, after the earlier rows that their values depend on. */
  | { readonly kind: "slab"; readonly share: number; readonly slab: number }
  /** Evaluates a share over all rows, and leaves its columns slab by slab. */
  | { readonly kind: "history"; readonly share: number }
  /** Puts the columns of all shares of a slab side by side, in a part of the dataset. */
  | { readonly kind: "join"; readonly slab: number };

/** How a run is cut into tasks: some factors times some rows. */
export interface Cut {
  /** First output row of each slab, and the end of the last. */
  readonly slabRows: readonly number[];
  /** Rows that travel together: a slab is one chunk or several, the last of which may be shorter. */
  readonly chunkRows: number;
  readonly shares: readonly Share[];
}

/** Factors that are evaluated together. */
export interface Share {
  /** Names, in the order of the output. */
  readonly factors: readonly string[];
  /** Rows before a slab that its values depend on; null: evaluated over all rows, from the first. */
  readonly warmUpRows: number | null;
}

/** The panel as workers see it. */
export interface JobSource {
  /** A file or folder that workers see, or the Arrow file that the client has written (`panel_file`). */
  readonly path: string;
  /** True for the file that the client has written: workers that do not see it get a copy. */
  readonly isBrought: boolean;
  /** `PanelSourceOptions` of `src/data`. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Columns of the file that the client has written. */
  readonly fields: readonly string[];
  readonly groups: readonly string[];
  readonly seriesNames: readonly string[];
  readonly time: { readonly name: string; readonly type: TimeType; readonly values: BigInt64Array };
  readonly symbols: readonly string[];
}

/** With this, workers check that they see the same folders, inputs and code as the client. */
export interface RunIdentity {
  /** In the claim of the dataset's folder (`folder_claim.ts`); null if there is none. */
  readonly token: string | null;
  /** Name of what is computed: equal for runs that may use each other's files. */
  readonly run: string;
  /** What the client saw under the paths that workers read. */
  readonly inputs: readonly InputDigest[];
  /** Digests of the modules of operators and their imports, by URL. */
  readonly modules: Readonly<Record<string, string>>;
}

/** An input: a file or folder. */
export interface InputDigest {
  readonly path: string;
  readonly files: readonly {
    /** The path below the folder; the name of an input that is a file. */
    readonly name: string;
    readonly bytes: number;
    readonly digest: string;
    /** When the client's file was changed, if the digest covers only samples of it. */
    readonly changedMs: number | null;
  }[];
}

/** What a run computes, whoever computes it and how it is cut. */
export interface JobCall {
  readonly program: PackedProgram;
  /** Those of the evaluations of all shares. */
  readonly options: Pick<EvaluateOptions, "params" | "restarts" | "blockRows" | "kernel">;
  /** The table of params by time: its name, for its format, and its bytes; null without one. */
  readonly paramsByTime: { readonly name: string; readonly bytes: Uint8Array } | null;
  readonly costs: CostModel;
  /** All factors of the output, in order; those that no row wants are in no share. */
  readonly factors: readonly string[];
  /** Rows `[first, end)` that are output. */
  readonly outputRows: readonly [number, number];
  readonly keepInfinite: boolean;
}

/** What the executors of a run share. Each loads it once; its name is the digest of its bytes. */
export interface ClusterJob extends JobCall {
  readonly identity: RunIdentity;
  readonly source: JobSource;
  readonly cut: Cut;
  /** What to do about an operator that hangs; null: nothing is watched. */
  readonly hang: { readonly limitMs: number; readonly replaces: boolean } | null;
  /** The folder of the Parquet dataset; null if results are buffers. */
  readonly dataset: string | null;
}

/** A panel that the client brings. */
export interface BroughtPanel {
  /** Where the client has its file; who sees `_owner.json` with the token there reads it in place. */
  readonly folder: string;
  readonly path: string;
  readonly token: string;
  /** SHA-256 of the file: the name of its copies. */
  readonly digest: string;
  readonly bytes: number;
  /** It travels in pieces of this size. */
  readonly pieceBytes: number;
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
  /** The first record. One buffer: the serialised job, whose SHA-256 is its name. */
  | { readonly kind: "load"; readonly job: string }
  /** `panel`: the file of a panel that the client brings, as this host has it. */
  | { readonly kind: "run"; readonly task: ClusterTask; readonly panel: string | null };

/** Executor -> plugin: one answer to each record, with reports of hanging operators before it. */
export type FromExecutor =
  | HelloRecord
  | { readonly kind: "loaded" }
  /** The buffers are the chunks of the result. */
  | { readonly kind: "done"; readonly report: TaskReport }
  | ({ readonly kind: "hang" } & HangReport)
  | ({ readonly kind: "fault" } & TaskFault);

/** An operator on a worker that takes far longer than estimated. */
export interface ClusterHang {
  /** Address of the worker. */
  readonly worker: string;
  /** Index of the executor on the worker. */
  readonly executor: number;
  /** The key of the task as Dask writes it. */
  readonly key: string;
  /** Index of the node in the plan of its share. */
  readonly node: number;
  /** Names of the operators of the node. */
  readonly operators: readonly string[];
  /** How long it has run so far. */
  readonly seconds: number;
  /** How long it takes, by estimate and measurement. */
  readonly estimatedMs: number;
  /** Whether its thread was replaced. */
  readonly isReplaced: boolean;
}

/** What an executor knows of a hanging operator. */
export type HangReport = Omit<ClusterHang, "worker" | "executor" | "key">;

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
}

/** What a task did. */
export interface TaskReport {
  readonly startMs: number;
  readonly ns: number;
  /** Of column files, and of parts of a dataset. */
  readonly bytesRead: number;
  readonly bytesWritten: number;
  /** True if the result existed already. */
  readonly wasDone: boolean;
  /** Of parts of a dataset: rows of the table, and nulls and infinities of each factor. */
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
