import { DataError, type FactorloomError, InternalError, ResourceError, UsageError } from "../../errors.ts";
import { formatBytes } from "../../evaluation/memory/memory_need.ts";
import type { TaskFault } from "./protocol.ts";
import { thisProcess } from "./this_process.ts";

export function wrongAddress(address: string): UsageError {
  return new UsageError(
    "E601",
    `${address} is not the address of a Dask scheduler`,
    "give one like tcp://host:8786",
  );
}

export function wrongOption(name: string, value: string, remedy: string): UsageError {
  return new UsageError("E638", `${name} is ${value}`, remedy);
}

export function noAddress(): UsageError {
  const remedy =
    "give --scheduler tcp://host:8786 or DASK_SCHEDULER_ADDRESS; to try one: factorloom cluster local";
  return new UsageError("E620", "cluster eval without the address of a scheduler", remedy);
}

export function noPython(tried: readonly string[]): ResourceError {
  const message = `no Python with Dask's distributed was found (tried ${tried.join(", ")})`;
  const remedy =
    "install it, e.g. apt-get install python3-distributed, or name another Python with --python or FACTORLOOM_PYTHON";
  return new ResourceError("E602", message, remedy);
}

export function schedulerUnreachable(address: string, reason: string): ResourceError {
  return new ResourceError(
    "E603",
    `no Dask scheduler answers at ${address}: ${reason}`,
    "start it, or give the address that it prints when it starts; with TLS that is tls://host:port, with --tls-ca, --tls-cert and --tls-key",
  );
}

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
  return new ResourceError("E633", message, "raise --timeout, or look at the load of this host");
}

export function tlsUnusable(reason: string): UsageError {
  const remedy =
    "give --tls-ca, and --tls-cert with --tls-key, as PEM files, with an address like tls://host:8786";
  return new UsageError("E632", reason, remedy);
}

export function noSuchWorker(what: string, workers: string): UsageError {
  return new UsageError("E622", `no worker ${what}`, `workers: ${workers}; correct --workers or --resources`);
}

export function noNode(worker: string, reason: string): ResourceError {
  const remedy =
    "install Node 24 or later there, or name it with --node or FACTORLOOM_NODE in the worker's environment";
  return new ResourceError("E605", `worker ${worker} has no Node to run executors: ${reason}`, remedy);
}

export function otherVersion(what: string, found: string, expected: string): ResourceError {
  const message = `${what} is of another version: ${found}, here ${expected}`;
  return new ResourceError(
    "E606",
    message,
    "use one version of factorloom, and end other runs on the cluster first",
  );
}

/** @param lastLines the last output of the executor */
export function executorLost(task: string, worker: string, lastLines = ""): ResourceError {
  const said = lastLines === "" ? "" : `; the last one printed:\n${lastLines}`;
  const message = `executors on ${worker} ended twice while they ran ${task}${said}`;
  return new ResourceError("E607", message, "look at the worker's log; memory may be short there");
}

export function workersLost(task: string, reason: string): ResourceError {
  const message = `Dask gave up ${task}: ${reason}`;
  return new ResourceError("E608", message, "look at the logs of the workers; memory may be short there");
}

/** @param who writes it: this process, or a worker by its address */
export function storeFailed(path: string, reason: string, who = thisProcess()): ResourceError {
  const message = `${who} cannot write ${path}: ${reason}`;
  return new ResourceError(
    "E609",
    message,
    "check the free space and the permissions, or name another folder (--out, TMPDIR)",
  );
}

export function columnsMissing(path: string): ResourceError {
  const message = `${path}, which tasks of this run share, is missing or was changed`;
  return new ResourceError(
    "E610",
    message,
    "nothing else may delete it, or end workers, while a run is under way",
  );
}

export function cannotHoldFactor(bytes: number, limitBytes: number): UsageError {
  const sizes = `${formatBytes(bytes)} over all rows, and a worker holds ${formatBytes(limitBytes)} of results`;
  return new UsageError(
    "E639",
    `a factor that looks back without end takes ${sizes}`,
    "let workers write the result (--out FOLDER/), give them more memory, or ask for fewer times (--from)",
  );
}

export function schedulerLost(address: string): ResourceError {
  return new ResourceError("E611", `the Dask scheduler at ${address} is gone`, "start it and run again");
}

export function bridgeEnded(reason: string): ResourceError {
  return new ResourceError("E612", `the bridge to Dask ended: ${reason}`, "run again");
}

export function clusterClosed(): ResourceError {
  const remedy = "await what is under way before closing, or connect again";
  return new ResourceError("E637", "the cluster was closed", remedy);
}

export function executorSilent(task: string, worker: string, seconds: number): ResourceError {
  const message = `executors on ${worker} did not answer twice within ${seconds} s of ${task}`;
  return new ResourceError("E613", message, "look at the load of the host, or raise --task-timeout");
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
  return new ResourceError("E634", message, remedy);
}

export function wrongShare(worker: string, problem: string): UsageError {
  const message = `the environment of worker ${worker} has no share of memory: ${problem}`;
  return new UsageError("E635", message, "give a number such as 0.8, or 0 to switch the watch off");
}

export function folderNotShared(folder: string, reason: string): UsageError {
  const message = `${folder} is not shared: ${thisProcess()} does not see there what the client sees: ${reason}`;
  const remedy = "name a folder on storage that all hosts see under one path, or leave --out FOLDER/ out";
  return new UsageError("E614", message, remedy);
}

export function inputDiffers(file: string, worker: string, difference: string): DataError {
  const message = `${worker} sees another ${file} than the client: ${difference}`;
  const remedy =
    "put it on storage that all hosts see under one path, leave it as it is while a run is under way, or use --scatter";
  return new DataError("E623", message, remedy);
}

export function sourceNotShared(path: string, reason: string): DataError {
  const message = `the workers cannot read ${path}: ${reason}`;
  return new DataError(
    "E615",
    message,
    "put it on storage that all hosts see under one path, or use --scatter",
  );
}

export function onlyOnCluster(option: string): UsageError {
  return new UsageError(
    "E617",
    `${option} is for a cluster`,
    "factorloom cluster eval writes folders; here give a file",
  );
}

export function operatorsDiffer(module: string, worker: string): UsageError {
  const message = `${worker} sees another module of operators under ${module} than the client, or other imports of it`;
  return new UsageError(
    "E624",
    message,
    "put the same files on all hosts under one path, and restart workers that had others",
  );
}

export function datasetInUse(folder: string): ResourceError {
  const message = `${folder} is being written by another run`;
  const remedy = "wait until that run has ended, for half a minute if its host is gone, or name a new folder";
  return new ResourceError("E625", message, remedy);
}

export function datasetDiffers(folder: string, difference: string): ResourceError {
  const message = `${folder} does not hold what the workers have written: ${difference}`;
  return new ResourceError("E626", message, "run again: complete files are used; remove other files first");
}

export function bundleChanged(worker: string, file: string): ResourceError {
  const message = `the code of the executors on worker ${worker} was changed: ${file}`;
  return new ResourceError("E627", message, "start the worker again");
}

export function datasetTaken(folder: string): UsageError {
  const message = `${folder} holds something else already, or the result of another run`;
  return new UsageError("E629", message, "name a new folder, or empty it");
}

export function localClusterFailed(reason: string): ResourceError {
  return new ResourceError("E618", `the cluster did not start: ${reason}`, "see what it printed above");
}

export function bundleNotUnpacked(worker: string, reason: string): ResourceError {
  const message = `worker ${worker} could not unpack the code of its executors: ${reason}`;
  return new ResourceError("E619", message, "free space in the worker's --local-directory");
}

/** The error of a fault, as the client throws it. */
export function errorOfFault({ errorClass, code, problem, remedy }: TaskFault): FactorloomError {
  if (errorClass === "data") return new DataError(code, problem, remedy);
  if (errorClass === "usage") return new UsageError(code, problem, remedy);
  if (errorClass === "resource") return new ResourceError(code, problem, remedy);
  return new InternalError(problem);
}
