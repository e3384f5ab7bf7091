/**
 * The main module of an executor: a process that runs tasks of a job for one thread of a Dask worker. It answers each frame
 * on stdin with one on stdout, and ends when stdin does, also in the middle of a task: its worker is gone.
 */
import { writeSync } from "node:fs";
import { availableParallelism } from "node:os";
import { InternalError } from "../../errors.ts";
import type { EngineHost } from "../../evaluation/evaluation.ts";
import { startHost } from "../../evaluation/start_host.ts";
import type { HangingPart } from "../../execution/watch/hang_watch.ts";
import { packageVersion } from "../../files/package_version.ts";
import { ownMemory } from "../protocol/executor_memory.ts";
import { faultOf } from "../protocol/faults.ts";
import { frameParts, readFrames } from "../protocol/frames.ts";
import { unpackJob } from "../protocol/job_bytes.ts";
import {
  type ClusterJob,
  type FromExecutor,
  PROTOCOL_VERSION,
  type ToExecutor,
} from "../protocol/protocol.ts";
import { TaskRunner } from "./task_runner.ts";

const STDOUT = 1;

/** Wait before another attempt on a pipe that is not ready. */
const RETRY_MS = 1;

interface Answer {
  readonly record: FromExecutor;
  readonly buffers?: readonly Uint8Array[];
}

const memory = ownMemory(availableParallelism());
let runner: TaskRunner | null = null;

async function answerOf(record: ToExecutor, buffers: readonly Uint8Array[]): Promise<Answer> {
  try {
    if (record.kind === "load") return await load(record.job, buffers);
    if (runner === null) throw new InternalError("a task came before its job");
    const { report, buffers: results } = await runner.run(record.task, record.panel);
    return { record: { kind: "done", report }, buffers: results };
  } catch (error) {
    return { record: { kind: "fault", ...faultOf(error) } };
  }
}

async function load(digest: string, [bytes]: readonly Uint8Array[]): Promise<Answer> {
  if (bytes === undefined) throw new InternalError("a job came without its bytes");
  const job = unpackJob(bytes, digest);
  runner = new TaskRunner(job, await openHost(job), memory.sourceLimitBytes);
  return { record: { kind: "loaded" } };
}

/** One thread, which must not take a core for its own: a host has as many executors as cores. */
async function openHost({ costs, hang }: ClusterJob): Promise<EngineHost> {
  const onHang = ({ node, operators, ms, estimatedMs }: HangingPart) => {
    const isReplaced = hang?.replaces === true;
    send({ record: { kind: "hang", node, operators, seconds: ms / 1000, estimatedMs, isReplaced } });
  };
  return await startHost({
    threads: 1,
    cores: 1,
    memoryLimitBytes: memory.engineBytes,
    costs,
    // Of checkpoints, which executors do not take.
    hang: hang === null ? false : { ...hang, onHang },
  });
}

function send({ record, buffers }: Answer): void {
  for (const part of frameParts(record, buffers))
    for (let done = 0; done < part.length; ) done += write(part.subarray(done));
}

/** How many bytes a pipe takes; whoever created it may have made it non-blocking. */
function write(bytes: Uint8Array): number {
  try {
    return writeSync(STDOUT, bytes);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The worker is gone.
    if (code === "EPIPE" || code === "EOF") process.exit(0);
    if (code !== "EAGAIN" && code !== "EINTR") throw error;
    Atomics.wait(idle, 0, 0, RETRY_MS);
    return 0;
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

keepStdoutClean();
const { version: node, pid } = process;
send({ record: { kind: "hello", protocol: PROTOCOL_VERSION, version: packageVersion(), node, pid } });
const frames = readFrames<ToExecutor>(process.stdin);
let next = frames.next();
for (;;) {
  const { value, done } = await next;
  if (done) process.exit(0);
  // Read while the task runs, so that the end of stdin is seen at once.
  next = frames.next();
  void next.then((frame) => frame.done && process.exit(0));
  send(await answerOf(value.record, value.buffers));
}
