import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { ResourceError } from "../../src/errors.ts";
import type { Panel } from "../../src/panel.ts";
import { CORRELATIONS, type FactorName, FIELDS } from "./factors.ts";
import { MissingPeer, type Peer, type PeerRun } from "./peer.ts";

/** The system's, which sees the system's packages. */
const PYTHON = "/usr/bin/python3";
const INSTALL = "install it with `apt-get install python3-pandas`";

/** pandas in a process of its own, by the system's Python; it computes on one thread. */
export function pandasPeer(python = PYTHON): Peer {
  return {
    name: "pandas",
    runningSums: CORRELATIONS,
    measure: (panel, factors, runs) => measurePandas(python, panel, factors, runs),
  };
}

async function measurePandas(
  python: string,
  panel: Panel,
  factors: readonly FactorName[],
  runs: number,
): Promise<PeerRun> {
  await requirePandas(python);
  const folder = await mkdtemp(join(tmpdir(), "factorloom-pandas-"));
  const file = (name: string) => join(folder, `${name}.f64`);
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    for (const field of FIELDS) await writeFile(file(field), panel.fields.get(field) as Float64Array);
    const { rowCount: rows, laneCount: lanes } = panel;
    const request = JSON.stringify({ folder, rows, lanes, fields: FIELDS, factors, runs });
    const answer = await runPython(python, ["-B", scriptPath()], request);
    if (answer.failure !== null)
      throw new ResourceError("E449", "pandas does not compute the factors", answer.failure);
    const { version, wallMs } = JSON.parse(answer.stdout) as Pick<PeerRun, "version" | "wallMs">;
    return {
      version,
      threads: 1,
      wallMs,
      values: async (factor) => new Float64Array(new Uint8Array(await readFile(file(factor))).buffer),
      [Symbol.asyncDispose]: remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function requirePandas(python: string): Promise<void> {
  const { failure } = await runPython(python, ["-c", "import pandas"], "");
  if (failure !== null) throw new MissingPeer(`${python} has no pandas: ${INSTALL}`);
}

/** `failure`: why it did not end well, the last line that it said. */
async function runPython(
  python: string,
  args: readonly string[],
  input: string,
): Promise<{ stdout: string; failure: string | null }> {
  const child = spawn(python, args, { stdio: "pipe" });
  // A process that does not start, or ends early, does not read what it is given.
  child.stdin.on("error", () => {}).end(input);
  const ended = once(child, "close").catch((error: Error) => [error.message]);
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  const lastLine = stderr.trim().split("\n").at(-1);
  return { stdout, failure: status === 0 ? null : lastLine || String(status) };
}

/** Scripts stand beside the source of this file; the build lies one folder deeper. */
function scriptPath(): string {
  return fileURLToPath(new URL("pandas_peer.py", import.meta.url));
}
