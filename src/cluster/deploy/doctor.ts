import { mkdtemp, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Bridge, type ProbedWorker, type PythonVersions, type TlsFiles } from "../bridge/bridge.ts";
import { findPython } from "../bridge/python.ts";
import { installExecutors } from "./bundle.ts";

export interface DoctorOptions {
  /** Address of the scheduler. */
  readonly scheduler: string;
  /** Folder for datasets; client and workers should see it under this path. */
  readonly out?: string | undefined;
  readonly python?: string | undefined;
  /** Node on the workers. */
  readonly node?: string | undefined;
  readonly tls?: TlsFiles | undefined;
  /** Ends the trial. */
  readonly signal?: AbortSignal | undefined;
}

export interface ClusterHealth {
  readonly scheduler: string;
  readonly dashboard: string | null;
  readonly versions: { readonly client: PythonVersions; readonly scheduler: PythonVersions };
  readonly workers: readonly ProbedWorker[];
  /** Everything that prevents an evaluation, or may prevent it; empty if all is well. */
  readonly problems: readonly string[];
}

const START_SECONDS_MAX = 30;
const TRIAL_SECONDS_MAX = 60;
/** Runs compare times of files, which other hosts may set, with their own clock. */
const CLOCK_SECONDS_MAX = 5;

/**
 * Has each worker start an executor, as an evaluation does, and write in the folder for datasets.
 *
 * @throws UsageError E528 for a wrong address; ResourceError E602 without Python, E603 and E604 if there is no
 *   scheduler or no worker; the signal's reason when aborted.
 */
export async function examineCluster(options: DoctorOptions): Promise<ClusterHealth> {
  const { scheduler, out, node = null, tls, signal } = options;
  const bridge = await Bridge.start({ python: await findPython(options.python, signal), signal });
  const problems: string[] = [];
  let folder: string | null = null;
  try {
    const facts = await bridge.connect(scheduler, { timeoutSeconds: START_SECONDS_MAX, tls });
    // Each worker says itself what it lacks.
    await installExecutors(bridge, node).catch(() => undefined);
    if (out !== undefined) {
      folder = await mkdtemp(join(resolve(out), ".factorloom-doctor-")).catch((error: Error) => {
        problems.push(`the client cannot use the folder ${resolve(out)}: ${error.message}`);
        return null;
      });
    }
    const probed = await bridge.probe(folder, TRIAL_SECONDS_MAX);
    const workers = probed.toSorted((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
    const versions = { client: bridge.versions, scheduler: facts.schedulerVersions };
    problems.push(...problemsOf(versions, workers));
    return { scheduler, dashboard: facts.dashboard, versions, workers, problems };
  } finally {
    await bridge.close();
    if (folder !== null) await rm(folder, { recursive: true, force: true });
  }
}

/** Versions that do not match, why tasks do not run on workers, and clocks that differ. */
export function problemsOf(
  { client, scheduler }: ClusterHealth["versions"],
  workers: readonly ProbedWorker[],
): string[] {
  return [
    ...versionProblems("the scheduler", scheduler, client),
    ...workers.flatMap(({ name, versions, problem, clockSeconds = 0 }) => [
      ...(versions ? versionProblems(name, versions, client) : []),
      ...(problem === undefined ? [] : [`${name}: ${problem}`]),
      ...(Math.abs(clockSeconds) > CLOCK_SECONDS_MAX
        ? [`${name}: its clock differs by ${clockSeconds.toFixed(1)} s from the client's; set it`]
        : []),
    ]),
  ];
}

function versionProblems(name: string, versions: PythonVersions, client: PythonVersions): string[] {
  const parts = (["python", "dask", "distributed"] as const).filter(
    (part) => comparedVersion(part, versions[part]) !== comparedVersion(part, client[part]),
  );
  return parts.map(
    (part) => `${name} has ${part} ${versions[part]}, the client ${client[part]}; install one version on all`,
  );
}

/** Functions are sent as bytecode, which is equal for all patches of a Python; after a plus is the packager. */
function comparedVersion(part: keyof PythonVersions, version: string): string {
  const [released] = version.split("+");
  return part === "python" ? released!.split(".").slice(0, 2).join(".") : released!;
}
