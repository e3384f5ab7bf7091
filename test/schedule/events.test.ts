import { describe, expect, test } from "vitest";
import type { Instruction, RunInstruction } from "../../src/schedule/events.ts";
import { Scheduler } from "../../src/schedule/scheduler.ts";
import { type Drawing, DrawnGraph } from "./drawn_graph.ts";
import { simulate } from "./simulate.ts";

const submitted = (call: number, drawing: Drawing) => {
  const graph = new DrawnGraph(drawing, 1);
  return { kind: "submitted" as const, call, nodes: graph.nodes, wanted: graph.wanted(), slotCount: 99 };
};
const joined = (executor: number) => ({ kind: "joined" as const, executor });
const reply = (kind: "done" | "failed", { executor, call, node, part }: RunInstruction) => ({
  kind,
  executor,
  call,
  node,
  part,
});
const runs = (instructions: readonly Instruction[]) => instructions.filter((one) => one.kind === "run");
const single: Drawing = { a: { isOutput: true } };
const parts = (partCount: number): Drawing => ({ a: { partCount, isOutput: true } });

describe("calls", () => {
  test("with nothing wanted finish at once, even without executors", () => {
    const scheduler = new Scheduler();
    const event = { ...submitted(0, single), wanted: Uint8Array.of(0) };
    expect(scheduler.handle(event)).toEqual([{ kind: "finished", call: 0 }]);
    expect(scheduler.progress(0)).toBeUndefined();
  });

  test("wait for executors, and parts go to the least filled queue first", () => {
    const scheduler = new Scheduler(2);
    expect(scheduler.handle(submitted(0, parts(9)))).toEqual([]);
    const first = runs(scheduler.handleAll([joined(4), joined(5)]));
    expect(
      first
        .map((run) => run.executor)
        .slice(0, 2)
        .sort(),
    ).toEqual([4, 5]);
    expect(first.map((run) => run.executor).sort()).toEqual([4, 4, 5, 5]);
    const next = runs(scheduler.handle(reply("done", first.find((run) => run.executor === 5)!)));
    expect(next.map((run) => run.executor)).toEqual([5]);
    expect(scheduler.progress(0)).toMatchObject({ partsDone: 1, partCount: 9 });
  });

  test("of earlier calls go first, and later calls only keep executors from idling", () => {
    const scheduler = new Scheduler(8);
    // a - b: while a runs, the later call fills its own executor and leaves the queues open for b.
    const early = { a: { cost: 1 }, b: { inputs: ["a"], partCount: 12, isOutput: true } };
    const first = runs(
      scheduler.handleAll([joined(0), joined(1), submitted(0, early), submitted(1, parts(50))]),
    );
    expect(first.filter((run) => run.call === 0)).toHaveLength(1);
    expect(first.filter((run) => run.call === 1)).toHaveLength(3);
    const next = runs(scheduler.handle(reply("done", first[0]!)));
    expect(next.map((run) => run.call)).toEqual(new Array(12).fill(0));
  });

  test("run one after the other in order of submission on one executor", () => {
    const graph = new DrawnGraph({ a: { cost: 5, isOutput: true } }, 1);
    const other = new DrawnGraph({ b: { cost: 9, isOutput: true } }, 1);
    expect(simulate([{ graph }, { graph: other }], 1).started).toEqual(["a", "b"]);
  });
});

describe("cancelling", () => {
  test("ends a call with its last outstanding part and leaves other calls alone", () => {
    const scheduler = new Scheduler(2);
    const [first, second] = runs(
      scheduler.handleAll([joined(0), submitted(0, parts(9)), submitted(1, single)]),
    );
    expect(scheduler.handle({ kind: "cancel", call: 0 })).toEqual([]);
    const freed = scheduler.handle(reply("done", first!));
    expect(runs(freed).map((run) => run.call)).toEqual([1]);
    expect(scheduler.handle(reply("failed", second!))).toEqual([{ kind: "cancelled", call: 0 }]);
    expect(scheduler.handle(reply("done", runs(freed)[0]!))).toEqual([{ kind: "finished", call: 1 }]);
  });

  test("an idle call ends at once; an unknown call is no news", () => {
    const scheduler = new Scheduler();
    scheduler.handle(submitted(0, single));
    expect(scheduler.handle({ kind: "cancel", call: 0 })).toEqual([{ kind: "cancelled", call: 0 }]);
    expect(scheduler.handle({ kind: "cancel", call: 0 })).toEqual([]);
    expect(scheduler.handle({ kind: "cancel", call: 7 })).toEqual([]);
  });
});

describe("a kernel that throws", () => {
  test("fails its call, named by the first node that failed, after the other parts came back", () => {
    const scheduler = new Scheduler(2);
    const started = runs(scheduler.handleAll([joined(0), joined(1), submitted(0, parts(9))]));
    const replies = started.map((run, index) => reply(index === 2 ? "done" : "failed", run));
    expect(scheduler.handleAll(replies.slice(0, 3))).toEqual([]);
    expect(scheduler.handleAll(replies.slice(3))).toEqual([
      { kind: "failed", call: 0, node: 0, reason: "kernel" },
    ]);
  });
});

describe("a lost executor", () => {
  const fault = (executor: number, running: RunInstruction | null) => ({
    kind: "fault" as const,
    executor,
    running,
  });

  test("has its parts run elsewhere", () => {
    const scheduler = new Scheduler(2);
    const first = runs(scheduler.handleAll([joined(0), submitted(0, parts(2))]));
    expect(scheduler.handle(fault(0, first[0]!))).toEqual([]);
    const again = runs(scheduler.handle(joined(1)));
    expect(again.map((run) => run.part).sort()).toEqual([0, 1]);
    const late = scheduler.handle(reply("done", first[0]!));
    expect(late).toEqual([]);
    expect(scheduler.handleAll(again.map((run) => reply("done", run)))).toEqual([
      { kind: "finished", call: 0 },
    ]);
  });

  test("twice with the same part running fails the call; queued parts are not to blame", () => {
    const scheduler = new Scheduler(2);
    const loseWith = (executor: number, part: number) => {
      const started = runs(scheduler.handle(joined(executor)));
      return scheduler.handle(fault(executor, started.find((run) => run.part === part) ?? null));
    };
    scheduler.handle(submitted(0, parts(2)));
    expect(loseWith(0, 0)).toEqual([]);
    expect(loseWith(1, 1)).toEqual([]);
    expect(loseWith(2, -1)).toEqual([]);
    expect(loseWith(3, 1)).toEqual([{ kind: "failed", call: 0, node: 0, reason: "executor" }]);
  });

  test("a part that was done in between has a clean slate", () => {
    const scheduler = new Scheduler(1);
    const drawing = { a: {}, b: { inputs: ["a"], isOutput: true } };
    const [a] = runs(scheduler.handleAll([joined(0), submitted(0, drawing)]));
    const [again] = runs(scheduler.handleAll([fault(0, a!), joined(1)]));
    const [b] = runs(scheduler.handle(reply("done", again!)));
    expect(scheduler.handle(fault(1, b!))).toEqual([]);
    expect(runs(scheduler.handle(joined(2)))).toHaveLength(1);
  });

  test("joining twice is a bug of ours", () => {
    const scheduler = new Scheduler();
    scheduler.handle(joined(0));
    expect(() => scheduler.handle(joined(0))).toThrow("joined already");
  });
});
