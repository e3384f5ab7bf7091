/**
 * An executor that does what a test asks of it, in the frames of `src/cluster/protocol/frames.ts`. Tasks that misbehave leave a line
 * with the process id in the file `marks` each time, and behave once it has `times` lines.
 */
import { appendFileSync, existsSync, readFileSync, readSync, writeSync } from "node:fs";

const HEAD_BYTES = 16;

function read(count) {
  const bytes = Buffer.alloc(count);
  for (let done = 0; done < count; ) {
    const got = readSync(0, bytes, done, count - done, null);
    if (got === 0) process.exit(0);
    done += got;
  }
  return bytes;
}

function receive() {
  const head = read(HEAD_BYTES);
  const lengths = read(8 * head.readUInt32LE(8));
  const record = JSON.parse(read(head.readUInt32LE(4)).toString());
  const buffers = [];
  for (let at = 0; at < lengths.length; at += 8) buffers.push(read(lengths.readDoubleLE(at)));
  return { record, buffers };
}

function send(record, buffers = []) {
  const text = Buffer.from(JSON.stringify(record));
  const head = Buffer.alloc(HEAD_BYTES + 8 * buffers.length);
  head.write("FLF1");
  head.writeUInt32LE(text.length, 4);
  head.writeUInt32LE(buffers.length, 8);
  for (const [index, { length }] of buffers.entries()) head.writeDoubleLE(length, HEAD_BYTES + 8 * index);
  for (const part of [head, text, ...buffers]) {
    for (let done = 0; done < part.length; ) done += writeSync(1, part, done);
  }
}

/** The process that has started this one. */
function parentOf(pid) {
  return Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ")[1]);
}

const misbehave = {
  die: () => process.kill(process.pid, "SIGKILL"),
  stop: () => process.kill(process.pid, "SIGSTOP"),
  killWorker: () => process.kill(process.ppid, "SIGKILL"),
  killNanny: () => {
    const worker = process.ppid;
    process.kill(parentOf(worker), "SIGKILL");
    process.kill(worker, "SIGKILL");
  },
  stopOther: ({ pid }) => process.kill(pid, "SIGSTOP"),
  sleep: () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
};

function run(task, buffers) {
  if (task.kind === "fault") {
    appendFileSync(task.marks, `${process.pid}\n`);
    const { errorClass, code, problem = "as asked" } = task;
    return send({ kind: "fault", errorClass, code, problem, remedy: "ask for less" });
  }
  const count =
    task.marks && existsSync(task.marks) ? readFileSync(task.marks, "utf8").split("\n").length - 1 : 0;
  if (count < (task.times ?? 0)) {
    appendFileSync(task.marks, `${process.pid}\n`);
    console.error(`going to ${task.kind}`);
    misbehave[task.kind](task);
  }
  const made = (task.made ?? []).map((bytes, index) => Buffer.alloc(bytes, index + 1));
  const report = { startMs: Date.now(), ns: 1, bytesRead: 2, bytesWritten: 3, wasDone: false };
  if (task.counts) report.counts = task.counts;
  return send({ kind: "done", report }, [...buffers, ...made]);
}

send({ kind: "hello", protocol: 2, version: "fake", node: process.version, pid: process.pid });
for (;;) {
  const { record, buffers } = receive();
  if (record.kind === "run") run(record.task, buffers);
  else send({ kind: "loaded" });
}
