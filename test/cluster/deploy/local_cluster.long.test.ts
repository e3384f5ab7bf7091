import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { findPython } from "../../../src/cluster/bridge/python.ts";
import { startLocalCluster } from "../../../src/cluster/deploy/local_cluster.ts";
import { fileFolder } from "../../support/file_folder.ts";
import { hasDask } from "../../support/needs.ts";
import { until, untilGone } from "../../support/until.ts";
import { type ProcessEntry, processes } from "../support/processes/process_group.ts";

/** The script that this process has started, and the processes of its session; none if it has ended. */
async function session(parent = process.pid): Promise<ProcessEntry[]> {
  const all = (await processes()).filter(({ isRunning }) => isRunning);
  const script = all.find(
    (each) => each.parent === parent && each.group === each.pid && isScript(each.command),
  );
  return all.filter(({ group }) => group === script?.pid);
}

const isScript = (command: string) => command.includes("local_cluster.py");
const isWorker = ({ command }: ProcessEntry) => command.includes("spawn_main");
const pidsOf = (entries: readonly ProcessEntry[]) => entries.map(({ pid }) => pid);

/** None for a process that has ended. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Addresses on which these processes listen, as the kernel writes them: `0100007F:1F90`. */
function listeningOf(pids: readonly number[]): string[] {
  const sockets = pids.flatMap((pid) => {
    const folder = `/proc/${pid}/fd`;
    return namesIn(folder).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(join(folder, fd)))?.[1] ?? [];
      } catch {
        return [];
      }
    });
  });
  return ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((table) => {
    const rows = existsSync(table) ? readFileSync(table, "utf8").trim().split("\n").slice(1) : [];
    return rows.flatMap((row) => {
      const cells = row.trim().split(/\s+/);
      const isListening = cells[3] === "0A";
      return isListening && sockets.includes(cells[9]!) ? [cells[1]!] : [];
    });
  });
}

/** Environment that a process was started with. */
function environmentOf(pid: number): Record<string, string> {
  const lines = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  return Object.fromEntries(lines.map((line) => [line.split("=", 1)[0]!, line.slice(line.indexOf("=") + 1)]));
}

const files = fileFolder();

describe.runIf(await hasDask())("a cluster on this machine", () => {
  /** Folders of clusters are made here. */
  let temporary = "";
  beforeAll(() => {
    temporary = mkdtempSync(join(tmpdir(), "factorloom-local-"));
    vi.stubEnv("TMPDIR", temporary);
  });
  afterAll(() => {
    vi.unstubAllEnvs();
    rmSync(temporary, { recursive: true, force: true });
  });

  async function expectNothingLeft(pids: readonly number[]): Promise<void> {
    const running = (await processes()).filter(({ isRunning, pid }) => isRunning && pids.includes(pid));
    expect(running).toEqual([]);
    expect(readdirSync(temporary)).toEqual([]);
  }

  test("has its workers, listens on loopback only and leaves nothing behind", async () => {
    const cluster = await startLocalCluster({ workers: 2, memoryLimit: 2 ** 30 });
    const pids = pidsOf(await session());
    try {
      expect(cluster.address).toMatch(/^tcp:\/\/127\.0\.0\.1:\d+$/);
      const workers = (await session()).filter(isWorker);
      expect(workers).toHaveLength(2);
      expect(readdirSync(temporary)).toHaveLength(1);
      if (process.platform === "linux") {
        expect(environmentOf(workers[0]!.pid)).toMatchObject({
          FACTORLOOM_NODE: process.execPath,
          DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL: "30s",
          DASK_DISTRIBUTED__COMM__COMPRESSION: "None",
          DASK_DISTRIBUTED__WORKER__TRANSFER__MESSAGE_BYTES_LIMIT: String(2 ** 25),
        });
        const listening = listeningOf(pids);
        // Scheduler and workers each for Dask and for HTTP, nannies for Dask.
        expect(listening.length).toBeGreaterThanOrEqual(2 + 2 * 3);
        expect(listening.filter((address) => !address.startsWith("0100007F:"))).toEqual([]);
      }
    } finally {
      await cluster[Symbol.asyncDispose]();
    }
    await expectNothingLeft(pids);
    await expect(fetch(cluster.address.replace("tcp:", "http:"))).rejects.toThrow();
  });

  test("a worker that is killed comes back", async () => {
    await using _cluster = await startLocalCluster({ workers: 1 });
    const [killed] = (await session()).filter(isWorker);
    process.kill(killed!.pid, "SIGKILL");
    await until(async () => (await session()).some((each) => isWorker(each) && each.pid !== killed!.pid));
  });

  test.each(["worker", "script"])("leaves nothing behind where its %s is stopped", async (which) => {
    const cluster = await startLocalCluster({ workers: 2 });
    const all = await session();
    process.kill(
      all.find((each) => (which === "worker" ? isWorker(each) : isScript(each.command)))!.pid,
      "SIGSTOP",
    );
    await cluster[Symbol.asyncDispose]();
    await expectNothingLeft(pidsOf(all));
  });

  test("says how it has ended where its script is killed", async () => {
    const cluster = await startLocalCluster({ workers: 1 });
    const all = await session();
    process.kill(all.find(({ command }) => isScript(command))!.pid, "SIGKILL");
    expect(await cluster.ended).toMatch(/^it was ended by SIGKILL/);
    await cluster[Symbol.asyncDispose]();
    await expectNothingLeft(pidsOf(all));
  });

  test("ends with its scheduler", async () => {
    await using cluster = await startLocalCluster({ workers: 1 });
    const path = await findPython();
    const shutdown = `from distributed import Client; Client(${JSON.stringify(cluster.address)}).shutdown()`;
    spawn(path, ["-c", shutdown], { stdio: "ignore" });
    expect(await cluster.ended).toMatch(/^it ended with status 1\n(.*\n)*the scheduler has ended/);
  });

  test("ends with the process that started it, also where a worker is stopped", async () => {
    const module = pathToFileURL(
      join(import.meta.dirname, "../../../src/cluster/deploy/local_cluster.ts"),
    ).href;
    const program = `import { startLocalCluster } from "${module}";
      await startLocalCluster({ workers: 1 });
      console.log("started");`;
    const parent = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const closed = once(parent, "close");
    let pids: number[] = [];
    try {
      await once(parent.stdout, "data");
      const all = await session(parent.pid);
      pids = pidsOf(all);
      expect(pids.length).toBeGreaterThanOrEqual(2);
      process.kill(all.find(isWorker)!.pid, "SIGSTOP");
    } finally {
      parent.kill("SIGKILL");
      await closed;
    }
    await untilGone(pids);
    await expectNothingLeft(pids);
  });

  test("says what was printed if it does not start", async () => {
    const broken = join(files, "python-broken");
    // It has the versions, not the script.
    writeFileSync(
      broken,
      `#!/bin/sh\n[ "$1" = -c ] && printf '3.11.2\\n2022.12.1\\n' || { echo much >&2; exit 3; }\n`,
    );
    chmodSync(broken, 0o755);
    const message = expect.stringContaining("the cluster did not start: it ended with status 3\nmuch");
    const wrong = startLocalCluster({ workers: 1, python: broken });
    await expect(wrong).rejects.toMatchObject({ code: "E603", message });
    vi.stubEnv("DASK_DISTRIBUTED__WORKER__PRELOAD", "no_such_module_to_load");
    try {
      const lacking = startLocalCluster({ workers: 1 });
      await expect(lacking).rejects.toMatchObject({
        code: "E603",
        message: expect.stringContaining("no_such_module"),
      });
    } finally {
      vi.stubEnv("DASK_DISTRIBUTED__WORKER__PRELOAD", undefined);
    }
    await expectNothingLeft([]);
  });

  test("needs a Python with distributed", async () => {
    const wrong = startLocalCluster({ workers: 1, python: "/nowhere/python3" });
    await expect(wrong).rejects.toMatchObject({ code: "E602" });
  });
});
