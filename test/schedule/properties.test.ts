import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SchedulerEvent } from "../../src/schedule/events.ts";
import { CheckedWorld } from "./checked_world.ts";
import { randomGraphs } from "./random_graph.ts";

const crew = {
  executorCount: fc.integer({ min: 1, max: 5 }),
  queueParts: fc.integer({ min: 1, max: 5 }),
  picks: fc.infiniteStream(fc.nat(1000)),
};

/** Completes queued parts in random order, several at a time, until nothing is queued. */
function runDry(world: CheckedWorld, pick: () => number, afterEach: () => void = () => {}): void {
  for (;;) {
    const events: SchedulerEvent[] = [];
    for (let count = 1 + (pick() % 3); count > 0; count--) {
      const busy = [...world.queues.keys()].filter((executor) => world.queues.get(executor)!.length > 0);
      if (busy.length > 0) events.push(world.complete(busy[pick() % busy.length]!, pick(), "done"));
    }
    if (events.length === 0) return;
    world.handle(events);
    afterEach();
  }
}

const picker = (picks: Iterator<number>) => () => picks.next().value as number;

function startWorld(executorCount: number, queueParts: number): CheckedWorld {
  const world = new CheckedWorld(queueParts);
  world.handle(Array.from({ length: executorCount }, (_, executor) => world.join(executor)));
  return world;
}

describe("on random graphs", () => {
  test("every part runs exactly once, after its inputs, and no executor starves", () => {
    fc.assert(
      fc.property(randomGraphs(25), fc.record(crew), (nodes, { executorCount, queueParts, picks }) => {
        const world = startWorld(executorCount, queueParts);
        const noneStarves = () => {
          if (!world.plans[0]!.end && world.hasRoom) expect(world.readyParts(world.plans[0]!)).toEqual([]);
        };
        const next = picker(picks);
        world.handle(world.submit(nodes));
        for (let run = 1; ; run++) {
          noneStarves();
          runDry(world, next, noneStarves);
          expect(world.plans[0]!.end).toEqual({ kind: "finished", plan: 0 });
          if (run === 3) break;
          world.handle([world.resubmit(0)]);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("runs end as they should under cancels, kernel failures and lost executors", () => {
    const submissions = fc.array(randomGraphs(12), { minLength: 1, maxLength: 4 });
    const actions = fc.array(fc.tuple(fc.nat(19), fc.nat(1000), fc.nat(1000)), {
      maxLength: 120,
      size: "max",
    });
    fc.assert(
      fc.property(submissions, actions, fc.record(crew), (drawnGraphs, drawnActions, drawn) => {
        const { executorCount, queueParts, picks } = drawn;
        const world = startWorld(executorCount, queueParts);
        const waiting = [...drawnGraphs];
        let nextExecutor = executorCount;
        for (const [action, first, second] of drawnActions) {
          const executors = [...world.queues.keys()];
          const executor = executors[first % Math.max(1, executors.length)];
          const queued = executor === undefined ? 0 : world.queues.get(executor)!.length;
          if (action < 3 && waiting.length > 0) {
            world.handle(world.submit(waiting.pop()!));
          } else if (action === 8 && world.plans[first % 5]?.end) {
            world.handle([world.resubmit(first % 5)]);
          } else if (action === 3) world.handle([world.cancel(first % 5)]);
          else if (action < 6) world.handle([world.join(nextExecutor++)]);
          else if (executor === undefined) continue;
          else if (action === 6) world.handle([world.lose(executor, second % 2 ? second : null)]);
          else if (queued > 0)
            world.handle([world.complete(executor, second, action === 7 ? "failed" : "done")]);
        }
        world.handle([world.join(nextExecutor)]);
        runDry(world, picker(picks));
        for (const plan of world.plans) expect(plan.end).not.toBeNull();
      }),
      { numRuns: 500 },
    );
  });

  test("is the same every time", () => {
    fc.assert(
      fc.property(randomGraphs(15), fc.record(crew), (nodes, { executorCount, queueParts, picks }) => {
        const drawn = [...picks.take(500)];
        const transcript = () => {
          const world = startWorld(executorCount, queueParts);
          const log = [world.handle(world.submit(nodes))];
          const stream = drawn[Symbol.iterator]();
          runDry(
            world,
            () => stream.next().value ?? 0,
            () => log.push(structuredClone([...world.queues.values()].flat())),
          );
          return log;
        };
        expect(transcript()).toEqual(transcript());
      }),
      { numRuns: 50 },
    );
  });
});
