/**
 * The main module of an executor: a process beside a worker of Dask. It takes frames from stdin and answers each with one
 * on stdout, until stdin ends. One process is one thread of the worker.
 */
import { readSync, writeSync } from "node:fs";
import { availableParallelism } from "node:os";
import { InternalError } from "../../errors.ts";
import { frameParts, readFrame } from "../protocol/frames.ts";
import { unpackJob } from "../protocol/job_bytes.ts";
import { packageVersion } from "../protocol/package_version.ts";
import { type FromExecutor, PROTOCOL_VERSION, type ToExecutor } from "../protocol/protocol.ts";
import { ReusedBuffer } from "../protocol/reused_buffer.ts";
import { faultOf } from "./fault.ts";
import type { OpenRows } from "./panel_task.ts";
import { runProbe, TaskRunner } from "./task_runner.ts";

const [STDIN, STDOUT] = [0, 1];

/** A pipe that is not ready is looked at again after so long. */
const RETRY_MS = 1;

interface Answer {
  readonly record: FromExecutor;
  readonly buffers?: readonly Uint8Array[];
}

const jobs = new Map<string, TaskRunner>();

/**
 * Opens the panel with the memory and the cores of one among as many executors as there are cores, unless the options say
 * how much memory. DuckDB takes a moment to load: only executors that read the panel need it.
 */
const openRows: OpenRows = async (path, options, shape) => {
  const { PanelRows } = await import("../../data/source/panel_rows.ts");
  const { machineMemoryBytes } = await import("../../data/duckdb/database.ts");
  const memoryLimitBytes = machineMemoryBytes() / availableParallelism();
  return await PanelRows.open(path, { memoryLimitBytes, ...options }, shape);
};

async function answerOf(record: ToExecutor, buffers: readonly Uint8Array[]): Promise<Answer> {
  try {
    if (record.kind === "load") return await load(record.job, buffers);
    if (record.kind === "release") return await release(record.job);
    const { task } = record;
    const { report, buffers: results } =
      task.kind === "probe" ? await runProbe(task) : await jobOf(record.job).run(task, buffers);
    return { record: { kind: "done", report }, buffers: results };
  } catch (error) {
    return { record: { kind: "fault", ...faultOf(error) } };
  }
}

async function load(digest: string, [bytes]: readonly Uint8Array[]): Promise<Answer> {
  if (bytes === undefined) throw new InternalError("a job came without its bytes");
  if (!jobs.has(digest)) jobs.set(digest, new TaskRunner(unpackJob(bytes, digest), openRows));
  return { record: { kind: "loaded", job: digest } };
}

async function release(digest: string): Promise<Answer> {
  const job = jobs.get(digest);
  jobs.delete(digest);
  await job?.close();
  return { record: { kind: "released", job: digest } };
}

function jobOf(digest: string): TaskRunner {
  const job = jobs.get(digest);
  if (job === undefined) throw new InternalError(`the job ${digest} is not loaded`);
  return job;
}

/** Memory for what a frame holds, by its place in the frame, used again for the next one. */
const rooms: ReusedBuffer[] = [];
let taken = 0;

/** Ends the process where the pipe does: who has made it is gone, or done. */
function readExactly(count: number): Uint8Array {
  rooms[taken] ??= new ReusedBuffer();
  const target = rooms[taken++]!.bytes(count);
  for (let done = 0; done < count; ) {
    const read = retrying(() => readSync(STDIN, target, done, count - done, null));
    if (read === 0) process.exit(0);
    done += read;
  }
  return target;
}

function send({ record, buffers }: Answer): void {
  for (const part of frameParts(record, buffers)) {
    for (let done = 0; done < part.length; ) {
      done += retrying(() => writeSync(STDOUT, part, done, part.length - done));
    }
  }
}

/** Pipes block, unless who made them has chosen otherwise. */
function retrying(work: () => number): number {
  for (;;) {
    try {
      return work();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Nobody is left to answer to.
      if (code === "EPIPE" || code === "EOF") process.exit(0);
      if (code !== "EAGAIN" && code !== "EINTR") throw error;
      Atomics.wait(idle, 0, 0, RETRY_MS);
    }
  }
}

const idle = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** Frames alone go to stdout: what operators of the user print goes to stderr. */
function keepStdoutClean(): void {
  Object.defineProperty(process, "stdout", { get: () => process.stderr });
  console.log = console.error;
  console.info = console.error;
  console.debug = console.error;
}

function hello(): FromExecutor {
  return {
    kind: "hello",
    protocol: PROTOCOL_VERSION,
    version: packageVersion(),
    node: process.version,
    pid: process.pid,
  };
}

keepStdoutClean();
send({ record: hello() });
for (;;) {
  taken = 0;
  const { record, buffers } = readFrame<ToExecutor>(readExactly)!;
  send(await answerOf(record, buffers));
}
