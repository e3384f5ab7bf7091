import { DataError, errorsOf, ResourceError, UsageError } from "../../errors.ts";
import { formatBytes } from "../../evaluation/memory/memory_need.ts";
import { thisProcess } from "./this_process.ts";

const valueUnusable = errorsOf(UsageError, "E528");
const notReached = errorsOf(ResourceError, "E603");
const cannotRun = errorsOf(ResourceError, "E605");
const notFinished = errorsOf(ResourceError, "E607");
const connectionLost = errorsOf(ResourceError, "E611");
const seesOthers = errorsOf(UsageError, "E614");
const seesOtherInput = errorsOf(DataError, "E615");

export const wrongAddress = (address: string) =>
  valueUnusable(`${address} is not the address of a Dask scheduler`, "give one like tcp://host:8786");

export const wrongOption = (name: string, value: string, remedy: string) =>
  valueUnusable(`${name} is ${value}`, remedy);

export function noAddress(): UsageError {
  const remedy =
    "give --scheduler tcp://host:8786 or DASK_SCHEDULER_ADDRESS; to try one: factorloom cluster local";
  return valueUnusable("cluster eval without the address of a scheduler", remedy);
}

export function noPython(tried: readonly string[]): ResourceError {
  const message = `no Python with Dask's distributed was found (tried ${tried.join(", ")})`;
  const remedy =
    "install it, e.g. apt-get install python3-distributed, or name another Python with --python or FACTORLOOM_PYTHON";
  return new ResourceError("E602", message, remedy);
}

export const schedulerUnreachable = (address: string, reason: string) =>
  notReached(
    `no Dask scheduler answers at ${address}: ${reason}`,
    "start it, or give the address that it prints when it starts; with TLS that is tls://host:port, with --tls-ca, --tls-cert and --tls-key",
  );

/**
 * @param restriction which workers may run the tasks, in words; empty for any
 * @param silent how many of them there are, and do not answer
 * @param gone how many workers have left since the client connected
 */
export function noWorkers(address: string, restriction = "", silent = 0, gone = 0): ResourceError {
  const which = [restriction, silent > 0 ? "that answers" : ""].filter((each) => each !== "").join(" ");
  const message = `the Dask scheduler at ${address} has no worker${which === "" ? "s" : ` ${which}`}`;
  const start =
    restriction === "" ? "start dask-worker on its hosts" : "start one, or correct --workers or --resources";
  const look =
    silent > 0
      ? `look at the logs of those that are there (${silent}), and at the load of their hosts`
      : gone > 0
        ? `${start}; ${gone} that were there have ended: look at their logs, memory may be short there`
        : start;
  return new ResourceError("E604", message, look);
}

export function startTooSlow(what: string, seconds: number): ResourceError {
  const message = `${what} takes longer than --timeout allows for the whole start (${seconds} s)`;
  return notReached(message, "raise --timeout, or look at the load of this host");
}

export function tlsUnusable(reason: string): UsageError {
  const remedy =
    "give --tls-ca, and --tls-cert with --tls-key, as PEM files, with an address like tls://host:8786";
  return valueUnusable(reason, remedy);
}

export const noSuchWorker = (what: string, workers: string) =>
  new UsageError("E506", `no worker ${what}`, `workers: ${workers}; correct --workers or --resources`);

export function noNode(worker: string, reason: string): ResourceError {
  const remedy =
    "install Node 24 or later there, or name it with --node or FACTORLOOM_NODE in the worker's environment";
  return cannotRun(`worker ${worker} has no Node to run executors: ${reason}`, remedy);
}

export const otherVersion = (what: string, found: string, expected: string) =>
  cannotRun(
    `${what} is of another version: ${found}, here ${expected}`,
    "use one version of factorloom, and end other runs on the cluster first",
  );

/** @param lastLines the last output of the executor */
export function executorLost(task: string, worker: string, lastLines = ""): ResourceError {
  const said = lastLines === "" ? "" : `; the last one printed:\n${lastLines}`;
  const message = `executors on ${worker} ended twice while they ran ${task}${said}`;
  return notFinished(message, "look at the worker's log; memory may be short there");
}

export function workersLost(task: string, reason: string): ResourceError {
  const message = `Dask gave up ${task}: ${reason}`;
  return notFinished(message, "look at the logs of the workers; memory may be short there");
}

/** @param who writes it: this process, or a worker by its address */
export const storeFailed = (path: string, reason: string, who = thisProcess()) =>
  new ResourceError(
    "E442",
    `${who} cannot write ${path}: ${reason}`,
    "check the free space and the permissions, or name another folder (--out, TMPDIR)",
  );

export const columnsMissing = (path: string) =>
  new ResourceError(
    "E610",
    `${path}, which tasks of this run share, is missing or was changed`,
    "nothing else may delete it, or end workers, while a run is under way",
  );

export function cannotHoldFactor(bytes: number, limitBytes: number): UsageError {
  const sizes = `${formatBytes(bytes)} over all rows, and a worker holds ${formatBytes(limitBytes)} of results`;
  return new UsageError(
    "E639",
    `a factor that looks back without end takes ${sizes}`,
    "let workers write the result (--out FOLDER/), give them more memory, or ask for fewer times (--from)",
  );
}

export const schedulerLost = (address: string) =>
  connectionLost(`the Dask scheduler at ${address} is gone`, "start it and run again");

export const bridgeEnded = (reason: string) =>
  connectionLost(`the bridge to Dask ended: ${reason}`, "run again");

export function clusterClosed(): ResourceError {
  const remedy = "await what is under way before closing, or connect again";
  return new ResourceError("E404", "the cluster was closed", remedy);
}

export function executorSilent(task: string, worker: string, seconds: number): ResourceError {
  const message = `executors on ${worker} did not answer twice within ${seconds} s of ${task}`;
  return notFinished(message, "look at the load of the host, or raise --task-timeout");
}

/** @param takenBytes by the last executor; `totalBytes` with the worker and its other executors */
export function executorTooLarge(
  task: string,
  worker: string,
  takenBytes: number,
  totalBytes: number,
  limitBytes: number,
): ResourceError {
  const [taken, total, limit] = [takenBytes, totalBytes, limitBytes].map(formatBytes);
  const message = `executors on ${worker} ran out of memory twice in ${task}: the last one took ${taken}, with its worker and the other executors ${total}; the worker's limit is ${limit}`;
  const remedy =
    "give the worker more memory (--memory-limit) or fewer threads, or make tasks smaller (--slab-rows, --block-rows)";
  return notFinished(message, remedy);
}

export function wrongShare(worker: string, problem: string): UsageError {
  const message = `the environment of worker ${worker} has no share of memory: ${problem}`;
  return valueUnusable(message, "give a number such as 0.8, or 0 to switch the watch off");
}

/** @param who looks there: this process, or a worker */
export function folderNotShared(folder: string, reason: string, who = thisProcess()): UsageError {
  const message = `${folder} is not shared: ${who} does not see there what the client sees: ${reason}`;
  const remedy = "name a folder on storage that all hosts see under one path, or leave --out FOLDER/ out";
  return seesOthers(message, remedy);
}

export function inputDiffers(file: string, worker: string, difference: string): DataError {
  const message = `${worker} sees another ${file} than the client: ${difference}`;
  const remedy =
    "put it on storage that all hosts see under one path, leave it as it is while a run is under way, or use --scatter";
  return seesOtherInput(message, remedy);
}

export const sourceNotShared = (path: string, reason: string) =>
  seesOtherInput(
    `the workers cannot read ${path}: ${reason}`,
    "put it on storage that all hosts see under one path, or use --scatter",
  );

export const onlyOnCluster = (option: string) =>
  new UsageError(
    "E527",
    `${option} is for a cluster`,
    "factorloom cluster eval writes folders; here give a file",
  );

export const operatorsDiffer = (module: string, worker: string) =>
  seesOthers(
    `${worker} sees another module of operators under ${module} than the client, or other imports of it`,
    "put the same files on all hosts under one path, and restart workers that had others",
  );

export function datasetInUse(folder: string): ResourceError {
  const message = `${folder} is being written by another run`;
  const remedy = "wait until that run has ended, for half a minute if its host is gone, or name a new folder";
  return new ResourceError("E450", message, remedy);
}

export function datasetDiffers(folder: string, difference: string): ResourceError {
  const message = `${folder} does not hold what the workers have written: ${difference}`;
  return new ResourceError("E626", message, "run again: complete files are used; remove other files first");
}

export const bundleChanged = (worker: string, file: string) =>
  cannotRun(`the code of the executors on worker ${worker} was changed: ${file}`, "start the worker again");

export function datasetTaken(folder: string): UsageError {
  const message = `${folder} holds something else already, or the result of another run`;
  return new UsageError("E532", message, "name a new folder, or empty it");
}

export const localClusterFailed = (reason: string) =>
  notReached(`the cluster did not start: ${reason}`, "see what it printed above");

export function bundleNotUnpacked(worker: string, reason: string): ResourceError {
  const message = `worker ${worker} could not unpack the code of its executors: ${reason}`;
  return cannotRun(message, "free space in the worker's --local-directory");
}
