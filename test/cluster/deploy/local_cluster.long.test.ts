import { spawn } from "node:child_process";
import { once } from "node:events";
import {
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
import { describe, expect, test, vi } from "vitest";
import { processes } from "../../../src/cluster/bridge/process_group.ts";
import { startLocalCluster } from "../../../src/cluster/deploy/local_cluster.ts";
import { hasDask } from "../../support/needs.ts";

/** All processes of the groups that these lead. */
async function membersOf(leaders: readonly number[]): Promise<number[]> {
  const all = await processes();
  return all.filter(({ group, isRunning }) => isRunning && leaders.includes(group)).map(({ pid }) => pid);
}

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

describe.runIf(await hasDask())("a cluster on this machine", () => {
  test("has its workers, listens on loopback only and leaves nothing behind", async () => {
    const cluster = await startLocalCluster({
      workers: 2,
      config: { DASK_DISTRIBUTED__WORKER__MEMORY__SPILL: "0.5" },
    });
    const added = await cluster.addWorker().catch(async (error) => {
      await cluster.close();
      throw error;
    });
    const leaders = [cluster.schedulerPid, ...cluster.workers.map(({ pid }) => pid)];
    try {
      expect(cluster.address).toMatch(/^tcp:\/\/127\.0\.0\.1:\d+$/);
      expect(cluster.workers.map(({ name }) => name)).toEqual(["worker-0", "worker-1", "worker-2"]);
      expect(cluster.workers).toContainEqual(added);
      const workers = await cluster.workerPids();
      expect(workers).toHaveLength(3);
      expect(leaders).not.toEqual(expect.arrayContaining(workers));
      if (process.platform === "linux") {
        expect(environmentOf(workers[0]!)).toMatchObject({
          FACTORLOOM_NODE: process.execPath,
          DASK_DISTRIBUTED__WORKER__MEMORY__SPILL: "0.5",
          DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL: "30s",
        });
        const listening = listeningOf(await membersOf(leaders));
        // Scheduler and workers each for Dask and for HTTP, nannies for Dask.
        expect(listening.length).toBeGreaterThanOrEqual(2 + 3 * 3);
        expect(listening.filter((address) => !address.startsWith("0100007F:"))).toEqual([]);
      }
    } finally {
      await cluster.close();
    }
    expect(await membersOf(leaders)).toEqual([]);
    expect(existsSync(cluster.folder)).toBe(false);
    await expect(fetch(cluster.address.replace("tcp:", "http:"))).rejects.toThrow();
    // Closed again, it is closed.
    await cluster.close();
  });

  test("ends where a worker is stopped, another killed with its nanny gone, and the scheduler stopped", async () => {
    const ended: string[] = [];
    const onEnd = (name: string) => ended.push(name);
    const folder = mkdtempSync(join(tmpdir(), "factorloom-local-"));
    const cluster = await startLocalCluster({ workers: 2, folder, onEnd });
    const leaders = [cluster.schedulerPid, ...cluster.workers.map(({ pid }) => pid)];
    try {
      const all = await processes();
      const [first, second] = cluster.workers;
      const childOf = async (nanny: number) =>
        (await cluster.workerPids()).find((pid) =>
          all.some((each) => each.pid === pid && each.parent === nanny),
        )!;
      const [stopped, orphan] = [await childOf(first!.pid), await childOf(second!.pid)];
      process.kill(stopped, "SIGSTOP");
      process.kill(orphan, "SIGSTOP");
      process.kill(second!.pid, "SIGKILL");
      await vi.waitFor(() => expect(ended).toEqual(["worker-1"]), { timeout: 30_000 });
      process.kill(cluster.schedulerPid, "SIGSTOP");
    } finally {
      await cluster.close();
    }
    expect(ended).toEqual(["worker-1"]);
    expect(await membersOf(leaders)).toEqual([]);
    // The folder was ours.
    expect(existsSync(folder)).toBe(true);
    rmSync(folder, { recursive: true, force: true });
  });

  test("does not take what an earlier scheduler left in the folder for its own", async () => {
    const folder = mkdtempSync(join(tmpdir(), "factorloom-local-"));
    const stale = { address: "tcp://127.0.0.1:9", services: { dashboard: 9 } };
    writeFileSync(join(folder, "scheduler.json"), JSON.stringify(stale));
    try {
      await using cluster = await startLocalCluster({ workers: 0, folder });
      expect(cluster.address).not.toBe(stale.address);
    } finally {
      expect(existsSync(join(folder, "scheduler.json"))).toBe(false);
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("without nannies workers are the processes that were started", async () => {
    await using cluster = await startLocalCluster({
      workers: 1,
      threadsPerWorker: 2,
      nanny: false,
      memoryLimit: "1GB",
    });
    expect(await cluster.workerPids()).toEqual(cluster.workers.map(({ pid }) => pid));
  });

  test("ends with the process that started it", async () => {
    const module = pathToFileURL(
      join(import.meta.dirname, "../../../src/cluster/deploy/local_cluster.ts"),
    ).href;
    const program = `import { startLocalCluster } from "${module}";
      const { schedulerPid, workers, folder } = await startLocalCluster({ workers: 1 });
      console.log(JSON.stringify({ leaders: [schedulerPid, workers[0].pid], folder }));`;
    const parent = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const closed = once(parent, "close");
    let leaders: number[] = [];
    let folder = "";
    try {
      const [line] = await once(parent.stdout, "data");
      ({ leaders, folder } = JSON.parse(String(line)));
      expect(await membersOf(leaders)).not.toEqual([]);
      parent.kill("SIGKILL");
      await vi.waitFor(async () => expect(await membersOf(leaders)).toEqual([]), { timeout: 30_000 });
    } finally {
      parent.kill("SIGKILL");
      for (const pid of await membersOf(leaders)) process.kill(pid, "SIGKILL");
      await closed;
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("says what was printed if it does not start", async () => {
    await using cluster = await startLocalCluster({ workers: 0 });
    const wrong = cluster.addWorker(["--nthreads", "much"]);
    const message = expect.stringContaining("much");
    await expect(wrong).rejects.toMatchObject({ code: "E618", message });
  });

  test("refuses a wrong memory limit", async () => {
    const wrong = startLocalCluster({ workers: 1, memoryLimit: "much" });
    await expect(wrong).rejects.toMatchObject({ code: "E507", message: expect.stringContaining("much") });
  });

  test("needs a Python with distributed", async () => {
    const wrong = startLocalCluster({ workers: 1, python: "/nowhere/python3" });
    await expect(wrong).rejects.toMatchObject({ code: "E602" });
  });
});
