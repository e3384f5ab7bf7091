import { describe, expect, test } from "vitest";
import type { Instruction, RunInstruction } from "../../src/schedule/events.ts";
import { Scheduler } from "../../src/schedule/scheduler.ts";
import { type Drawing, DrawnGraph } from "./drawn_graph.ts";
import { simulate } from "./simulate.ts";

const opened = (plan: number, drawing: Drawing) => {
  return { kind: "opened" as const, plan, nodes: new DrawnGraph(drawing, 1).nodes };
};
const submitted = (plan: number) => ({ kind: "submitted" as const, plan });
/** A plan is opened and run. */
const ran = (plan: number, drawing: Drawing) => [opened(plan, drawing), submitted(plan)];
const joined = (executor: number) => ({ kind: "joined" as const, executor });
const reply = (kind: "done" | "failed", { executor, plan, node, part }: RunInstruction) => ({
  kind,
  executor,
  plan,
  node,
  part,
});
const runs = (instructions: readonly Instruction[]) => instructions.filter((one) => one.kind === "run");
const single: Drawing = { a: {} };
const parts = (partCount: number): Drawing => ({ a: { partCount } });

describe("runs", () => {
  test("of a plan without nodes finish at once, even without executors", () => {
    const scheduler = new Scheduler();
    expect(scheduler.handleAll(ran(0, {}))).toEqual([{ kind: "finished", plan: 0 }]);
  });

  test("of one plan follow each other, each from the start", () => {
    const scheduler = new Scheduler(4);
    scheduler.handleAll([joined(0), opened(0, { a: { partCount: 2 }, b: { inputs: ["a"] } })]);
    const transcripts = [1, 2, 3].map(() => {
      let started = runs(scheduler.handle(submitted(0)));
      const transcript = [...started];
      for (;;) {
        const next = scheduler.handleAll(started.map((run) => reply("done", run)));
        if (next.some(({ kind }) => kind === "finished")) return transcript;
        started = runs(next);
        transcript.push(...started);
      }
    });
    expect(transcripts[0]).toHaveLength(3);
    expect(transcripts[1]).toEqual(transcripts[0]);
    expect(transcripts[2]).toEqual(transcripts[0]);
  });

  test("of one plan at the same time are a bug of ours", () => {
    const scheduler = new Scheduler();
    scheduler.handleAll(ran(0, single));
    expect(() => scheduler.handle(submitted(0))).toThrow("a run of plan 0 is under way");
  });

  test("wait for executors, and parts go to the least filled queue first", () => {
    const scheduler = new Scheduler(2);
    expect(scheduler.handleAll(ran(0, parts(9)))).toEqual([]);
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
  });

  test("of earlier runs go first, and later ones only keep executors from idling", () => {
    const scheduler = new Scheduler(8);
    // a - b: while a runs, the later run fills its own executor and leaves the queues open for b.
    const early = { a: { cost: 1 }, b: { inputs: ["a"], partCount: 12 } };
    const first = runs(scheduler.handleAll([joined(0), joined(1), ...ran(0, early), ...ran(1, parts(50))]));
    expect(first.filter((run) => run.plan === 0)).toHaveLength(1);
    expect(first.filter((run) => run.plan === 1)).toHaveLength(3);
    const next = runs(scheduler.handle(reply("done", first[0]!)));
    expect(next.map((run) => run.plan)).toEqual(new Array(12).fill(0));
  });

  test("run one after the other in order of submission on one executor", () => {
    const graph = new DrawnGraph({ a: { cost: 5 } }, 1);
    const other = new DrawnGraph({ b: { cost: 9 } }, 1);
    expect(simulate([graph, other], 1).started).toEqual(["a", "b"]);
  });
});

describe("cancelling", () => {
  test("ends a run with its last outstanding part and leaves others alone", () => {
    const scheduler = new Scheduler(2);
    const [first, second] = runs(scheduler.handleAll([joined(0), ...ran(0, parts(9)), ...ran(1, single)]));
    expect(scheduler.handle({ kind: "cancel", plan: 0 })).toEqual([]);
    const freed = scheduler.handle(reply("done", first!));
    expect(runs(freed).map((run) => run.plan)).toEqual([1]);
    expect(scheduler.handle(reply("failed", second!))).toEqual([{ kind: "cancelled", plan: 0 }]);
    expect(scheduler.handle(reply("done", runs(freed)[0]!))).toEqual([{ kind: "finished", plan: 1 }]);
  });

  test("an idle run ends at once; one that has ended, or a plan that is unknown, is no news", () => {
    const scheduler = new Scheduler();
    scheduler.handleAll(ran(0, single));
    expect(scheduler.handle({ kind: "cancel", plan: 0 })).toEqual([{ kind: "cancelled", plan: 0 }]);
    expect(scheduler.handle({ kind: "cancel", plan: 0 })).toEqual([]);
    expect(scheduler.handle({ kind: "cancel", plan: 7 })).toEqual([]);
  });

  test("leaves the plan as it was: its next run starts anew", () => {
    const scheduler = new Scheduler(2);
    const [first] = runs(scheduler.handleAll([joined(0), ...ran(0, parts(1))]));
    scheduler.handle({ kind: "cancel", plan: 0 });
    expect(scheduler.handle(reply("done", first!))).toEqual([{ kind: "cancelled", plan: 0 }]);
    const [again] = runs(scheduler.handle(submitted(0)));
    expect(scheduler.handle(reply("done", again!))).toEqual([{ kind: "finished", plan: 0 }]);
    expect(scheduler.handle({ kind: "closed", plan: 0 })).toEqual([]);
    expect(scheduler.handle({ kind: "cancel", plan: 0 })).toEqual([]);
  });
});

describe("a kernel that throws", () => {
  test("fails its run, named by the first node that failed, after the other parts came back", () => {
    const scheduler = new Scheduler(2);
    const started = runs(scheduler.handleAll([joined(0), joined(1), ...ran(0, parts(9))]));
    const replies = started.map((run, index) => reply(index === 2 ? "done" : "failed", run));
    expect(scheduler.handleAll(replies.slice(0, 3))).toEqual([]);
    expect(scheduler.handleAll(replies.slice(3))).toEqual([
      { kind: "failed", plan: 0, node: 0, reason: "kernel" },
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
    const first = runs(scheduler.handleAll([joined(0), ...ran(0, parts(2))]));
    expect(scheduler.handle(fault(0, first[0]!))).toEqual([]);
    const again = runs(scheduler.handle(joined(1)));
    expect(again.map((run) => run.part).sort()).toEqual([0, 1]);
    const late = scheduler.handle(reply("done", first[0]!));
    expect(late).toEqual([]);
    expect(scheduler.handleAll(again.map((run) => reply("done", run)))).toEqual([
      { kind: "finished", plan: 0 },
    ]);
  });

  test("twice with the same part running fails the run; queued parts are not to blame", () => {
    const scheduler = new Scheduler(2);
    const loseWith = (executor: number, part: number) => {
      const started = runs(scheduler.handle(joined(executor)));
      return scheduler.handle(fault(executor, started.find((run) => run.part === part) ?? null));
    };
    scheduler.handleAll(ran(0, parts(2)));
    expect(loseWith(0, 0)).toEqual([]);
    expect(loseWith(1, 1)).toEqual([]);
    expect(loseWith(2, -1)).toEqual([]);
    expect(loseWith(3, 1)).toEqual([{ kind: "failed", plan: 0, node: 0, reason: "executor" }]);
  });

  test("a part that was done in between has a clean slate", () => {
    const scheduler = new Scheduler(1);
    const drawing = { a: {}, b: { inputs: ["a"] } };
    const [a] = runs(scheduler.handleAll([joined(0), ...ran(0, drawing)]));
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
