import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { noPython } from "../protocol/errors.ts";

/** Loading takes about half a second, more on a busy host. */
const CHECK_MS_MAX = 30_000;

/**
 * Path of the Python that the caller or FACTORLOOM_PYTHON names; else the first that has distributed, of the one on the PATH and
 * the system's: those of version managers often lack the system's packages.
 *
 * @throws ResourceError E602 if no candidate has distributed; the signal's reason when aborted.
 */
export async function findPython(wanted?: string, signal?: AbortSignal): Promise<string> {
  const named = wanted ?? process.env["FACTORLOOM_PYTHON"];
  const candidates = named ? [named] : ["python3", "/usr/bin/python3"];
  for (const path of candidates) {
    try {
      const options = { timeout: CHECK_MS_MAX, signal, killSignal: "SIGKILL" } as const;
      await promisify(execFile)(path, ["-c", "import distributed"], options);
      return path;
    } catch {
      // It does not start, or lacks distributed.
      signal?.throwIfAborted();
    }
  }
  throw noPython(candidates);
}

/** Path of a script of `src/cluster/python`; the build, which has no copy of it, lies one folder deeper. */
export function pythonScript(name: "bridge.py" | "local_cluster.py"): string {
  const folder = import.meta.url.endsWith(".ts") ? "../python" : "../../../../src/cluster/python";
  return fileURLToPath(new URL(`${folder}/${name}`, import.meta.url));
}
