import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findPython } from "../../../src/cluster/bridge/python.ts";
import { type ProcessEntry, processes } from "../../cluster/support/processes/process_group.ts";
import { fileFolder } from "../../support/file_folder.ts";
import { hasDask } from "../../support/needs.ts";
import { until, untilGone } from "../../support/until.ts";
import { runCli } from "../run_cli.ts";

const MAIN = join(import.meta.dirname, "../../../dist/src/cli/main.js");

/** `cluster local` under way. */
interface Running {
  readonly child: ChildProcess;
  readonly address: string;
  /** All that it printed up to the last line of the announcement. */
  readonly announced: readonly string[];
  readonly exit: Promise<unknown[]>;
  readonly stderr: Promise<string>;
}

async function startLocal(...args: string[]): Promise<Running> {
  return await startLocalWith({}, ...args);
}

async function startLocalWith(variables: NodeJS.ProcessEnv, ...args: string[]): Promise<Running> {
  const child = spawn(process.execPath, [MAIN, "cluster", "local", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...variables },
  });
  const exit = once(child, "exit");
  const stderr = text(child.stderr);
  const announced: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    announced.push(line);
    if (line.startsWith("Ctrl-C")) break;
  }
  const address = /tcp:\/\/127\.0\.0\.1:\d+/.exec(announced[0] ?? "")?.[0] ?? (await stderr);
  return { child, address, announced, exit, stderr };
}

/** What scheduler and worker of the address go by, and what the worker has: as JSON. */
const SETTINGS_SEEN = `
import json, sys
from distributed import Client

def seen():
    import dask
    keys = {"ttl": "scheduler.worker-ttl", "profile": "worker.profile.interval", "tick": "admin.tick.interval", "limit": "admin.tick.limit", "saturation": "scheduler.worker-saturation"}
    return {name: dask.config.get("distributed." + key) for name, key in keys.items()}

client = Client(sys.argv[1])
[worker] = client.scheduler_info()["workers"].values()
[on_worker] = client.run(seen).values()
print(json.dumps({"resources": worker["resources"], "settings": [client.run_on_scheduler(seen), on_worker]}))
`;

/** Processes of the cluster: Dask's LocalCluster and what it has started. */
async function clusterOf({ child }: Running): Promise<ProcessEntry[]> {
  const all = (await processes()).filter(({ isRunning }) => isRunning);
  const leaders = all.filter(({ parent }) => parent === child.pid).map(({ pid }) => pid);
  return all.filter(({ group }) => leaders.includes(group));
}

describe.runIf(await hasDask())("cluster local", () => {
  let running: Running | undefined;
  afterEach(async () => {
    running?.child.kill("SIGKILL");
    await running?.exit;
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("says where it is and ends with %s", async (signal, status) => {
    running = await startLocal("--workers", "1", "--threads", "2", "--memory-limit", "1GiB");
    const { address, announced, child, exit, stderr } = running;
    expect(announced).toEqual([
      `scheduler   ${address}`,
      expect.stringMatching(
        /^dashboard {3}(http:\/\/127\.0\.0\.1:\d+\/status|none: install bokeh to see it)$/,
      ),
      "workers     1, each with 2 threads",
      `evaluate    factorloom cluster eval FORMULAS --data BARS --scheduler ${address}`,
      "Ctrl-C ends it",
    ]);
    const members = await clusterOf(running);
    expect(members.some(({ command }) => command.includes('"memory_limit":1073741824'))).toBe(true);
    child.kill(signal);
    expect(await exit).toEqual([status, null]);
    expect(await stderr).toBe("");
    await untilGone(members.map(({ pid }) => pid));
  });

  test("keeps the user's own settings of Dask, and gives workers what they are to have", async () => {
    const home = mkdtempSync(join(tmpdir(), "factorloom-home-"));
    try {
      mkdirSync(join(home, ".config/dask"), { recursive: true });
      writeFileSync(
        join(home, ".config/dask/mine.yaml"),
        "distributed:\n  scheduler:\n    worker-ttl: 77s\n  admin:\n    tick: {limit: 9s}\n",
      );
      const variables = { HOME: home, DASK_DISTRIBUTED__WORKER__PROFILE__INTERVAL: "7s" };
      const given = ["--resources", "GPU=2,DISK=0.5", "--worker-saturation", "2.5"];
      running = await startLocalWith(variables, "--workers", "1", ...given);
      const path = await findPython();
      const { stdout } = await promisify(execFile)(path, ["-c", SETTINGS_SEEN, running.address]);
      const settings = { ttl: "77s", profile: "7s", tick: "500ms", limit: "9s", saturation: 2.5 };
      expect(JSON.parse(stdout)).toEqual({
        resources: { GPU: 2, DISK: 0.5 },
        settings: [settings, settings],
      });
      running.child.kill("SIGTERM");
      await running.exit;
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });

  test("is ended by a signal while it starts", async () => {
    const child = spawn(process.execPath, [MAIN, "cluster", "local", "--workers", "1"], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [exit, said] = [once(child, "exit"), text(child.stdout)];
    // Dask takes a second to load.
    await until(async () => (await processes()).some(({ parent }) => parent === child.pid));
    child.kill("SIGTERM");
    expect(await exit).toEqual([143, null]);
    expect(await said).toBe("");
  });

  test("says so and ends if the cluster does", async () => {
    running = await startLocal("--workers", "1");
    const { exit, stderr } = running;
    const members = await clusterOf(running);
    process.kill(members.find(({ pid, group }) => pid === group)!.pid, "SIGKILL");
    expect(await exit).toEqual([2, null]);
    expect(await stderr).toContain("the cluster is gone: it was ended by SIGKILL");
    await untilGone(members.map(({ pid }) => pid));
  });

  test("refuses a wrong memory limit", async () => {
    const { exitCode, stderr } = await runCli(["cluster", "local", "--memory-limit", "much"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('E528 "much"') });
  });
});

describe.runIf(await hasDask())("cluster doctor", () => {
  let running: Running;
  const folder = mkdtempSync(join(fileFolder(), "out-"));
  beforeAll(async () => {
    running = await startLocal("--workers", "2");
  });
  afterAll(async () => {
    running.child.kill("SIGTERM");
    await running.exit;
  });

  test("shows what the workers answer, and that all is well", async () => {
    const args = ["cluster", "doctor", "--scheduler", running.address, "--out", folder];
    const { exitCode, stdout, stderr } = await runCli([...args, "--json"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const { problems, versions, workers } = JSON.parse(stdout);
    expect(problems).toEqual([]);
    expect(versions.scheduler).toEqual(versions.client);
    expect(workers).toHaveLength(2);
    for (const worker of workers) {
      expect(worker).toMatchObject({
        name: expect.stringMatching(/^worker-[01]$/),
        host: hostname(),
        versions: versions.client,
        node: process.versions.node,
        hasWritten: true,
      });
      expect(worker.memoryLimitBytes).toBeGreaterThan(0);
      expect(Math.abs(worker.clockSeconds)).toBeLessThan(5);
    }
    // The trial leaves nothing in the folder.
    expect(readdirSync(folder)).toEqual([]);

    const printed = await runCli(args);
    expect(printed.exitCode).toBe(0);
    expect(printed.stdout).toMatch(/^worker-1 .* written\n\nall is well\n$/m);
  });

  test("ends at a signal, with nothing left in the folder and no process", async () => {
    const args = [MAIN, "cluster", "doctor", "--scheduler", running.address, "--out", folder];
    const child = spawn(process.execPath, args, { stdio: "ignore" });
    const exit = once(child, "exit");
    await until(() => readdirSync(folder).length > 0);
    const below = (await processes()).filter(({ parent }) => parent === child.pid).map(({ pid }) => pid);
    child.kill("SIGTERM");
    expect(await exit).toEqual([143, null]);
    expect(readdirSync(folder)).toEqual([]);
    await untilGone(below);
  });

  test("reports a missing folder and a Node that is none", async () => {
    const args = ["cluster", "doctor", "--scheduler", running.address, "--json"];
    const [missing, node] = [
      await runCli([...args, "--out", join(folder, "missing")]),
      await runCli([...args, "--node", "/nowhere/node"]),
    ];
    expect([missing.exitCode, node.exitCode]).toEqual([2, 2]);
    expect(JSON.parse(missing.stdout).problems).toEqual([
      expect.stringMatching(/^the client cannot use the folder .*\/missing: ENOENT/),
    ]);
    expect(JSON.parse(node.stdout).problems).toEqual(
      [0, 1].map((index) =>
        expect.stringMatching(
          new RegExp(`^worker-${index}: E605 worker tcp:.* /nowhere/node is not there; install Node 24`),
        ),
      ),
    );
  });

  test("reports something that is no scheduler", async () => {
    const wrong = await runCli(["cluster", "doctor", "--scheduler", "nonsense"]);
    expect(wrong).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("E528 nonsense is not the address"),
    });
  });
});

test("a Python without distributed is reported", async () => {
  for (const command of [["local"], ["doctor", "--scheduler", "tcp://127.0.0.1:8786"]]) {
    const { exitCode, stderr } = await runCli(["cluster", ...command, "--python", "/nowhere/python3"]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining(
        "E602 no Python with Dask's distributed was found (tried /nowhere/python3)",
      ),
    });
  }
});
