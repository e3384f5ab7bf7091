import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { zipSync } from "fflate";
import { Bridge } from "../../../src/cluster/bridge/bridge.ts";
import { findPython } from "../../../src/cluster/bridge/python.ts";
import type {
  Bundle,
  ClusterTask,
  GraphTask,
  GraphWork,
  TaskKey,
} from "../../../src/cluster/protocol/protocol.ts";

/** What the fake executor does; the path `marks` and how many times it misbehaves go with the kinds that do. */
export interface FakeTask {
  readonly kind: "echo" | "fault" | "die" | "stop" | "sleep" | "killWorker" | "killNanny" | "stopOther";
  /** Sizes of buffers that it makes, filled with 1, 2, ... */
  readonly made?: readonly number[];
  readonly marks?: string;
  readonly times?: number;
  /** Whom `stopOther` stops. */
  readonly pid?: number;
  readonly errorClass?: "data";
  readonly code?: string;
  readonly problem?: string;
  readonly counts?: object;
}

const digestOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

export function fakeBundle(): Bundle {
  const code = readFileSync(join(import.meta.dirname, "fake_executor.mjs"));
  const bytes = zipSync({ "fake/main.mjs": code }, { mtime: new Date(1980, 0, 1) });
  const hello = { protocol: 2, version: "fake" };
  return { digest: digestOf(bytes), bytes, entry: "fake/main.mjs", node: null, hello };
}

/** A bridge, connected, with the fake executor installed and a job. */
export async function openFakeRun(address: string, bundle: Bundle = fakeBundle()): Promise<Bridge> {
  const bridge = await Bridge.start({ python: await findPython() });
  try {
    await bridge.connect(address, { timeoutSeconds: 30 });
    await bridge.install(bundle);
    const bytes = Buffer.from(randomUUID());
    await bridge.addJob(digestOf(bytes), bytes, null);
    return bridge;
  } catch (error) {
    await bridge.close();
    throw error;
  }
}

/** Names keys of one test: Dask must not know them from another one. */
export function keysOf(name: string): (group: string, ...place: number[]) => TaskKey {
  const prefix = `${name}-${randomUUID().slice(0, 8)}`;
  return (group, ...place) => [`${prefix}-${group}`, ...place];
}

export function graphTask(
  key: TaskKey,
  work: GraphWork,
  dependencies: readonly TaskKey[] = [],
  deadlineSeconds = 30,
): GraphTask {
  return { key, work, dependencies, urgency: 0, deadlineSeconds };
}

export function runTask(
  key: TaskKey,
  task: FakeTask,
  { reads, deadlineSeconds }: { readonly reads?: readonly TaskKey[]; readonly deadlineSeconds?: number } = {},
): GraphTask {
  return graphTask(key, { kind: "run", task: task as unknown as ClusterTask }, reads, deadlineSeconds);
}

/** Submits tasks and gathers the last one. */
export async function resultOf(bridge: Bridge, ...tasks: GraphTask[]): Promise<Uint8Array[]> {
  const { key } = tasks.at(-1)!;
  await bridge.submit({ tasks, results: [key] });
  return await bridge.gather(key);
}
