import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Instruction, ScheduledNode, SchedulerEvent } from "../../src/schedule/events.ts";
import { trials } from "../support/trials.ts";
import { CheckedWorld, type WorldOptions } from "./checked_world.ts";
import { randomGraphs } from "./random_graph.ts";

const crew = {
  executorCount: fc.integer({ min: 1, max: 5 }),
  options: fc.record({
    queueNs: fc.constantFrom(0, 10_000, 200_000),
    queuePartsMin: fc.integer({ min: 1, max: 3 }),
  }),
  overlap: fc.integer({ min: 1, max: 3 }),
  picks: fc.infiniteStream(fc.nat(1000)),
};

/** Answers a steal or completes queued parts in random order, several at a time, until nothing is queued. */
function runDry(world: CheckedWorld, pick: () => number, afterEach: (said: Instruction[]) => void): void {
  for (;;) {
    const events: SchedulerEvent[] = [];
    for (let count = 1 + (pick() % 3); count > 0; count--) {
      const busy = [...world.queues.keys()].filter((executor) => world.runnable(executor).length > 0);
      const steal = pick() % 2 || busy.length === 0 ? world.answerSteal(pick() % 3 === 0) : null;
      if (steal) events.push(steal);
      else if (busy.length > 0) events.push(world.complete(busy[pick() % busy.length]!, pick()));
    }
    if (events.length === 0) return;
    // The scheduler reads one executor after the other: it may learn of a part before its inputs.
    if (pick() % 2) events.sort((a, b) => executorOf(b) - executorOf(a));
    afterEach(world.handle(events));
  }
}

const executorOf = (event: SchedulerEvent) => ("executor" in event ? event.executor : 0);

const picker = (picks: Iterator<number>) => () => picks.next().value as number;

function startWorld(executorCount: number, options: WorldOptions): CheckedWorld {
  const world = new CheckedWorld(options);
  world.handle(Array.from({ length: executorCount }, (_, executor) => world.join(executor)));
  return world;
}

/** Some nodes with everything that they read. */
function someNodes(nodes: readonly ScheduledNode[], pick: number): Uint8Array {
  const isNeeded = new Uint8Array(nodes.length);
  const need = (node: number) => {
    if (isNeeded[node]) return;
    isNeeded[node] = 1;
    nodes[node]!.inputs.forEach(need);
  };
  nodes.forEach((_, node) => {
    if ((node * 7 + pick) % 5 === 0) need(node);
  });
  return isNeeded;
}

describe("on random graphs", () => {
  test("blocks that overlap run every part once, after its inputs and the block before", () => {
    fc.assert(
      fc.property(randomGraphs(16), fc.record(crew), (nodes, { executorCount, options, overlap, picks }) => {
        const world = startWorld(executorCount, options);
        const next = picker(picks);
        world.handle([world.open(nodes)]);
        let blocksLeft = 4;
        const submit = () => {
          while (blocksLeft > 0 && world.maySubmit(0, overlap)) {
            blocksLeft--;
            world.handle([world.submit(0, 0, null)]);
          }
        };
        submit();
        // A graph of no nodes leaves nothing to wait for.
        runDry(world, next, submit);
        const { runs } = world.plans[0]!;
        expect(runs.map(({ end }) => end?.kind)).toEqual(new Array(4).fill("finished"));
      }),
      { numRuns: trials(40, 120) },
    );
  });

  test("partial runs run exactly the nodes that are needed", () => {
    fc.assert(
      fc.property(randomGraphs(20), fc.record(crew), (nodes, { executorCount, options, picks }) => {
        const world = startWorld(executorCount, options);
        const next = picker(picks);
        world.handle([world.open(nodes)]);
        for (let block = 0; block < 4; block++) {
          const isNeeded = block === 2 ? null : someNodes(nodes, next());
          world.handle([world.submit(0, block, isNeeded)]);
          runDry(world, next, () => {});
          const { end, partsDone } = world.plans[0]!.runs[block]!;
          expect(end?.kind).toBe("finished");
          const wanted = nodes.flatMap(({ partCount }, node) => (isNeeded?.[node] === 0 ? [] : [partCount]));
          expect(partsDone.size).toBe(wanted.reduce((sum, count) => sum + count, 0));
        }
      }),
      { numRuns: trials(40, 100) },
    );
  });

  test("runs end under cuts, kernel failures, lost executors and steals", () => {
    const graphs = fc.array(randomGraphs(12), { minLength: 1, maxLength: 4 });
    const actions = fc.array(fc.tuple(fc.nat(19), fc.nat(1000), fc.nat(1000)), {
      maxLength: 150,
      size: "max",
    });
    fc.assert(
      fc.property(graphs, actions, fc.record(crew), (drawnGraphs, drawnActions, drawn) => {
        const { executorCount, options, overlap, picks } = drawn;
        const world = startWorld(executorCount, options);
        let nextExecutor = executorCount;
        world.handle(drawnGraphs.map((nodes, plan) => world.open(nodes, (plan * 7) % 3)));
        for (const [action, first, second] of drawnActions) {
          const plan = first % drawnGraphs.length;
          const executors = [...world.queues.keys()];
          const executor = executors[first % Math.max(1, executors.length)];
          const queued = executor === undefined ? 0 : world.runnable(executor).length;
          if (action < 4) {
            const isNeeded = second % 3 === 0 ? someNodes(drawnGraphs[plan]!, second) : null;
            // Another run of the block may have left what these nodes read.
            if (second % 6 === 0) isNeeded?.set(isNeeded.map((_, node) => (second >> (node % 9)) & 1));
            if (world.maySubmit(plan, overlap)) world.handle([world.submit(plan, second % 4, isNeeded)]);
          } else if (action === 4) world.cut(first % 5, second);
          else if (action < 7) world.handle([world.join(nextExecutor++)]);
          else if (action < 9) {
            const answer = world.answerSteal(second % 2 === 0);
            if (answer) world.handle([answer]);
          } else if (executor === undefined) continue;
          else if (action < 11) world.handle([world.lose(executor, second % 2 && queued ? second : null)]);
          else if (queued > 0) world.handle([world.complete(executor, second, action === 11)]);
        }
        world.handle([world.join(nextExecutor)]);
        runDry(world, picker(picks), () => {});
        for (const { runs } of world.plans) for (const { end } of runs) expect(end).not.toBeNull();
      }),
      { numRuns: trials(100, 300) },
    );
  });

  test("the same events give the same instructions", () => {
    fc.assert(
      fc.property(randomGraphs(15), fc.record(crew), (nodes, { executorCount, options, picks }) => {
        const drawn = [...picks.take(500)];
        const transcript = () => {
          const world = startWorld(executorCount, options);
          const log = [world.handle([world.open(nodes), world.submit(0, 0, null), world.submit(0, 0, null)])];
          const stream = drawn[Symbol.iterator]();
          runDry(
            world,
            () => stream.next().value ?? 0,
            (said) => log.push(said),
          );
          return log;
        };
        expect(transcript()).toEqual(transcript());
      }),
      { numRuns: 50 },
    );
  });
});
