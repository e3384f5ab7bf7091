import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { findPython } from "../../../src/cluster/bridge/python.ts";

const PYTHON = join(import.meta.dirname, "../../../src/cluster/python");

/** To find it takes as long as a script. */
let python: Promise<string> | null = null;

/** The lines that a script prints, which can import the modules of the cluster; its arguments begin at `sys.argv[1]`. */
export async function printed(script: string, ...args: string[]): Promise<string[]> {
  python ??= findPython();
  const whole = `import sys\nsys.path.insert(0, ${JSON.stringify(PYTHON)})\n${script}`;
  const { stdout } = await promisify(execFile)(await python, ["-B", "-c", whole, ...args]);
  return stdout.trimEnd().split("\n");
}
