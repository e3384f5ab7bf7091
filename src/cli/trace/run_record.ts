import { FoldedSums } from "../../pages/report/folded_sums.ts";
import type { NodeWork } from "../../pages/report/node_costs.ts";
import type { TimelineData, TrackData } from "../../pages/report/report_data.ts";
import type { StepSpan } from "../terminal/progress.ts";
import { type ChromeEvent, TRACKS } from "./chrome_trace.ts";

/** As many bins as a picture shows at most; the first ones are as long as the shortest runs need. */
const BINS_MAX = 400;
const FIRST_BIN_US = 50;

/** Work of the main thread, by the names of its spans. Other spans are waits, or hold these. */
const MAIN_WORKS: Readonly<Record<string, string>> = {
  read: "prepare",
  compile: "prepare",
  "start threads": "prepare",
  "plan and compile kernels": "prepare",
  "read a block": "read",
  "write a block": "write",
  "complete the output": "write",
};

/**
 * What threads, nodes and memory did in a run, from the events of its trace, in bounded memory, except for samples of
 * memory.
 */
export class RunRecord {
  /** Start of the time line, in ms since 1970. */
  readonly #startMs: number;
  readonly #tracks = new Map<number, string>();
  readonly #busy = new FoldedSums(BINS_MAX, FIRST_BIN_US);
  /** Time of each kind of work of each track, in us. */
  readonly #works = new Map<number, Map<string, number>>();
  readonly #nodes = new Map<number, NodeWork>();
  readonly #resident: { readonly us: number; readonly bytes: number }[] = [];

  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  /** What the parts of each node of the plan took. */
  get nodes(): ReadonlyMap<number, NodeWork> {
    return this.#nodes;
  }

  write(events: readonly ChromeEvent[]): void {
    for (const event of events) this.#take(event);
  }

  /** Adds the steps that are over: the trace itself gets them at its end. */
  addSteps(steps: readonly StepSpan[]): void {
    for (const { name, startMs, endMs } of steps) {
      const kind = MAIN_WORKS[name];
      const us = 1000 * (startMs - this.#startMs);
      if (kind !== undefined && endMs > startMs && us >= 0)
        this.#addWork(TRACKS.main, kind, us, 1000 * (endMs - startMs));
    }
  }

  timeline(): TimelineData {
    const { width } = this.#busy;
    const tracks = [...this.#tracks].map(([tid, name]): TrackData => {
      const works = [...(this.#works.get(tid) ?? [])].map(([kind, us]) => ({
        kind,
        ms: us / 1000,
        percents: Array.from(this.#busy.sums(`${tid} ${kind}`), (sum) => Math.round((100 * sum) / width)),
      }));
      return { name, works };
    });
    const residentBytes = new Array<number>(this.#busy.binCount).fill(0);
    for (const { us, bytes } of this.#resident) {
      const bin = Math.floor(us / width);
      if (bin < residentBytes.length) residentBytes[bin] = Math.max(residentBytes[bin]!, bytes);
    }
    return { binMs: width / 1000, tracks: tracks.filter(({ works }) => works.length > 0), residentBytes };
  }

  #take({ name, ph, tid, ts = 0, dur = 0, cat, args }: ChromeEvent): void {
    if (ph === "M" && name === "thread_name") this.#tracks.set(tid, String(args?.["name"]));
    if (ph === "C" && name === "resident bytes")
      this.#resident.push({ us: ts, bytes: Number(args?.["value"]) });
    if (ph !== "X") return;
    const kind = cat === "main" ? MAIN_WORKS[name] : cat;
    if (kind !== undefined && dur > 0) this.#addWork(tid, kind, ts, dur);
    if (args !== undefined && "node" in args) this.#addPart(Number(args["node"]), Number(args["ns"]));
  }

  #addWork(tid: number, kind: string, us: number, durationUs: number): void {
    this.#busy.add(`${tid} ${kind}`, us, us + durationUs, durationUs);
    const works = this.#works.get(tid) ?? new Map<string, number>();
    works.set(kind, (works.get(kind) ?? 0) + durationUs);
    this.#works.set(tid, works);
  }

  #addPart(node: number, ns: number): void {
    const before = this.#nodes.get(node) ?? { ns: 0, partCount: 0 };
    this.#nodes.set(node, { ns: before.ns + ns, partCount: before.partCount + 1 });
  }
}
