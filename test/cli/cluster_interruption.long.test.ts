import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ProcessCluster } from "../cluster/support/processes/process_cluster.ts";
import { schedulerCounts } from "../cluster/support/scheduler_counts.ts";
import { hasDask } from "../support/needs.ts";
import { until } from "../support/until.ts";
import { BARS, runCli } from "./run_cli.ts";
import { withoutSignsOfLife } from "./signs_of_life.ts";

const MAIN = join(import.meta.dirname, "../../dist/src/cli/main.js");
/** Far less than the phases would last. */
const END_MS_MAX = 15_000;

describe.runIf(await hasDask())("an evaluation on a cluster", () => {
  let folder = "";
  let dask: ProcessCluster;
  /** Clients that the scheduler counts while no client is connected. */
  let idle = 0;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "factorloom-interruption-"));
    writeFileSync(join(folder, "f.factors"), "x = rank(close)\n");
    writeFileSync(join(folder, "bars.csv"), BARS);
    const config = { DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL: "10 minutes" };
    dask = await ProcessCluster.start({ workers: 0, config });
    idle = await clients();
  });
  afterAll(async () => {
    await dask?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function start(scheduler: string, ...args: string[]): ChildProcess {
    const command = ["cluster", "eval", "f.factors", "--data", "bars.csv", "--scheduler", scheduler];
    return spawn(process.execPath, [MAIN, ...command, "--timeout", "600", ...args], {
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
  }

  /** The exit code after a signal, and how long it took. */
  async function ended(child: ChildProcess, signal: "SIGINT" | "SIGTERM") {
    const [exit, said] = [once(child, "exit"), text(child.stderr!)];
    const begin = performance.now();
    child.kill(signal);
    const [code] = await exit;
    const ms = performance.now() - begin;
    expect(ms).toBeLessThan(END_MS_MAX);
    return { code, said: withoutSignsOfLife(await said) };
  }

  const SIGNALS = [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const;

  const clients = async () => (await schedulerCounts(dask)).clients;

  test.for(SIGNALS)("is ended by %s while Python starts", async ([signal, code]) => {
    const python = join(folder, `python-${signal}`);
    writeFileSync(python, `#!/bin/sh\ntouch "$0.started"\nexec sleep 600\n`);
    chmodSync(python, 0o755);
    const child = start("tcp://127.0.0.1:1", "--python", python);
    await until(() => existsSync(`${python}.started`));
    expect(await ended(child, signal)).toEqual({ code, said: `ended by ${signal}\n` });
  });

  test.for(SIGNALS)("is ended by %s while the scheduler says nothing", async ([signal, code]) => {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const child = start(`tcp://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await once(server, "connection");
    expect(await ended(child, signal)).toEqual({ code, said: `ended by ${signal}\n` });
    server.close();
  });

  test.for(SIGNALS)("is ended by %s while it waits for workers", async ([signal, code]) => {
    await until(async () => (await clients()) === idle);
    const child = start(dask.address);
    await until(async () => (await clients()) > idle);
    expect(await ended(child, signal)).toEqual({ code, said: `ended by ${signal}\n` });
  });

  test.for(SIGNALS)("is ended by %s while executors are brought", async ([signal, code]) => {
    await until(async () => (await clients()) === idle);
    if ((await dask.workerPids()).length === 0) await dask.addWorker();
    const [worker] = await dask.workerPids();
    process.kill(worker!, "SIGSTOP");
    try {
      const child = start(dask.address);
      await until(async () => (await clients()) > idle);
      expect(await ended(child, signal)).toEqual({ code, said: `ended by ${signal}\n` });
    } finally {
      process.kill(worker!, "SIGCONT");
    }
  });

  test("--timeout holds for the start of Python, too", async () => {
    const python = join(folder, "python-slow");
    writeFileSync(python, "#!/bin/sh\nexec sleep 600\n");
    chmodSync(python, 0o755);
    const args = ["--scheduler", "tcp://127.0.0.1:1", "--python", python, "--timeout", "2"];
    const files = { "f.factors": "x = close\n", "bars.csv": BARS };
    const begin = performance.now();
    const { exitCode, stderr } = await runCli(
      ["cluster", "eval", "f.factors", "--data", "bars.csv", ...args],
      files,
    );
    expect(stderr).toMatch(
      /^E603 the start of Python takes longer than --timeout allows .* \(2 s\)\n {2}raise/,
    );
    expect(exitCode).toBe(2);
    expect(performance.now() - begin).toBeLessThan(20_000);
  });
});

test.runIf(await hasDask())("an evaluation waits for the scheduler until --timeout", async () => {
  const examples = join(import.meta.dirname, "../../examples");
  const bars = [
    "--data",
    join(examples, "data/sp100_daily.csv.gz"),
    "--groups",
    join(examples, "data/sp100_sectors.csv"),
  ];
  const nowhere = ["--scheduler", "tcp://127.0.0.1:1", "--timeout", "30"];
  const result = await runCli(["cluster", "eval", join(examples, "alpha101.factors"), ...bars, ...nowhere]);
  expect(result).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/^E603 no Dask scheduler answers at tcp:\/\/127\.0\.0\.1:1: Timed out/),
  });
});
