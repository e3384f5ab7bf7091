/**
 * The main module of an executor: a process that runs the tasks of one thread of a Dask worker. It answers each frame on
 * stdin with one on stdout, until stdin ends.
 */
import { readSync, writeSync } from "node:fs";
import { availableParallelism } from "node:os";
import { InternalError } from "../../errors.ts";
import { machineMemoryBytes } from "../../limits.ts";
import { frameParts, readFrame } from "../protocol/frames.ts";
import { unpackJob } from "../protocol/job_bytes.ts";
import { packageVersion } from "../protocol/package_version.ts";
import { type FromExecutor, PROTOCOL_VERSION, type ToExecutor } from "../protocol/protocol.ts";
import { ReusedBuffer } from "../protocol/reused_buffer.ts";
import { faultOf } from "./fault.ts";
import type { OpenRows } from "./panel_task.ts";
import { runProbe, TaskRunner } from "./task_runner.ts";

const [STDIN, STDOUT] = [0, 1];

/** Wait before another attempt on a pipe that is not ready. */
const RETRY_MS = 1;

interface Answer {
  readonly record: FromExecutor;
  readonly buffers?: readonly Uint8Array[];
}

const jobs = new Map<string, TaskRunner>();

/**
 * Opens the panel with the memory of the machine divided by its cores, unless the options set a limit. DuckDB is slow to
 * load, and only executors that read the panel need it.
 */
const openRows: OpenRows = async (path, options, shape) => {
  const { PanelRows } = await import("../../data/source/panel_rows.ts");
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

/** Memory for the parts of a frame, in order, reused for the next frame. */
const frameBuffers: ReusedBuffer[] = [];
let taken = 0;

/** Ends the process at the end of the pipe: the worker has closed it or has ended. */
function readExactly(count: number): Uint8Array {
  frameBuffers[taken] ??= new ReusedBuffer();
  const target = frameBuffers[taken++]!.bytes(count);
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

/** Repeats work on a pipe that whoever created it made non-blocking. */
function retrying(work: () => number): number {
  for (;;) {
    try {
      return work();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // The worker is gone.
      if (code === "EPIPE" || code === "EOF") process.exit(0);
      if (code !== "EAGAIN" && code !== "EINTR") throw error;
      Atomics.wait(idle, 0, 0, RETRY_MS);
    }
  }
}

const idle = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** Redirects what users' operators print to stderr: stdout is for frames. */
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
  const { record, buffers } = readFrame<ToExecutor>(readExactly);
  send(await answerOf(record, buffers));
}
