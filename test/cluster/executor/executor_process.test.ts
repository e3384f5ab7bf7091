import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TaskAnswer } from "../../../src/cluster/executor/task_runner.ts";
import { errorOfFault } from "../../../src/cluster/protocol/faults.ts";
import { type Frame, frameParts, readFrames } from "../../../src/cluster/protocol/frames.ts";
import { packJob } from "../../../src/cluster/protocol/job_bytes.ts";
import {
  type ClusterJob,
  type ClusterTask,
  type FromExecutor,
  PROTOCOL_VERSION,
  type ToExecutor,
} from "../../../src/cluster/protocol/protocol.ts";
import { compile, type Program } from "../../../src/compile.ts";
import type { PanelSource } from "../../../src/data/panel/panel_source.ts";
import { openPanelSource } from "../../../src/data/source/open_panel_source.ts";
import { readPanel } from "../../../src/data/source/read_panel.ts";
import { Engine } from "../../../src/engine.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import { fileFolder } from "../../support/file_folder.ts";
import { differenceOf } from "../support/difference.ts";
import { GATE_VARIABLE } from "../support/gate.ts";
import { type InProcessRequest, openInProcess, tableOfRun } from "../support/in_process_run.ts";
import { stuck } from "../support/stuck.ts";

const root = join(import.meta.dirname, "../../..");
const DATA = join(root, "examples/data/sp100_daily.csv.gz");
const GROUPS = join(root, "examples/data/sp100_sectors.csv");
const folder = fileFolder();
const children: Executor[] = [];
const mixed = compile("a = rank(ts_mean(close, 5))\nb = group_neutralize(cum_sum(close), sector)");
const stuckProgram = compile("a = stuck(close)", { operators: [stuck], fields: ["close"] });
let source: PanelSource;
beforeAll(async () => {
  source = await openPanelSource(DATA, { groups: GROUPS });
});
afterAll(async () => {
  for (const { child } of children) child.kill("SIGKILL");
  await source.close();
});

/** The other end of an executor's pipes. */
class Executor {
  readonly child: ChildProcess;
  /** Its exit code. */
  readonly ended: Promise<number | null>;
  stderr = "";
  readonly #frames: AsyncGenerator<Frame<FromExecutor>>;

  constructor() {
    this.child = spawn(process.execPath, [join(root, "src/cluster/executor/executor_process.ts")], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, [GATE_VARIABLE]: folder },
    });
    children.push(this);
    this.#frames = readFrames(this.child.stdout as Readable);
    this.ended = once(this.child, "close").then(([code]) => code as number | null);
    (this.child.stderr as Readable).on("data", (bytes) => {
      this.stderr += bytes;
    });
  }

  get stdin(): Writable {
    return this.child.stdin as Writable;
  }

  send(record: ToExecutor, buffers: readonly Uint8Array[] = []): void {
    for (const part of frameParts(record, buffers)) this.stdin.write(part);
  }

  async receive(): Promise<Frame<FromExecutor>> {
    return (await this.#frames.next()).value!;
  }

  async ask(record: ToExecutor, buffers: readonly Uint8Array[] = []): Promise<Frame<FromExecutor>> {
    this.send(record, buffers);
    return await this.receive();
  }

  async load(job: string, bytes: Uint8Array): Promise<void> {
    expect((await this.ask({ kind: "load", job }, [bytes])).record).toEqual({ kind: "loaded" });
  }

  /** Runs a task that does not fail. */
  async run(task: ClusterTask, panel: string | null = null): Promise<TaskAnswer> {
    const { record, buffers } = await this.ask({ kind: "run", task, panel });
    expect(record).toMatchObject({ kind: "done" });
    return { ...(record as Extract<FromExecutor, { kind: "done" }>), buffers };
  }
}

async function started(): Promise<Executor> {
  const executor = new Executor();
  expect((await executor.receive()).record.kind).toBe("hello");
  return executor;
}

/** A run in slabs whose executor reads the bundled bars itself. */
const requestOf = (program: Program): InProcessRequest => ({
  program,
  source,
  path: DATA,
  sourceOptions: { groups: GROUPS },
  slabRows: 700,
});

async function jobOf(program: Program, differing: Partial<InProcessRequest> = {}): Promise<ClusterJob> {
  const run = await openInProcess(undefined as never, { ...requestOf(program), ...differing });
  await run.close();
  return run.job;
}

async function loaded(job: ClusterJob): Promise<Executor> {
  const executor = await started();
  const { bytes, digest } = packJob(job);
  await executor.load(digest, bytes);
  return executor;
}

test("an executor says hello, and ends when its input does", async () => {
  const executor = new Executor();
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const { record, buffers } = await executor.receive();
  expect(record).toEqual({
    kind: "hello",
    protocol: PROTOCOL_VERSION,
    version,
    node: process.version,
    pid: executor.child.pid,
  });
  expect(buffers).toEqual([]);
  executor.stdin.end();
  expect(await executor.ended).toBe(0);
  expect(executor.stderr).toBe("");
});

test("real bars from their file, over all rows and in slabs, give the bits of the engine", async () => {
  await using engine = await Engine.start({ threads: 1 });
  const { table: expected } = await engine.evaluate(mixed, await readPanel(DATA, { groups: GROUPS }));
  const executor = await started();
  const run = await openInProcess(undefined as never, requestOf(mixed), { executor });
  expect(run.job.cut.shares.map(({ warmUpRows }) => warmUpRows)).toEqual([null, 4]);
  expect(differenceOf(await tableOfRun(run, source), expected)).toBe(null);
  executor.stdin.end();
  expect(await executor.ended).toBe(0);
});

test("two processes write a dataset, one after the other was killed", async () => {
  const dataset = join(folder, "dataset");
  const run = await openInProcess(undefined as never, { ...requestOf(mixed), dataset });
  const first = await loaded(run.job);
  const second = await loaded(run.job);
  // The last one to come would make the part itself, were it a slab.
  const [{ report: slab }, { report: history }] = [
    await first.run({ kind: "slab", share: 1, slab: 0 }),
    await first.run({ kind: "history", share: 0 }),
  ];
  for (const { bytesWritten, wasDone } of [slab, history]) {
    expect(bytesWritten).toBeGreaterThan(0);
    expect(wasDone).toBe(false);
  }
  first.child.kill("SIGKILL");
  await first.ended;
  expect((await second.run({ kind: "history", share: 0 })).report.wasDone).toBe(true);
  const { report, buffers } = await second.run({ kind: "join", slab: 0 });
  expect(buffers).toEqual([]);
  expect(report.counts!.rowCount).toBeGreaterThan(60_000);
  expect(report.bytesWritten).toBe(report.counts!.bytes);
  const again = (await second.run({ kind: "join", slab: 0 })).report;
  expect(again).toMatchObject({ wasDone: true, counts: report.counts, bytesRead: 0, bytesWritten: 0 });
  expect(readdirSync(dataset).filter((name) => name.endsWith(".parquet"))).toHaveLength(1);
  await run.close();
});

test("a job whose bytes are not those that were named is refused, and a task without a job", async () => {
  const executor = await started();
  const { bytes, digest } = packJob(await jobOf(mixed));
  const damaged = new Uint8Array(bytes);
  damaged[damaged.length >> 1]! ^= 1;
  for (const [name, sent] of [
    ["0".repeat(64), bytes],
    [digest, damaged],
  ] as const) {
    const { record } = await executor.ask({ kind: "load", job: name }, [sent]);
    expect(record).toMatchObject({ kind: "fault", errorClass: "resource", code: "E605" });
  }
  const task = { kind: "slab", share: 1, slab: 0 } as const;
  const { record } = await executor.ask({ kind: "run", task, panel: null });
  expect(record).toMatchObject({ kind: "fault", errorClass: "internal", code: "E900" });
  await executor.load(digest, bytes);
});

test("errors come as faults of their class, and the executor goes on", async () => {
  const job = await jobOf(mixed);
  const path = join(folder, "gone.csv");
  const inputs = [{ ...job.identity.inputs[0]!, path }];
  const gone = await loaded({
    ...job,
    identity: { ...job.identity, inputs },
    source: { ...job.source, path },
  });
  const failure = async (executor: Executor, task: ClusterTask) =>
    (await executor.ask({ kind: "run", task, panel: null })).record;
  for (let time = 0; time < 2; time++)
    expect(await failure(gone, { kind: "slab", share: 1, slab: 0 })).toMatchObject({
      errorClass: "data",
      code: "E615",
    });
  const open = await openInProcess(undefined as never, {
    ...requestOf(mixed),
    dataset: join(folder, "joined"),
  });
  const joining = await loaded(open.job);
  const join0 = await failure(joining, { kind: "join", slab: 0 });
  expect(join0).toMatchObject({ errorClass: "resource", code: "E610" });
  await open.close();
  const unclaimed = await failure(joining, { kind: "join", slab: 0 });
  const error = errorOfFault(unclaimed as Extract<FromExecutor, { kind: "fault" }>);
  expect(error).toMatchObject({ name: "UsageError", code: "E614" });
});

/** An executor whose operator does not return before `letReturn`, as its first frame has said. */
async function stuckExecutor(): Promise<Executor> {
  writeFileSync(join(folder, "stuck-always"), "");
  const hang = { limitMs: 300, replaces: false };
  const executor = await loaded(await jobOf(stuckProgram, { hang }));
  executor.send({ kind: "run", task: { kind: "slab", share: 0, slab: 0 }, panel: null });
  const { record } = await executor.receive();
  expect(record).toMatchObject({ kind: "hang", operators: ["stuck"], isReplaced: false });
  expect((record as Extract<FromExecutor, { kind: "hang" }>).seconds).toBeGreaterThan(0.3);
  return executor;
}

const letReturn = () => rmSync(join(folder, "stuck-always"), { force: true });

test("an operator that hangs is reported before the answer", async () => {
  const executor = await stuckExecutor();
  letReturn();
  expect((await executor.receive()).record).toMatchObject({ kind: "done" });
});

test("an executor whose stdin ends in the middle of a task ends within a second", async () => {
  const stuckOne = await stuckExecutor();
  const busy = await loaded(await jobOf(mixed));
  busy.send({ kind: "run", task: { kind: "history", share: 0 }, panel: null });
  await wait(100);
  for (const executor of [stuckOne, busy]) {
    const start = performance.now();
    executor.stdin.end();
    expect(await executor.ended).toBe(0);
    expect(performance.now() - start).toBeLessThan(1000);
  }
  letReturn();
});

test("what operators print does not mix with frames", async () => {
  const loud = defineOperator({
    name: "loud",
    axis: "elementwise",
    parameters: [{ name: "x", kind: "series" }],
    result: "series",
    unit: "other",
    nulls: "Null where x is null.",
    source: "made for a test",
    costNs: () => 1,
    summary: "x, said aloud.",
    examples: [{ formula: "loud(x)", inputs: { x: [1] }, output: [1] }],
    nullWhere: {},
    reference: (x) => {
      // Where the program is compiled it is tried with 1.
      if (x > 1) {
        console.log("a value");
        process.stdout.write("another\n");
      }
      return x;
    },
  });
  const program = compile("a = loud(close)", { operators: [loud], fields: ["close"] });
  const executor = await loaded(await jobOf(program));
  const { buffers } = await executor.run({ kind: "slab", share: 0, slab: 0 });
  expect(buffers).toHaveLength(1);
  executor.stdin.end();
  expect(await executor.ended).toBe(0);
  expect(executor.stderr).toContain("a value");
});

test("an executor ends when its answers are not read, or when it receives bytes that are not a frame", async () => {
  const deaf = await started();
  (deaf.child.stdout as Readable).destroy();
  const { bytes, digest } = packJob(await jobOf(mixed));
  deaf.send({ kind: "load", job: digest }, [bytes]);
  expect(await deaf.ended).toBe(0);
  const confused = await started();
  confused.stdin.write(Buffer.from("GET / HTTP/1.1\r\nHost: here\r\n\r\n"));
  expect(await confused.ended).not.toBe(0);
  expect(confused.stderr).toContain("not a frame");
});
