import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { noPython } from "../protocol/errors.ts";

/** A Python that has Dask's distributed. */
export interface DaskPython {
  readonly path: string;
  /** Versions of Python and of distributed. */
  readonly python: string;
  readonly distributed: string;
}

const VERSIONS =
  "import distributed, platform; print(platform.python_version()); print(distributed.__version__)";

/** Loading takes about half a second, more on a busy host. */
const CHECK_MS_MAX = 30_000;

/**
 * The Python that the caller or FACTORLOOM_PYTHON names; else the first that has distributed, of the one on the PATH and
 * the system's: those of version managers often lack the system's packages.
 *
 * @throws ResourceError E602 if no candidate has distributed; the signal's reason when aborted.
 */
export async function findPython(wanted?: string, signal?: AbortSignal): Promise<DaskPython> {
  const named = wanted ?? process.env["FACTORLOOM_PYTHON"];
  const candidates = named ? [named] : ["python3", "/usr/bin/python3"];
  for (const path of candidates) {
    const versions = await versionsOf(path, signal);
    signal?.throwIfAborted();
    if (versions) return { path, ...versions };
  }
  throw noPython(candidates);
}

/** Null if Python does not start or lacks distributed. */
async function versionsOf(
  path: string,
  signal: AbortSignal | undefined,
): Promise<Omit<DaskPython, "path"> | null> {
  try {
    const { stdout } = await promisify(execFile)(path, ["-c", VERSIONS], {
      timeout: CHECK_MS_MAX,
      signal,
      killSignal: "SIGKILL",
    });
    const [python, distributed] = stdout.trim().split("\n").slice(-2);
    return { python: python!, distributed: distributed! };
  } catch {
    return null;
  }
}

/** Path of a script of `src/cluster/python`; the build, which has no copy of it, lies one folder deeper. */
export function pythonScript(name: "bridge.py" | "local_cluster.py"): string {
  const folder = import.meta.url.endsWith(".ts") ? "../python" : "../../../../src/cluster/python";
  return fileURLToPath(new URL(`${folder}/${name}`, import.meta.url));
}
