import { type Command, InvalidArgumentError, Option } from "commander";
import type { TlsFiles } from "../../cluster/bridge/connection.ts";
import { REMOVED_OPTIONS } from "../../cluster/client/options.ts";
import { notOnCluster, onlyOnCluster } from "../../cluster/protocol/errors.ts";
import type { UsageError } from "../../errors.ts";
import { PRIORITY_MAX } from "../../evaluation/options.ts";
import { notAnOption } from "../../text/option_kinds.ts";
import { flagOf } from "../terminal/command_line.ts";
import { parseCount } from "../terminal/whole_number.ts";

export interface TlsOptions {
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

/** The options that `addClusterOptions` adds. */
export interface ClusterFlags extends TlsOptions {
  readonly engine: "local" | "dask";
  readonly scheduler?: string;
  readonly scatter?: true;
  readonly slabRows?: number;
  readonly workers?: string[];
  readonly resources?: Readonly<Record<string, number>>;
  readonly priority?: number;
  readonly taskTimeout?: number;
  readonly timeout?: number;
  readonly python?: string;
  readonly node?: string;
}

/** Options of `--engine dask` only. */
const CLUSTER_ONLY = [
  "scheduler",
  "tlsCa",
  "tlsCert",
  "tlsKey",
  "scatter",
  "slabRows",
  "workers",
  "resources",
  "priority",
  "taskTimeout",
  "timeout",
  "python",
  "node",
] as const;

/** Options of earlier versions, which are refused by name. */
const REMOVED_FLAGS = [
  "--store [folder]",
  "--create-store",
  "--cut [how]",
  "--shard-lanes [count]",
  "--restricted-factors [names]",
];

/**
 * @throws UsageError E616 for an option that does not apply to a cluster, E617 for one that applies to a cluster only, E527
 *   for one of earlier versions.
 */
export function checkEngineOptions(
  options: ClusterFlags & {
    readonly threads?: number;
    readonly out?: string;
    readonly report?: string;
    readonly causes?: true;
  },
): void {
  for (const [name, remedy] of REMOVED_OPTIONS)
    if (name in options) throw removedOption(flagOf(name), remedy.remedy);
  if (options.engine === "dask") {
    if (options.threads !== undefined) throw notOnCluster("--threads");
    if (options.report !== undefined) throw notOnCluster("--report");
    if (options.causes !== undefined) throw notOnCluster("--causes");
    return;
  }
  for (const name of CLUSTER_ONLY) if (options[name] !== undefined) throw onlyOnCluster(flagOf(name));
  if (options.out !== undefined && isFolderName(options.out))
    throw onlyOnCluster(`--out ${options.out}, a folder,`);
}

export function removedOption(flag: string, remedy: string): UsageError {
  return notAnOption(`${flag} no longer exists`, remedy);
}

/** Whether the path names a folder, whose Parquet files workers write. */
export const isFolderName = (path: string): boolean => path.endsWith("/");

/** Undefined without a TLS option: Dask's own settings apply then. */
export function tlsFiles({ tlsCa: ca, tlsCert: cert, tlsKey: key }: TlsOptions): TlsFiles | undefined {
  return [ca, cert, key].every((path) => path === undefined) ? undefined : { ca, cert, key };
}

/** Adds the options of an evaluation on a cluster. */
export function addClusterOptions(command: Command): Command {
  for (const flag of REMOVED_FLAGS) command.addOption(new Option(flag).hideHelp());
  return command
    .addOption(
      new Option("--engine <kind>", "local, or dask: on a Dask cluster")
        .choices(["local", "dask"])
        .default("local"),
    )
    .option(
      "--scheduler <url>",
      "with dask: address of the scheduler, e.g. tcp://host:8786 (default: DASK_SCHEDULER_ADDRESS)",
    )
    .option("--scatter", "with dask: bring the bars to workers that do not see the file")
    .option("--slab-rows <count>", "with dask: times of a task", parsePositive)
    .option("--workers <addresses>", "with dask: only these workers or hosts, e.g. host1,host2", parseList)
    .option("--resources <name=number>", "with dask: what workers must have, e.g. BIG=1", parseResources)
    .option(
      "--priority <number>",
      "with dask: runs of higher priority go first, of equal ones the earlier run (default: 0)",
      parsePriority,
    )
    .option(
      "--task-timeout <seconds>",
      "with dask: a task that takes longer is started again (default: 50 times its estimate, at least 120)",
      parsePositive,
    )
    .option(
      "--timeout <seconds>",
      "with dask: for the whole start, until workers are ready; then how long none may be there (default: 30)",
      parsePositive,
    )
    .option("--tls-ca <path>", "with dask: certificate of who signed the scheduler's, for tls://host:8786")
    .option("--tls-cert <path>", "with dask: certificate that the scheduler knows this client by")
    .option("--tls-key <path>", "with dask: key of that certificate")
    .option("--python <path>", "with dask: a Python that has Dask's distributed")
    .option("--node <path>", "with dask: Node on the hosts of the workers");
}

function parsePositive(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("A positive whole number.");
  return Number(text);
}

const parsePriority = (text: string) => parseCount(text, -PRIORITY_MAX, PRIORITY_MAX);

function parseList(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.some((name) => name === "")) throw new InvalidArgumentError("Write it as one,two.");
  return names;
}

export function parseResources(text: string): Record<string, number> {
  const pairs = text.split(",").map((pair) => /^\s*([^=\s]+)\s*=\s*(\d+(?:\.\d+)?)\s*$/.exec(pair));
  if (pairs.some((pair) => pair === null)) throw new InvalidArgumentError("Write it as NAME=1,OTHER=2.");
  return Object.fromEntries(pairs.map((pair) => [pair![1] as string, Number(pair![2])]));
}
