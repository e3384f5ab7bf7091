import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { noPython } from "../protocol/errors.ts";

/** A Python that has Dask's distributed. */
export interface DaskPython {
  readonly path: string;
  /** Its version, and that of distributed. */
  readonly python: string;
  readonly distributed: string;
}

const VERSIONS =
  "import distributed, platform; print(platform.python_version()); print(distributed.__version__)";

/** Loading takes about half a second; a host under load is given time. */
const CHECK_MS_MAX = 30_000;

/**
 * The Python that is named, by the caller or by FACTORLOOM_PYTHON; else the first of the one on the PATH and the
 * system's that has distributed: those of version managers often lack what the system's packages bring.
 *
 * @throws ResourceError E602 if the named one, or all of them, lack it; the signal's reason when aborted.
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

/** Null for a Python that does not start, or without distributed. */
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

/** Path of a script of this room. Scripts stand beside the source of this file; the build lies one folder deeper. */
export function pythonScript(name: "bridge.py" | "doctor.py" | "local_process.py"): string {
  const folder = import.meta.url.endsWith(".ts") ? "../python" : "../../../../src/cluster/python";
  return fileURLToPath(new URL(`${folder}/${name}`, import.meta.url));
}
