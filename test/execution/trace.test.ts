import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { packDone } from "../../src/execution/protocol.ts";
import type { PartEvent, TraceEvent } from "../../src/execution/trace/trace_events.ts";
import { TraceRecorder } from "../../src/execution/trace/trace_recorder.ts";
import { readEvents, TRACE_RECORD_NUMBERS } from "../../src/execution/trace/trace_records.ts";
import type { Instruction, ScheduledNode, SchedulerEvent } from "../../src/schedule/events.ts";
import { Scheduler } from "../../src/schedule/scheduler.ts";
import { blockAt, dataOf, smallPlan } from "./small_plan.ts";
import { type TestPool, withPool } from "./test_pool.ts";

/** Times are doubles of ms since 1970, accurate to a quarter of a microsecond. */
const GRAIN_MS = 0.001;

const partsOf = (events: readonly TraceEvent[]) => events.filter((event) => event.kind === "part");
const idOf = ({ plan, block, node, part }: PartEvent) => [plan, block, node, part].join(":");

/** The events of a pool, from its start to its end. */
async function traced(threads: number, body: (pool: TestPool) => Promise<void>): Promise<TraceEvent[]> {
  const events: TraceEvent[] = [];
  await withPool({ threads, trace: (batch) => void events.push(...batch) }, body);
  return events;
}

const plan = smallPlan(
  {
    a: { operator: "add_one", reads: ["x"], partCount: 3 },
    b: { operator: "add", reads: ["x", "a"], partCount: 2 },
    c: { operator: "cum_sum", reads: ["b"], isOutput: true },
  },
  4,
  6,
);

async function runThreeBlocks({ pool }: TestPool): Promise<void> {
  const open = await pool.open(dataOf(plan, 12));
  await Promise.all([0, 4, 8].map((row) => open.run(blockAt(row, 4))));
  await open.close();
}

describe("the trace of a pool", () => {
  const everyPart = [0, 1, 2].flatMap((block) =>
    plan.nodes.flatMap(({ id, partCount }) =>
      Array.from({ length: partCount }, (_, part) => [0, block, id, part].join(":")),
    ),
  );

  test("has every part of every node of every block once, after their plan", async () => {
    const events = await traced(2, runThreeBlocks);
    expect(events[0]).toMatchObject({ kind: "started", threads: 2 });
    const opened = events.findIndex(({ kind }) => kind === "opened");
    expect(events[opened]).toMatchObject({
      plan: 0,
      nodes: [
        { name: "input", kind: "input", partCount: 1 },
        { name: "add_one", kind: "lanes", partCount: 3 },
        { name: "add", kind: "lanes", partCount: 2 },
        { name: "cum_sum", kind: "lanes", partCount: 1 },
      ],
    });
    expect(opened).toBeLessThan(events.findIndex(({ kind }) => kind === "part"));
    expect(partsOf(events).map(idOf).sort()).toEqual(everyPart.sort());
    expect(partsOf(events).every(({ hasFailed }) => !hasFailed)).toBe(true);
  });

  test("puts all threads on one clock: parts of an executor follow each other within the run", async () => {
    const before = performance.timeOrigin + performance.now();
    const events = await traced(2, runThreeBlocks);
    const after = performance.timeOrigin + performance.now();
    for (const executor of [0, 1]) {
      let endMs = before - GRAIN_MS;
      for (const part of partsOf(events).filter((event) => event.executor === executor)) {
        expect(part.startMs).toBeGreaterThanOrEqual(endMs - GRAIN_MS);
        endMs = part.startMs + part.ns / 1e6;
      }
      expect(endMs).toBeLessThanOrEqual(after + GRAIN_MS);
    }
    const steps = events.filter((event) => event.kind === "scheduled");
    for (const { startMs } of steps) {
      expect(startMs).toBeGreaterThanOrEqual(before - GRAIN_MS);
      expect(startMs).toBeLessThanOrEqual(after + GRAIN_MS);
    }
  });

  test("counts what the scheduler takes and gives, and queues that end empty", async () => {
    const events = await traced(2, runThreeBlocks);
    const steps = events.filter((event) => event.kind === "scheduled");
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    // Two executors join, a plan is opened and closed, three blocks are submitted, every part is done; steals come on top.
    expect(sum(steps.map(({ eventCount }) => eventCount))).toBeGreaterThanOrEqual(7 + everyPart.length);
    // Every part is handed out and three blocks end.
    expect(sum(steps.map(({ instructionCount }) => instructionCount))).toBeGreaterThanOrEqual(
      3 + everyPart.length,
    );
    expect(steps.at(-1)?.readyCount).toBe(0);
    const queues = events.filter((event) => event.kind === "queue");
    expect(queues.length).toBeGreaterThan(0);
    for (const executor of new Set(queues.map((queue) => queue.executor)))
      expect(queues.findLast((queue) => queue.executor === executor)?.partCount).toBe(0);
  });

  test("has a part that threw, and says so", async () => {
    const events = await traced(1, async ({ runOnce }) => {
      const failing = smallPlan({ bad: { operator: "throw", reads: ["x"], isOutput: true } }, 1, 1);
      await expect(runOnce(dataOf(failing))).rejects.toThrow("no such value");
    });
    expect(partsOf(events).map(({ node, hasFailed }) => [node, hasFailed])).toEqual([
      [0, false],
      [1, true],
    ]);
  });

  test("has the parts of a lost executor once, from the one that ran them", async () => {
    const events = await traced(1, async ({ runOnce }) => {
      const dying = smallPlan(
        {
          a: { operator: "exit_once", reads: ["x"] },
          b: { operator: "add_one", reads: ["a"], isOutput: true },
        },
        1,
        1,
      );
      await runOnce(dataOf(dying));
    });
    expect(partsOf(events).map(idOf)).toEqual(["0:0:0:0", "0:0:1:0", "0:0:2:0"]);
  });

  test("waits for its sink between two batches, and is complete when the pool is closed", async () => {
    let isBusy = false;
    let batchCount = 0;
    let overlapCount = 0;
    const trace = async () => {
      if (isBusy) overlapCount++;
      isBusy = true;
      await delay(1);
      isBusy = false;
      batchCount++;
    };
    await withPool({ threads: 2, trace }, runThreeBlocks);
    expect({ overlapCount, isBusy }).toEqual({ overlapCount: 0, isBusy: false });
    // The start, the plan, and at least one batch of what the scheduler saw.
    expect(batchCount).toBeGreaterThanOrEqual(3);
  });

  test("whose sink throws disturbs no run: closing the pool tells", async () => {
    let callCount = 0;
    const trace = () => {
      callCount++;
      throw new Error("the sink is full");
    };
    let ranToTheEnd = false;
    const closed = withPool({ threads: 1, trace }, async (testPool) => {
      await runThreeBlocks(testPool);
      ranToTheEnd = true;
    });
    await expect(closed).rejects.toThrow("the sink is full");
    expect({ ranToTheEnd, callCount }).toEqual({ ranToTheEnd: true, callCount: 1 });
  });
});

describe("the recorder", () => {
  const node: ScheduledNode = { inputs: [], partCount: 1, weight: 1, costNs: 1e6, moveNs: 0 };
  const opened = { kind: "opened", plan: 0, nodes: [node, node] } as const;
  const submitted = { kind: "submitted", plan: 0, block: 0, call: 0, isNeeded: null } as const;
  const done = new Int32Array(6);

  test("tells from whom a part was stolen, and when", () => {
    const scheduler = new Scheduler();
    const events: TraceEvent[] = [];
    const recorder = new TraceRecorder(new Int32Array(1), (records) => events.push(...readEvents(records)));
    const runsOf = (given: readonly Instruction[]) => {
      const runs = given.filter((instruction) => instruction.kind === "run");
      for (const run of runs) recorder.noteQueued(run);
      return runs;
    };
    const runs = runsOf(handled(recorder, scheduler, [{ kind: "joined", executor: 0 }, opened, submitted]));
    expect(runs.map((run) => run.executor)).toEqual([0, 0]);
    // An executor that idles: the part that waits is taken back for it.
    const steals = handled(recorder, scheduler, [{ kind: "joined", executor: 1 }]).filter(
      (instruction) => instruction.kind === "steal",
    );
    expect(steals).toHaveLength(1);
    const { executor, ticket } = steals[0]!;
    expect(executor).toBe(0);
    const stolen = runs.find((run) => run.ticket === ticket)!;
    recorder.noteStolen(executor, ticket);
    const again = runsOf(handled(recorder, scheduler, [{ kind: "stolen", executor, ticket, isTaken: true }]));
    expect(again.map((run) => [run.executor, run.node])).toEqual([[1, stolen.node]]);
    packDone(done, 0, again[0]!.ticket, 2000, 7);
    recorder.noteDone(1, done, 0);
    recorder.close();
    expect(partsOf(events)).toMatchObject([
      { executor: 1, node: stolen.node, startMs: 2000, ns: 7, stolen: { victim: 0 } },
    ]);
    const { atMs } = partsOf(events)[0]!.stolen!;
    expect(atMs).toBeGreaterThan(events.find((event) => event.kind === "scheduled")!.startMs - GRAIN_MS);
  });

  test("drops and counts events that the sink does not take, and continues once there is room", () => {
    const scheduler = new Scheduler();
    const taken = new Int32Array(1);
    let sentCount = 0;
    const dropped: number[] = [];
    const recorder = new TraceRecorder(taken, (records) => {
      sentCount += records.length / TRACE_RECORD_NUMBERS;
      for (const event of readEvents(records)) if (event.kind === "dropped") dropped.push(event.count);
    });
    handled(recorder, scheduler, [{ kind: "joined", executor: 0 }]);
    const noteParts = (count: number) => {
      for (let i = 0; i < count; i++) recorder.noteDone(0, done, 0);
    };
    noteParts(400_000);
    const waitingMax = sentCount;
    expect(waitingMax).toBeLessThan(300_000);
    expect(dropped).toEqual([]);
    Atomics.store(taken, 0, sentCount);
    noteParts(10_000);
    expect(dropped).toHaveLength(1);
    recorder.close();
    // All parts, the one step of the scheduler, and the note that some are missing.
    expect(sentCount + dropped[0]!).toBe(410_000 + 1 + 1);
    expect(dropped[0]).toBeGreaterThan(100_000);
  });
});

function handled(
  recorder: TraceRecorder,
  scheduler: Scheduler,
  events: readonly SchedulerEvent[],
): Instruction[] {
  const list: Instruction[] = [];
  recorder.handleAll(scheduler, events, (instruction) => list.push(instruction));
  return list;
}
