import { execFile } from "node:child_process";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { FactorloomError } from "../../errors.ts";
import { Bridge, type CallAnswer } from "../bridge/bridge.ts";
import { type BridgeFault, errorOfBridgeFault } from "../bridge/bridge_faults.ts";
import { connectRequest, type TlsFiles } from "../bridge/connection.ts";
import { findPython, pythonScript } from "../bridge/python.ts";
import type { ProbeAnswer } from "../executor/probe.ts";
import { bridgeEnded } from "../protocol/errors.ts";
import { installExecutors } from "./install_executors.ts";

export interface DoctorOptions {
  /** Address of the scheduler. */
  readonly scheduler: string;
  /** Folder of the tile store; client and workers should see it under this path. */
  readonly store?: string | undefined;
  readonly python?: string | undefined;
  /** Node on the workers. */
  readonly node?: string | undefined;
  readonly tls?: TlsFiles | undefined;
  /** Ends the examination. */
  readonly signal?: AbortSignal | undefined;
}

export interface HostVersions {
  readonly host: string;
  readonly python: string;
  readonly dask: string;
  readonly distributed: string;
}

/** What an executor on the worker measured in the folder, or why it could not. */
export type FolderTrial = { readonly problem: string } | Omit<ProbeAnswer, "host">;

export interface WorkerHealth {
  readonly address: string;
  readonly name: string;
  readonly threads: number;
  readonly memoryLimitBytes: number;
  /** Why the worker does not answer. */
  readonly problem?: string | undefined;
  /** Why no executor runs there, if that is known. */
  readonly executorProblem?: string | undefined;
  readonly versions?: HostVersions | undefined;
  readonly node?: { readonly path: string | null; readonly version: string | null } | undefined;
  readonly way?:
    | { readonly roundTripSeconds: number; readonly transferBytes: number; readonly transferSeconds: number }
    | undefined;
  /** Whether an executor of this package runs there. */
  readonly executor: boolean;
  /** Null where no folder was named, or no executor runs. */
  readonly folder: FolderTrial | null;
}

export interface ClusterHealth {
  readonly scheduler: string;
  readonly dashboard: string | null;
  readonly versions: { readonly client: HostVersions; readonly scheduler: HostVersions };
  readonly workers: readonly WorkerHealth[];
  /** Everything that prevents an evaluation, or may prevent it; empty if all is well. */
  readonly problems: readonly string[];
}

const ANSWER_SECONDS_MAX = 30;
/** Each worker has half a minute to answer, in the worst case one after the other. */
const EXAMINE_MS_MAX = 600_000;
/** Large enough to measure the bandwidth of a disk or a network, small enough to take about a second. */
const TRIAL_BYTES = 32 * 2 ** 20;
const TRIAL_SECONDS_MAX = 120;
/** Tiles of a small run. */
const FREE_BYTES_MIN = 2 ** 30;
const NODE_VERSION_MIN = 24;
/** Codes of `probe` tasks: the folder is missing, or cannot be written. */
const FOLDER_CODES: readonly string[] = ["E609", "E614"];

/**
 * Tries everything that an evaluation on a Dask cluster needs: equal versions, Node on the workers, executors that start
 * there, the folder of the tile store. Measures the connections to the workers and the folder.
 *
 * @throws UsageError E601 for a wrong address; ResourceError E602 without Python, E603 and E604 if there is no
 *   scheduler or no worker; the signal's reason when aborted.
 */
export async function examineCluster(options: DoctorOptions): Promise<ClusterHealth> {
  const python = (await findPython(options.python, options.signal)).path;
  await using trial = await openTrialFolder(options.store);
  const report = await askCluster(python, options);
  const trials = report.workers.some(({ problem }) => problem !== undefined)
    ? { answers: [], problems: ["executors were not tried: not all workers answer"] }
    : await tryExecutors(python, options, trial.folder ?? tmpdir());
  const workers = report.workers
    .map((worker) => ({ ...worker, ...healthOf(trials.answers, worker.address, trial.folder !== null) }))
    .sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  const versions = { client: report.client, scheduler: report.scheduler };
  const problems = [
    ...(trial.problem === null ? [] : [trial.problem]),
    ...problemsOf(versions, workers),
    ...trials.problems,
  ];
  return { scheduler: options.scheduler, dashboard: report.dashboard, versions, workers, problems };
}

/** A temporary folder in the store, which workers should see. */
interface TrialFolder extends AsyncDisposable {
  readonly folder: string | null;
  readonly problem: string | null;
}

async function openTrialFolder(store: string | undefined): Promise<TrialFolder> {
  const none = { folder: null, [Symbol.asyncDispose]: async () => {} };
  if (store === undefined) return { ...none, problem: null };
  const place = resolve(store);
  try {
    if (!(await stat(place)).isDirectory()) throw new Error("it is not a folder");
    const folder = await mkdtemp(join(place, ".factorloom-doctor-"));
    const remove = () => rm(folder, { recursive: true, force: true });
    return { folder, problem: null, [Symbol.asyncDispose]: remove };
  } catch (error) {
    return { ...none, problem: `the client cannot use the folder ${place}: ${(error as Error).message}` };
  }
}

/** The output of `doctor.py`. */
interface DoctorAnswer {
  readonly dashboard: string | null;
  readonly client: HostVersions;
  readonly scheduler: HostVersions;
  readonly workers: readonly Omit<WorkerHealth, "executor" | "folder">[];
}

async function askCluster(
  python: string,
  { scheduler, node, tls, signal }: DoctorOptions,
): Promise<DoctorAnswer> {
  const connection = connectRequest({ timeoutSeconds: ANSWER_SECONDS_MAX, tls });
  const request = { address: scheduler, node: node ?? null, ...connection };
  const args = ["-B", pythonScript("doctor.py"), JSON.stringify(request)];
  let printed: string;
  try {
    ({ stdout: printed } = await promisify(execFile)(python, args, {
      timeout: EXAMINE_MS_MAX,
      maxBuffer: 2 ** 28,
      signal,
      killSignal: "SIGKILL",
    }));
  } catch (error) {
    signal?.throwIfAborted();
    throw bridgeEnded((error as { stderr?: string }).stderr || (error as Error).message);
  }
  const answer = JSON.parse(printed) as DoctorAnswer | { readonly fault: BridgeFault };
  if ("fault" in answer) throw errorOfBridgeFault(answer.fault);
  return answer;
}

/** Starts an executor on every worker, as an evaluation does, and has it write and read in the folder. */
async function tryExecutors(
  python: string,
  { scheduler, node, tls, signal }: DoctorOptions,
  folder: string,
): Promise<{ answers: readonly CallAnswer[]; problems: string[] }> {
  const bridge = await Bridge.start({ python, signal });
  try {
    await bridge.connect(scheduler, { timeoutSeconds: ANSWER_SECONDS_MAX, tls });
    await installExecutors(bridge, node ?? null, ANSWER_SECONDS_MAX);
    const probe = { kind: "probe", folder, bytes: TRIAL_BYTES } as const;
    return { answers: await bridge.call(probe, TRIAL_SECONDS_MAX), problems: [] };
  } catch (error) {
    signal?.throwIfAborted();
    // Most likely a fault of one worker, which ends the installation on all.
    return { answers: [], problems: [`executors were not tried: ${firstLine(error as Error)}`] };
  } finally {
    await bridge.close();
  }
}

function healthOf(
  answers: readonly CallAnswer[],
  address: string,
  hasFolder: boolean,
): Pick<WorkerHealth, "executor" | "executorProblem" | "folder"> {
  const answer = answers.find(({ worker }) => worker === address);
  if (answer === undefined) return { executor: false, folder: null };
  const { error, buffers } = answer;
  if (error === undefined) {
    const { host: _, ...figures } = JSON.parse(Buffer.from(buffers[0]!).toString()) as ProbeAnswer;
    return { executor: true, folder: hasFolder ? figures : null };
  }
  const isOfFolder = error instanceof FactorloomError && FOLDER_CODES.includes(error.code);
  const problem = firstLine(error);
  // An executor that reports a fault of the folder runs.
  if (isOfFolder) return { executor: true, folder: hasFolder ? { problem } : null };
  return { executor: false, folder: null, executorProblem: problem };
}

function firstLine(error: Error): string {
  return error.message.split("\n")[0]!;
}

/** Versions that do not match, and what workers lack. */
export function problemsOf(
  { client, scheduler }: ClusterHealth["versions"],
  workers: readonly WorkerHealth[],
): string[] {
  return [
    ...versionProblems("the scheduler", scheduler, client),
    ...workers.flatMap((worker) => [
      ...(worker.versions ? versionProblems(worker.name, worker.versions, client) : []),
      ...workerProblems(worker),
    ]),
  ];
}

function versionProblems(name: string, versions: HostVersions, client: HostVersions): string[] {
  const parts = (["python", "dask", "distributed"] as const).filter(
    (part) => comparedVersion(part, versions[part]) !== comparedVersion(part, client[part]),
  );
  return parts.map((part) => `${name} has ${part} ${versions[part]}, the client ${client[part]}`);
}

/** Functions are sent as bytecode, which is equal for all patches of a Python; after a plus is the packager. */
function comparedVersion(part: "python" | "dask" | "distributed", version: string): string {
  const [released] = version.split("+");
  return part === "python" ? released!.split(".").slice(0, 2).join(".") : released!;
}

function workerProblems({ name, problem, executorProblem, node, folder }: WorkerHealth): string[] {
  const found = [problem, executorProblem].filter((each) => each !== undefined);
  if (node) {
    const { path, version } = node;
    if (path === null) found.push("it has no Node");
    else if (version === null) found.push(`${path} does not say which Node it is`);
    else if (Number.parseInt(version, 10) < NODE_VERSION_MIN)
      found.push(`${path} is Node ${version}, and ${NODE_VERSION_MIN} is needed`);
  }
  if (folder && "problem" in folder) found.push(`folder: ${folder.problem}`);
  else if (folder && folder.freeBytes < FREE_BYTES_MIN)
    found.push(`folder: only ${Math.round(folder.freeBytes / 2 ** 20)} MiB are free`);
  return found.map((each) => `${name}: ${each}`);
}
