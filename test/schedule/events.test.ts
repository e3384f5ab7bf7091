import { describe, expect, test } from "vitest";
import type { Instruction, PartId, RunInstruction, SchedulerEvent } from "../../src/schedule/events.ts";
import type { SchedulerOptions } from "../../src/schedule/scheduler.ts";
import { type Drawing, DrawnGraph } from "./drawn_graph.ts";
import { ListedScheduler } from "./listed_scheduler.ts";

const opened = (plan: number, drawing: Drawing) => {
  return { kind: "opened" as const, plan, nodes: new DrawnGraph(drawing, 1).nodes };
};

/** Of two nodes that of the part alone. */
const isNodeOf = ({ node }: RunInstruction) => Uint8Array.from([0, 1], (id) => (id === node ? 1 : 0));

const submitted = (plan: number, block = 0, call = plan, isNeeded: Uint8Array | null = null) => {
  return { kind: "submitted" as const, plan, block, call, isNeeded };
};
/** A plan is opened and run; later plans belong to later calls. */
const ran = (plan: number, drawing: Drawing) => [opened(plan, drawing), submitted(plan)];
const joined = (executor: number) => ({ kind: "joined" as const, executor });
const done = ({ executor, ticket }: RunInstruction, ns: number | null = 1): SchedulerEvent => {
  return { kind: "done", executor, ticket, ns };
};
const runs = (instructions: readonly Instruction[]) => instructions.filter((one) => one.kind === "run");
const steals = (instructions: readonly Instruction[]) => instructions.filter((one) => one.kind === "steal");
const finished = (plan: number, block = 0) => ({ kind: "finished", plan, block });
const single: Drawing = { a: {} };
const parts = (partCount: number, partNs = 1): Drawing => ({ a: { partCount, cost: partCount * partNs } });

/** Queues of up to `queuePartsMin` parts, whatever they cost; nothing is stolen. */
const counted = (queuePartsMin: number): SchedulerOptions => ({
  queueNs: 0,
  queuePartsMin,
  isStealing: false,
});

describe("runs", () => {
  test("of a plan without nodes finish at once, even without executors", () => {
    const scheduler = new ListedScheduler();
    expect(scheduler.handleAll(ran(0, {}))).toEqual([finished(0)]);
  });

  test("of one plan follow each other, each from the start", () => {
    const scheduler = new ListedScheduler(counted(4));
    scheduler.handleAll([joined(0), opened(0, { a: { partCount: 2 }, b: { inputs: ["a"] } })]);
    const transcripts = [1, 2, 3].map((block) => {
      let started = runs(scheduler.handle(submitted(0, block)));
      const transcript = [...started];
      for (;;) {
        const next = scheduler.handleAll(started.map((run) => done(run)));
        if (next.some(({ kind }) => kind === "finished")) return transcript;
        started = runs(next);
        transcript.push(...started);
      }
    });
    const partsOf = (index: number) => transcripts[index]!.map(({ node, part }) => [node, part]);
    expect(partsOf(0)).toHaveLength(3);
    expect(partsOf(1)).toEqual(partsOf(0));
    expect(partsOf(2)).toEqual(partsOf(0));
  });

  test("of some nodes do not wait for inputs that an earlier run has left", () => {
    const scheduler = new ListedScheduler(counted(4));
    scheduler.handleAll([joined(0), opened(0, { a: {}, b: { inputs: ["a"] }, c: { inputs: ["a", "b"] } })]);
    const nodesOf = (instructions: readonly Instruction[]) => runs(instructions).map(({ node }) => node);
    const first = scheduler.handle(submitted(0, 0, 0, Uint8Array.of(1, 0, 0)));
    expect(nodesOf(first)).toEqual([0]);
    expect(scheduler.handle(done(runs(first)[0]!))).toEqual([finished(0, 0)]);
    const second = scheduler.handle(submitted(0, 1, 0, Uint8Array.of(0, 1, 1)));
    expect(nodesOf(second)).toEqual([1]);
    const third = scheduler.handle(done(runs(second)[0]!));
    expect(nodesOf(third)).toEqual([2]);
    expect(scheduler.handle(done(runs(third)[0]!))).toEqual([finished(0, 1)]);
  });

  test("wait for executors, and parts go to the least filled queue first", () => {
    const scheduler = new ListedScheduler(counted(2));
    expect(scheduler.handleAll(ran(0, parts(9)))).toEqual([]);
    const first = runs(scheduler.handleAll([joined(4), joined(5)])).map((run) => run.executor);
    expect(first.slice(0, 2).sort()).toEqual([4, 5]);
    expect(first.sort()).toEqual([4, 4, 5, 5]);
  });

  test("fill queues by estimated work: many short parts, few long ones", () => {
    const handedOut = (partNs: number) => {
      const scheduler = new ListedScheduler({ queueNs: 1000 });
      return runs(scheduler.handleAll([joined(0), ...ran(0, parts(300, partNs))])).length;
    };
    expect([2000, 600, 250, 100].map(handedOut)).toEqual([2, 2, 4, 10]);
    // There are no more slots.
    expect(handedOut(1)).toBe(256);
  });

  test("go to a queue with room though one without has less work", () => {
    const scheduler = new ListedScheduler({ queueNs: 100, isStealing: false });
    const drawing = { a: { cost: 1000 }, b: { cost: 60 }, c: { cost: 50 }, d: { cost: 40 } };
    const [a, b, c, d] = runs(scheduler.handleAll([joined(0), joined(1), ...ran(0, drawing)]));
    expect(c!.executor).toBe(b!.executor);
    expect(d!.executor).toBe(a!.executor);
  });

  test("leave the last executor that fell idle the first part: it may not sleep yet", () => {
    const scheduler = new ListedScheduler(counted(1));
    const crew = [0, 1, 2].map(joined);
    const started = runs(scheduler.handleAll([...crew, ...ran(0, parts(3)), ...ran(1, parts(3))]));
    const [next] = runs(scheduler.handleAll([done(started[2]!), done(started[0]!)]));
    expect(next!.executor).toBe(started[0]!.executor);
  });

  test("of earlier calls go first, and later ones only keep executors from idling", () => {
    const scheduler = new ListedScheduler({ queueNs: 1e6, isStealing: false });
    // a - b: while a runs, the later run fills its own executor and leaves the queues open for b.
    const early = { a: { cost: 1 }, b: { inputs: ["a"], partCount: 12 } };
    const first = runs(scheduler.handleAll([joined(0), joined(1), ...ran(0, early), ...ran(1, parts(50))]));
    expect(first.filter((run) => run.plan === 0)).toHaveLength(1);
    expect(first.filter((run) => run.plan === 1)).toHaveLength(3);
    const next = runs(scheduler.handle(done(first[0]!)));
    expect(next.slice(0, 12).map((run) => run.plan)).toEqual(new Array(12).fill(0));
  });

  test("of a call that comes late but has the smaller number overtake", () => {
    const scheduler = new ListedScheduler(counted(1));
    const [late] = runs(scheduler.handleAll([joined(0), opened(0, parts(2)), submitted(0, 0, 7)]));
    scheduler.handleAll([opened(1, single), submitted(1, 0, 3)]);
    expect(runs(scheduler.handle(done(late!)))).toMatchObject([{ plan: 1, call: 3 }]);
  });
});

describe("blocks that overlap", () => {
  test("begin a node once its readers have ended the block before", () => {
    // a - b: a of block 1 waits for b of block 0, though a itself has ended long before
    const scheduler = new ListedScheduler(counted(3));
    const drawing = { a: {}, b: { inputs: ["a"] } };
    const [a] = runs(
      scheduler.handleAll([joined(0), opened(0, drawing), submitted(0, 4, 0), submitted(0, 5, 0)]),
    );
    const [b, ...others] = runs(scheduler.handle(done(a!)));
    expect([b!.block, others]).toEqual([4, []]);
    const next = scheduler.handle(done(b!));
    expect(next).toMatchObject([finished(0, 4), { kind: "run", block: 5, node: a!.node }]);
  });

  test("end in order: a later one that is done waits for the one before", () => {
    const scheduler = new ListedScheduler(counted(4));
    // Block 1 of a is done while block 0 of b, which a has nothing to do with, runs; nobody needs b in block 1.
    const drawing = { a: { cost: 9 }, b: { cost: 1 } };
    const [a, b] = runs(
      scheduler.handleAll([joined(0), ...ran(0, drawing), submitted(0, 1, 0, Uint8Array.of(1, 0))]),
    );
    const [next] = runs(scheduler.handle(done(a!)));
    expect(next).toMatchObject({ block: 1, node: a!.node });
    expect(scheduler.handle(done(next!))).toEqual([]);
    expect(scheduler.handle(done(b!))).toEqual([finished(0, 0), finished(0, 1)]);
  });

  test("may run some nodes only: a node that one leaves out waits for those before it", () => {
    const scheduler = new ListedScheduler(counted(4));
    const drawing = { a: { cost: 9 }, b: { cost: 1 } };
    const [a, b] = runs(scheduler.handleAll([joined(0), ...ran(0, drawing)]));
    // Block 1 leaves a out, block 2 runs it: not before block 0 has ended it.
    expect(runs(scheduler.handle(submitted(0, 1, 0, isNodeOf(b!))))).toEqual([]);
    expect(runs(scheduler.handle(submitted(0, 2, 0, isNodeOf(a!))))).toEqual([]);
    expect(runs(scheduler.handle(done(a!)))).toMatchObject([{ block: 2, node: a!.node }]);
    expect(runs(scheduler.handle(done(b!)))).toMatchObject([{ block: 1, node: b!.node }]);
  });
});

test("parts that executors have passed over leave no mark on costs", () => {
  const scheduler = new ListedScheduler(counted(2));
  const drawing = { a: { cost: 9 }, b: { inputs: ["a"], cost: 7 } };
  const nodeNs = new Float64Array(2);
  const block = (ns: number, last: number | null) => {
    const [first] = runs(scheduler.handle(submitted(0)));
    const [second] = runs(scheduler.handle(done(first!, ns)));
    expect(scheduler.handle(done(second!, last))).toEqual([finished(0)]);
  };
  scheduler.handleAll([joined(0), { ...opened(0, drawing), nodeNs }]);
  block(5, null);
  expect([...nodeNs]).toEqual([0, 0]);
  block(5, 6);
  expect([...nodeNs]).toEqual([5, 6]);
});

describe("a lost executor", () => {
  const fault = (executor: number, running: RunInstruction | null): SchedulerEvent => {
    const id = ({ plan, block, node, part }: RunInstruction): PartId => ({ plan, block, node, part });
    return { kind: "fault", executor, running: running && id(running) };
  };

  test("has its parts run elsewhere", () => {
    const scheduler = new ListedScheduler(counted(2));
    const first = runs(scheduler.handleAll([joined(0), ...ran(0, parts(2))]));
    expect(scheduler.handle(fault(0, first[0]!))).toEqual([]);
    const again = runs(scheduler.handle(joined(1)));
    expect(again.map((run) => run.part).sort()).toEqual([0, 1]);
    expect(scheduler.handle(done(first[0]!))).toEqual([]);
    expect(scheduler.handleAll(again.map((run) => done(run)))).toEqual([finished(0)]);
  });

  test("is told of if the same part was running when another one was lost before", () => {
    const scheduler = new ListedScheduler(counted(2));
    const [first] = runs(scheduler.handleAll([joined(0), ...ran(0, single)]));
    const [again] = runs(scheduler.handleAll([fault(0, first!), joined(1)]));
    expect(scheduler.handle(fault(1, again!))).toEqual([{ kind: "lost", plan: 0, block: 0, node: 0 }]);
    // Executors pass over it then.
    const [last] = runs(scheduler.handle(joined(2)));
    expect(scheduler.handle(done(last!, null))).toEqual([finished(0)]);
  });

  test("blames only the part that was running: one that waited in the queue may be lost again", () => {
    const scheduler = new ListedScheduler(counted(2));
    const first = runs(scheduler.handleAll([joined(0), ...ran(0, parts(2))]));
    const again = runs(scheduler.handleAll([fault(0, first[0]!), joined(1)]));
    const waited = again.find(({ part }) => part === first[1]!.part)!;
    expect(scheduler.handle(fault(1, waited))).toEqual([]);
    expect(runs(scheduler.handle(joined(2)))).toHaveLength(2);
  });

  test("joining twice is a bug of ours", () => {
    const scheduler = new ListedScheduler();
    scheduler.handle(joined(0));
    expect(() => scheduler.handle(joined(0))).toThrow("joined already");
  });
});

describe("stealing", () => {
  /** Executor 0 has ten parts of 50 us when executor 1 joins with nothing to do. */
  function backlog() {
    const scheduler = new ListedScheduler({ queueNs: 1e6 });
    const started = runs(scheduler.handleAll([joined(0), ...ran(0, parts(10, 50_000))]));
    return { scheduler, started, asked: scheduler.handle(joined(1)) };
  }
  const answer = (instruction: Instruction, isTaken: boolean): SchedulerEvent => {
    const { executor, ticket } = instruction as RunInstruction;
    return { kind: "stolen", executor, ticket, isTaken };
  };

  test("takes back a part that has not been begun, once, and gives it to the idle executor", () => {
    const { scheduler, started, asked } = backlog();
    expect(asked).toMatchObject([{ kind: "steal", executor: 0 }]);
    const given = scheduler.handle(answer(asked[0]!, true));
    const stolen = started.find(({ ticket }) => ticket === (asked[0] as RunInstruction).ticket)!;
    expect(given).toMatchObject([{ kind: "run", executor: 1, node: stolen.node, part: stolen.part }]);
    expect(scheduler.handle(answer(asked[0]!, true))).toEqual([]);
  });

  test("asks for another part if that one has been begun", () => {
    const { scheduler, asked } = backlog();
    const next = steals(scheduler.handle(answer(asked[0]!, false)));
    expect(next).toHaveLength(1);
    expect(next[0]!.ticket).not.toBe((asked[0] as RunInstruction).ticket);
  });

  test("asks once while there is no answer, and again if the victim is lost", () => {
    const { scheduler, asked } = backlog();
    expect(asked).toHaveLength(1);
    expect(scheduler.handle(submitted(0, 1, 0))).toEqual([]);
    const again = scheduler.handle({ kind: "fault", executor: 0, running: null });
    expect(runs(again).map((run) => run.executor)).toEqual(new Array(10).fill(1));
  });

  test("can be switched off", () => {
    const scheduler = new ListedScheduler({ queueNs: 1e6, isStealing: false });
    scheduler.handleAll([joined(0), ...ran(0, parts(10, 50_000))]);
    expect(scheduler.handle(joined(1))).toEqual([]);
  });
});

test("a node of several parts is handed out ahead part by part, each where that part of its heaviest input runs", () => {
  const scheduler = new ListedScheduler({ isStealing: false });
  const node = (inputs: number[], partUs: number, partCount = 2) => {
    return { inputs, partCount, weight: 1, costNs: 1000 * partUs * partCount, moveNs: 0 };
  };
  const nodes = [node([], 40), node([], 20, 1), node([0, 1], 50), node([2], 50)];
  const events = [joined(0), joined(1), { kind: "opened" as const, plan: 0, nodes }, submitted(0)];
  const first = runs(scheduler.handleAll(events));
  const ahead = runs(scheduler.runAhead());
  expect(ahead.map((part) => [part.node, part.part])).toEqual(
    [2, 3].flatMap((id) => [0, 1].map((part) => [id, part])),
  );
  const executorOf = (id: number, part: number) =>
    [...first, ...ahead].find((each) => each.node === id && each.part === part)!.executor;
  for (const part of [0, 1])
    expect([executorOf(2, part), executorOf(3, part)]).toEqual(new Array(2).fill(executorOf(0, part)));
  const released = scheduler.handleAll(first.map((part) => done(part, 30_000)));
  expect(released.map(({ kind }) => kind)).toEqual(["release", "release"]);
  const third = scheduler.handleAll(ahead.slice(0, 2).map((part) => done(part, 50_000)));
  expect(third.map(({ kind }) => kind)).toEqual(["release", "release"]);
  const last = scheduler.handleAll(ahead.slice(2).map((part) => done(part, 50_000)));
  expect(last.map(({ kind }) => kind)).toEqual(["finished"]);
});

test("a queue has room as long as what it may run is short, though it holds more that it was given ahead", () => {
  const scheduler = new ListedScheduler({ queueNs: 200_000, queuePartsMin: 1, isStealing: false });
  const node = (inputs: number[], partUs: number, partCount = 1) => {
    return { inputs, partCount, weight: 1000 * partUs, costNs: 1000 * partUs * partCount, moveNs: 0 };
  };
  // The second node's executor is given the third node ahead: that of its input has more by 11 us, and moving costs 10. The first one is
  // given a part of the fourth node. Then the other parts of 60 us come: those that fill
  // the first executor to 256 us and the second one to 180, beside the 80 ahead, leave room for one more there.
  const nodes = [node([], 16), node([], 5), node([0], 80), node([1], 60, 8)];
  const events = [joined(0), joined(1), { kind: "opened" as const, plan: 0, nodes }, submitted(0)];
  const [first, second] = runs(scheduler.handleAll(events)).sort((a, b) => a.node - b.node);
  const [ahead, part] = runs(scheduler.runAhead());
  expect(ahead).toMatchObject({ node: 2, executor: second!.executor, isAhead: true });
  expect(part).toMatchObject({ node: 3, executor: first!.executor, isAhead: true });
  const parts = runs(scheduler.handle(done(second!, 5_000)));
  expect(parts.map(({ node }) => node)).toEqual(new Array(7).fill(3));
  const count = (executor: number) => parts.filter((part) => part.executor === executor).length;
  expect([1 + count(first!.executor), count(second!.executor)]).toEqual([4, 4]);
});
