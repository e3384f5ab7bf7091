import { accessSync, constants } from "node:fs";
import { inspect } from "node:util";
import type { EvaluateOptions } from "../../evaluation/options.ts";
import { HANG, type HangOptions } from "../../execution/watch/hang_watch.ts";
import { checkedAt } from "../../options/option_table.ts";
import {
  TEXT as ANY_TEXT,
  type ArgumentKind,
  FLAG,
  FUNCTION,
  isRecord,
  PATH,
  SIGNAL,
} from "../../text/argument_kinds.ts";
import { checkedOptions, type OptionKinds, optionsOf, type Refusal } from "../../text/option_kinds.ts";
import type { ClusterProgress, TlsFiles } from "../bridge/bridge.ts";
import { tlsUnusable, wrongAddress, wrongOption } from "../protocol/errors.ts";
import type { ClusterHang } from "../protocol/protocol.ts";

export interface ClusterOptions {
  /** Address of the Dask scheduler, e.g. `tcp://host:8786`. */
  readonly scheduler: string;
  /** Certificates for a scheduler at `tls://`. Default: those of Dask's own settings. */
  readonly tls?: TlsFiles | undefined;
  /** The Python that has Dask's `distributed`; default: `FACTORLOOM_PYTHON`, else the first that has it. */
  readonly python?: string | undefined;
  /** Node 24 or later on the hosts of the workers; default: `FACTORLOOM_NODE` there, else `node` on their path. */
  readonly node?: string | undefined;
  /** Leaves the cluster when aborted, also while connecting. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Seconds for the whole start: until Python runs, the scheduler answers, a worker has joined, and workers have the code
   * of the executors. Also how long a run waits for a worker that can continue it. Default 30.
   */
  readonly timeoutSeconds?: number | undefined;
  /** Resources that workers must have for each task, by Dask's names. */
  readonly resources?: Readonly<Record<string, number>> | undefined;
  /** Hosts, or addresses of workers, that may run tasks. Default: all. */
  readonly workers?: readonly string[] | undefined;
  /** An executor that takes longer for a task is killed. Default: 50 times the estimate, at least 120 s. */
  readonly taskTimeoutSeconds?: number | undefined;
  /** What to do about an operator of a user that does not return. False: nothing is watched. */
  readonly hang?: ClusterHangOptions | false | undefined;
}

/** As `hang` of `Engine.start`. */
export interface ClusterHangOptions extends Pick<HangOptions, "limitMs" | "replaces"> {
  /** Takes each report. Default: a warning of the process. */
  readonly onHang?: ((hang: ClusterHang) => void) | undefined;
}

export interface ClusterEvaluateOptions extends EvaluateOptions {
  /** Rows of a slab. Default: as many slabs as end earliest on the threads of the workers, within their memory. */
  readonly slabRows?: number;
  /** Records what every task did, and when, for `ClusterRun.report`. */
  readonly trace?: boolean;
  /**
   * Tasks of calls of higher priority go first, also before those of other programs on the cluster; of equal ones those
   * of the call that came first. Whole numbers from -1000 to 1000; default 0, which is Dask's own.
   */
  readonly priority?: number;
  /** Called twice a second while tasks run. */
  readonly onTasks?: (progress: ClusterProgress) => void;
}

const NO_STORE: Refusal = {
  remedy:
    "leave it out: a run needs no folder for values between tasks; with --out FOLDER/ workers write the result",
};
const NO_CUT: Refusal = {
  remedy:
    "leave it out: a task evaluates some factors over some rows; --slab-rows (slabRows) sets how many rows",
};
/** Options of earlier versions. */
export const REMOVED_OPTIONS: ReadonlyMap<string, Refusal> = new Map([
  ["store", NO_STORE],
  ["createStore", NO_STORE],
  ["cut", NO_CUT],
  ["shardLanes", NO_CUT],
  [
    "restrictedFactors",
    {
      remedy:
        "resources and workers of Cluster.connect hold for a whole run: select these factors in a run of their own",
    },
  ],
]);

export const TLS_FILES: OptionKinds<TlsFiles> = { ca: PATH, cert: PATH, key: PATH };

/** A kind whose errors show the value. */
function shown(fits: (given: unknown) => boolean, remedy: string): ArgumentKind {
  const show = (given: unknown) => inspect(given, { depth: 1, breakLength: Number.POSITIVE_INFINITY });
  return { what: remedy, fits, remedy, refuse: (name, given) => wrongOption(name, show(given), remedy) };
}

const isText = (given: unknown) => typeof given === "string" && given !== "";
const TEXT = shown(isText, "give a text that is not empty");
const SECONDS = shown(
  (given) => Number.isFinite(given) && (given as number) > 0,
  "give a positive number of seconds",
);
const COUNT = shown(
  (given) => Number.isSafeInteger(given) && (given as number) > 0,
  "give a positive whole number",
);

export const CLUSTER_OPTIONS: OptionKinds<ClusterOptions> = {
  scheduler: { ...ANY_TEXT, isRequired: true },
  tls: optionsOf("tls", TLS_FILES),
  python: TEXT,
  node: TEXT,
  signal: SIGNAL,
  timeoutSeconds: SECONDS,
  resources: shown(
    (given) =>
      isRecord(given) && Object.values(given as object).every((each) => Number.isFinite(each) && each >= 0),
    "give numbers from 0 by name, e.g. { GPU: 1 }",
  ),
  workers: shown(
    (given) => Array.isArray(given) && given.length > 0 && given.every(isText),
    'give a list of at least one name, e.g. ["host1"]',
  ),
  taskTimeoutSeconds: SECONDS,
  hang: HANG,
};

/** What a call on a cluster has beside the options of a call. */
export const OWN_CLUSTER_OPTIONS: OptionKinds<Omit<ClusterEvaluateOptions, keyof EvaluateOptions>> = {
  slabRows: COUNT,
  trace: FLAG,
  onTasks: FUNCTION,
};

/** @throws UsageError E527 for an unknown option, E528 for a value that one cannot have. */
export function checkedClusterOptions(given: ClusterOptions): ClusterOptions {
  const options = checkedOptions("Cluster.connect", given, CLUSTER_OPTIONS, "option", REMOVED_OPTIONS);
  const { scheduler, tls } = options;
  if (!/^(tcp|tls|ws|wss|ucx):\/\/\S+$/.test(scheduler)) throw wrongAddress(scheduler);
  if (tls !== undefined) checkTls(scheduler, checkedOptions("tls", tls, TLS_FILES));
  return options;
}

/** @throws UsageError E527 for an unknown option, E528; as `Engine.evaluate`. */
export function checkedClusterCall(given: ClusterEvaluateOptions): ClusterEvaluateOptions {
  return checkedAt("a cluster's evaluate", given, OWN_CLUSTER_OPTIONS, REMOVED_OPTIONS);
}

/** @throws UsageError E528 */
function checkTls(scheduler: string, { ca, cert, key }: TlsFiles): void {
  if (!/^(tls|wss):/.test(scheduler)) throw tlsUnusable(`certificates are given, and ${scheduler} uses none`);
  if ((cert === undefined) !== (key === undefined))
    throw tlsUnusable("a certificate and its key go together");
  for (const path of [ca, cert, key]) {
    try {
      if (path !== undefined) accessSync(path, constants.R_OK);
    } catch (error) {
      throw tlsUnusable(`a certificate cannot be read: ${(error as Error).message}`);
    }
  }
}
