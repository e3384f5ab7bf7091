import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { errorOfFault } from "../../../src/cluster/protocol/errors.ts";
import { type Frame, frameParts } from "../../../src/cluster/protocol/frames.ts";
import { packJob } from "../../../src/cluster/protocol/job_bytes.ts";
import {
  type ClusterJob,
  type ClusterTask,
  type FromExecutor,
  PROTOCOL_VERSION,
  type TaskReport,
  type ToExecutor,
} from "../../../src/cluster/protocol/protocol.ts";
import { piecesRead } from "../../../src/cluster/protocol/tiles.ts";
import { compile } from "../../../src/compile.ts";
import { readPanel } from "../../../src/data/source/read_panel.ts";
import { Engine } from "../../../src/engine.ts";
import { defineOperator } from "../../../src/operator/definition.ts";
import type { Panel } from "../../../src/panel.ts";
import {
  bitsOf,
  Folders,
  jobOf,
  outputTasks,
  slabsOf,
  stageTasks,
  tableOf,
  takenResult,
} from "../hand_made_job.ts";

const root = join(import.meta.dirname, "../../..");
const DATA = join(root, "examples/data/sp100_daily.csv.gz");
const GROUPS = join(root, "examples/data/sp100_sectors.csv");
const folders = new Folders();
const children: Executor[] = [];
let panel: Panel;
let engine: Engine;

beforeAll(async () => {
  panel = await readPanel(DATA, { groups: GROUPS });
  engine = await Engine.start({ threads: 1 });
});
afterAll(async () => {
  for (const { child } of children) child.kill("SIGKILL");
  folders[Symbol.dispose]();
  await engine.close();
});

/** The other end of an executor's pipes. */
class Executor {
  readonly child: ChildProcess;
  /** Its exit code. */
  readonly ended: Promise<number | null>;
  stderr = "";
  #received = Buffer.alloc(0);

  constructor() {
    this.child = spawn(process.execPath, [join(root, "src/cluster/executor/executor_process.ts")], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    children.push(this);
    this.ended = once(this.child, "close").then(([code]) => code as number | null);
    (this.child.stderr as Readable).on("data", (bytes) => {
      this.stderr += bytes;
    });
  }

  get #stdin(): Writable {
    return this.child.stdin as Writable;
  }

  send(record: ToExecutor, buffers: readonly Uint8Array[] = []): void {
    for (const part of frameParts(record, buffers)) this.#stdin.write(part);
  }

  write(bytes: Uint8Array): void {
    this.#stdin.write(bytes);
  }

  end(): void {
    this.#stdin.end();
  }

  async receive(): Promise<Frame<FromExecutor>> {
    const head = await this.#take(16);
    const lengths = await this.#take(8 * head.readUInt32LE(8));
    const record = JSON.parse(String(await this.#take(head.readUInt32LE(4)))) as FromExecutor;
    const buffers: Uint8Array[] = [];
    for (let index = 0; index < lengths.length; index += 8) {
      buffers.push(new Uint8Array(await this.#take(lengths.readDoubleLE(index))));
    }
    return { record, buffers };
  }

  async ask(record: ToExecutor, buffers: readonly Uint8Array[] = []): Promise<Frame<FromExecutor>> {
    this.send(record, buffers);
    return await this.receive();
  }

  async #take(count: number): Promise<Buffer> {
    const stdout = this.child.stdout as Readable;
    while (this.#received.length < count) {
      const [bytes] = (await once(stdout, "data")) as [Buffer];
      this.#received = Buffer.concat([this.#received, bytes]);
    }
    const taken = this.#received.subarray(0, count);
    this.#received = this.#received.subarray(count);
    return taken;
  }
}

async function started(): Promise<Executor> {
  const executor = new Executor();
  expect((await executor.receive()).record.kind).toBe("hello");
  return executor;
}

async function loaded(job: ClusterJob): Promise<[executor: Executor, digest: string]> {
  const executor = await started();
  const { bytes, digest } = packJob(job);
  expect((await executor.ask({ kind: "load", job: digest }, [bytes])).record).toEqual({
    kind: "loaded",
    job: digest,
  });
  return [executor, digest];
}

function reportOf({ record }: Frame<FromExecutor>): TaskReport {
  expect(record).toMatchObject({ kind: "done" });
  return (record as Extract<FromExecutor, { kind: "done" }>).report;
}

const TEXT = "a = rank(ts_mean(close, 5))\nb = group_neutralize(close, sector)";

/** Stages of lanes and of rows over the real bars, from the file. */
function realJob(exchange: "memory" | "store"): ClusterJob {
  const last = panel.rowCount - 1;
  return jobOf(panel, {
    exchange,
    folder: exchange === "store" ? folders.make() : null,
    partition: { shardLanes: 40, slabRows: [0, 70, 130], blockRows: 32 },
    stages: [
      { kind: "lanes", text: "m = ts_mean(close, 5)", blockRows: 32 },
      {
        kind: "rows",
        text: "a = rank(m)\nb = group_neutralize(close, sector)",
        imports: { m: { stage: 0, series: 0 } },
        hasState: false,
        blockRows: 32,
      },
    ],
    source: {
      path: DATA,
      options: { groups: GROUPS },
      fields: [...panel.fields.keys()],
      groups: [...panel.groups.keys()],
      time: panel.time,
      symbols: panel.symbols,
    },
    outputRows: [10, Math.min(130, last)],
  });
}

/** What the engine gives for the rows of the output. */
async function expected(job: ClusterJob): Promise<Record<string, string>> {
  const program = compile(TEXT, { fields: [...panel.fields.keys()], groups: ["sector"] });
  const dates = panel.time.values;
  const dayOf = (row: number) => new Date(Number(dates[row]) * 86_400_000).toISOString().slice(0, 10);
  const [first, end] = job.outputRows;
  return bitsOf(await engine.evaluate(program, panel, { from: dayOf(first), to: dayOf(end - 1) }));
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
  executor.end();
  expect(await executor.ended).toBe(0);
  expect(executor.stderr).toBe("");
});

test("real bars from their file, tiles as values, give the bits of the engine", async () => {
  const job = realJob("memory");
  const [executor, digest] = await loaded(job);
  const pieces = new Map<string, Uint8Array>();
  const results: Uint8Array[][] = [];
  const run = async (task: ClusterTask) => {
    const buffers = piecesRead(job, task).map(
      ({ stage, slab, part, index }) => pieces.get([stage, slab, part, index].join("/"))!,
    );
    const answer = await executor.ask({ kind: "run", job: digest, task }, buffers);
    reportOf(answer);
    return answer.buffers;
  };
  for (const slab of slabsOf(job)) {
    for (const task of stageTasks(job, slab)) {
      const [stage, part] =
        task.kind === "read" ? [-1, task.block] : task.kind === "stage" ? [task.stage, task.part] : [0, 0];
      for (const [index, bytes] of (await run(task)).entries())
        pieces.set([stage, slab, part, index].join("/"), bytes);
    }
    for (const task of outputTasks(job, slab)) results.push([...(await run(task))]);
  }
  expect(bitsOf(await tableOf(job, panel, results))).toEqual(await expected(job));
  expect((await executor.ask({ kind: "release", job: digest })).record).toEqual({
    kind: "released",
    job: digest,
  });
  const { record } = await executor.ask({ kind: "run", job: digest, task: stageTasks(job, 0)[0]! });
  expect(record).toMatchObject({ kind: "fault", errorClass: "internal", code: "E900" });
  executor.end();
  expect(await executor.ended).toBe(0);
});

test("two processes share a store, and one takes over from another that was killed", async () => {
  const job = realJob("store");
  const [first, digest] = await loaded(job);
  const [second] = await loaded(job);
  const results: Uint8Array[][] = [];
  const run = async (executor: Executor, task: ClusterTask) =>
    await executor.ask({ kind: "run", job: digest, task });
  for (const task of stageTasks(job, 0)) reportOf(await run(first, task));
  first.child.kill("SIGKILL");
  await first.ended;
  for (const task of stageTasks(job, 1)) reportOf(await run(second, task));
  for (const slab of slabsOf(job)) {
    for (const task of outputTasks(job, slab))
      results.push(await takenResult(job, task, await run(second, task)));
  }
  expect(bitsOf(await tableOf(job, panel, results))).toEqual(await expected(job));
});

test("a job whose bytes are not those that were named, or of another protocol, is refused", async () => {
  const executor = await started();
  const { bytes, digest } = packJob(realJob("memory"));
  const other = packJob({ ...realJob("memory"), protocol: PROTOCOL_VERSION + 1 });
  const damaged = new Uint8Array(bytes);
  damaged[damaged.length >> 1]! ^= 1;
  for (const [name, sent] of [
    ["0".repeat(64), bytes],
    [digest, damaged],
    [other.digest, other.bytes],
  ] as const) {
    const { record } = await executor.ask({ kind: "load", job: name }, [sent]);
    expect(record).toMatchObject({ kind: "fault", errorClass: "resource", code: "E606" });
  }
  expect((await executor.ask({ kind: "load", job: digest }, [bytes])).record.kind).toBe("loaded");
});

test("errors come as faults of their class, and the executor goes on", async () => {
  const job = realJob("store");
  const elsewhere = { ...job, source: { ...job.source, path: join(folders.make(), "gone.csv") } };
  const [executor, digest] = await loaded(elsewhere);
  const read = await executor.ask({ kind: "run", job: digest, task: { kind: "read", slab: 0, block: 0 } });
  expect(read.record).toMatchObject({ kind: "fault", errorClass: "data", code: "E615" });
  const task: ClusterTask = { kind: "stage", stage: 0, slab: 0, part: 0 };
  const stage = await executor.ask({ kind: "run", job: digest, task });
  expect(stage.record).toMatchObject({ kind: "fault", errorClass: "resource", code: "E610" });
  const probe: ClusterTask = { kind: "probe", folder: "/no/such/folder" };
  const missing = await executor.ask({ kind: "run", job: "none", task: probe });
  expect(missing.record).toMatchObject({ kind: "fault", errorClass: "usage", code: "E614" });
  const error = errorOfFault(missing.record as Extract<FromExecutor, { kind: "fault" }>);
  expect([error.name, error.code]).toEqual(["UsageError", "E614"]);
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
  const job = jobOf(panel, {
    partition: { slabRows: [0, 2], blockRows: 2 },
    stages: [{ kind: "lanes", text: "a = loud(close)", hasState: false }],
    operators: [loud],
    outputRows: [0, 2],
  });
  const [executor, digest] = await loaded(job);
  const task: ClusterTask = { kind: "stage", stage: 0, slab: 0, part: 0 };
  const series = panel.fields.size + panel.groups.size;
  const answer = await executor.ask({ kind: "run", job: digest, task }, [
    new Uint8Array(series * 2 * panel.laneCount * 8).fill(0x40),
  ]);
  reportOf(answer);
  executor.end();
  expect(await executor.ended).toBe(0);
  expect(executor.stderr).toContain("a value");
  expect(executor.stderr).toContain("another");
});

test("a probe says which versions run, and leaves nothing in the folder", async () => {
  const executor = await started();
  const folder = folders.make();
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  for (const place of [folder, null]) {
    const task: ClusterTask = { kind: "probe", folder: place };
    const { buffers } = await executor.ask({ kind: "run", job: "none", task });
    expect(JSON.parse(Buffer.from(buffers[0]!).toString())).toEqual({
      node: process.versions.node,
      factorloom: version,
      hasWritten: place !== null,
    });
  }
  expect(readdirSync(folder)).toEqual([]);
});

test("an executor ends when its answers are not read, or when it receives bytes that are not a frame", async () => {
  const deaf = await started();
  (deaf.child.stdout as Readable).destroy();
  const { bytes, digest } = packJob(realJob("memory"));
  deaf.send({ kind: "load", job: digest }, [bytes]);
  expect(await deaf.ended).toBe(0);
  const confused = await started();
  confused.write(Buffer.from("GET / HTTP/1.1\r\nHost: here\r\n\r\n"));
  expect(await confused.ended).not.toBe(0);
  expect(confused.stderr).toContain("not a frame");
});
