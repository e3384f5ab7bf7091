import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Every process that a test starts inherits the mark of the run. */
const MARK = "FACTORLOOM_TEST_RUN";

export function setup(): void {
  process.env[MARK] = String(process.pid);
}

/**
 * After a run, however it ended: ends what tests have left running, e.g. the Dask cluster of a test that was given up. Found
 * in /proc, so on Linux only. Workers of the run itself are children of this process, and end with it.
 */
export function teardown(): void {
  const left = processesOf(String(process.pid)).filter(({ parent }) => parent !== process.pid);
  for (const { pid, command } of left) {
    console.log(`a test has left a process running, which is ended: ${pid} ${command}`);
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended by itself meanwhile.
    }
  }
}

function processesOf(run: string): { pid: number; parent: number; command: string }[] {
  if (!existsSync("/proc/self/environ")) return [];
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      const variables = readFileSync(`/proc/${name}/environ`, "utf8").split("\0");
      if (!variables.includes(`${MARK}=${run}`)) return [];
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").slice(0, 200);
      return [{ pid: Number(name), parent, command }];
    } catch {
      return []; // It has ended, or is another user's.
    }
  });
}
