import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { keepLastLines } from "../../../../src/cluster/bridge/last_lines.ts";

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** False if it has ended and its parent has not waited for it. */
  readonly isRunning: boolean;
  readonly command: string;
}

/** How long a process may take to end before it is killed. */
const GRACE_MS = 2000;
/** How long its last lines may take to arrive. */
const LAST_LINES_MS = 200;
const LINES_MAX = 20;

/** A process that leads a new group: the processes that it starts belong to the group and end with it. */
export class ProcessGroup {
  readonly pid: number;
  /** Resolves when the leader has ended, with a description of how. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  readonly #lines: readonly string[];

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.pid = child.pid!;
    const closed = once(child, "close");
    this.ended = once(child, "exit").then(async ([code, signal]) => {
      // Waits for its last lines, not for the end of its output: its children may keep that open.
      await Promise.race([closed, wait(LAST_LINES_MS, null, { ref: false })]);
      return signal === null ? `it ended with status ${code}` : `it was ended by ${signal}`;
    });
    this.#lines = keepLastLines([child.stdout!, child.stderr!], LINES_MAX);
    // The leader may end before we do.
    child.stdin!.on("error", () => {});
  }

  /** @throws Error if the program cannot be started. */
  static async start(
    program: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv,
  ): Promise<ProcessGroup> {
    const child = spawn(program, args, { env, stdio: "pipe", detached: true });
    if (child.pid === undefined) throw (await once(child, "error"))[0];
    return new ProcessGroup(child);
  }

  /** The last lines of its output. */
  get lastLines(): string {
    return this.#lines.join("\n");
  }

  /** The running processes of the group, the leader among them. */
  async members(): Promise<ProcessEntry[]> {
    return (await processes()).filter(({ group, isRunning }) => group === this.pid && isRunning);
  }

  /** Asks the leader to end; kills what is left of the group after two seconds, stopped processes too. */
  async end(): Promise<void> {
    this.#child.kill("SIGTERM");
    const graceEnd = new AbortController();
    await Promise.race([this.ended, wait(GRACE_MS, null, { signal: graceEnd.signal }).catch(() => {})]);
    graceEnd.abort();
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // No process is left.
    }
    await this.ended;
    // Orphans are not children of this process, so their end has to be polled.
    for (let round = 0; round < GRACE_MS / 10 && (await this.members()).length > 0; round++) await wait(10);
  }
}

/** All processes of the machine. */
export async function processes(): Promise<ProcessEntry[]> {
  if (process.platform !== "linux") return listedProcesses();
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const entries = await Promise.all(pids.map((pid) => entryOf(Number(pid)).catch(() => [])));
  return entries.flat();
}

/** @throws Error if the process has ended. */
async function entryOf(pid: number): Promise<ProcessEntry[]> {
  const [stat, command] = await Promise.all([
    readFile(`/proc/${pid}/stat`, "utf8"),
    readFile(`/proc/${pid}/cmdline`, "utf8"),
  ]);
  // The fields follow the name, which is in brackets and may hold any character.
  const [state, parent, group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const isRunning = state !== "Z" && state !== "X";
  return [
    { pid, parent: Number(parent), group: Number(group), isRunning, command: command.replaceAll("\0", " ") },
  ];
}

async function listedProcesses(): Promise<ProcessEntry[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid=,pgid=,stat=,args="]);
  return [...stdout.matchAll(/^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/gm)].map(
    ([, pid, parent, group, state, command]) => ({
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      isRunning: !state!.startsWith("Z"),
      command: command!,
    }),
  );
}
