import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BlockRun } from "../../src/schedule/block_run.ts";
import { ExecutorQueue, QUEUE_SLOTS } from "../../src/schedule/executor_queue.ts";
import { NodeGraph } from "../../src/schedule/node_graph.ts";
import { criticalPathFirst } from "../../src/schedule/ready_order.ts";

const run = new BlockRun(0, new NodeGraph([]), criticalPathFirst);

describe("an executor's queue", () => {
  test("knows its parts by ticket after any history, each in a slot of its own", () => {
    const actions = fc.array(fc.tuple(fc.boolean(), fc.nat(1000)), { maxLength: 600, size: "max" });
    fc.assert(
      fc.property(actions, (drawn) => {
        const queue = new ExecutorQueue(3);
        const model = new Map<number, { readonly node: number; readonly ns: number }>();
        const gone: number[] = [];
        drawn.forEach(([isPut, pick], node) => {
          const tickets = [...model.keys()];
          if (isPut && queue.fill < Number.POSITIVE_INFINITY) {
            const ticket = queue.put(run, node, node + 1, pick, pick % 3 === 0);
            expect(model.has(ticket) || gone.includes(ticket)).toBe(false);
            model.set(ticket, { node, ns: pick });
          } else if (tickets.length > 0) {
            const ticket = tickets[pick % tickets.length]!;
            queue.take(queue.slotOf(ticket)!);
            model.delete(ticket);
            gone.push(ticket);
          }
        });
        expect(queue.partCount).toBe(model.size);
        expect(queue.queuedNs).toBe([...model.values()].reduce((sum, { ns }) => sum + ns, 0));
        const ahead = [...model.values()].filter(({ ns }) => ns % 3 === 0);
        expect(queue.runnableCount).toBe(model.size - ahead.length);
        expect(queue.aheadNs).toBe(ahead.reduce((sum, { ns }) => sum + ns, 0));
        expect(new Set([...model.keys()].map((ticket) => ticket % QUEUE_SLOTS)).size).toBe(model.size);
        for (const [ticket, { node }] of model) {
          const slot = queue.slotOf(ticket)!;
          expect([queue.nodes[slot], queue.parts[slot], queue.ticketOf(slot)]).toEqual([
            node,
            node + 1,
            ticket,
          ]);
        }
        for (const ticket of gone) expect(queue.slotOf(ticket)).toBeNull();
      }),
      { numRuns: 100 },
    );
  });

  test("is full when all slots are taken", () => {
    const queue = new ExecutorQueue(0);
    const tickets = Array.from({ length: QUEUE_SLOTS }, (_, part) => queue.put(run, 0, part, 1, false));
    expect(queue.fill).toBe(Number.POSITIVE_INFINITY);
    queue.take(queue.slotOf(tickets[77]!)!);
    expect(queue.fill).toBeLessThan(Number.POSITIVE_INFINITY);
    expect(queue.put(run, 0, 0, 1, false)).toBe(tickets[77]! + QUEUE_SLOTS);
  });

  test("holds no rest of rounding once it is empty", () => {
    const queue = new ExecutorQueue(0);
    const tickets = [0.1, 0.2, 0.3].map((ns) => queue.put(run, 0, 0, ns, true));
    for (const ticket of tickets) queue.take(queue.slotOf(ticket)!);
    expect(queue.queuedNs).toBe(0);
    expect(queue.aheadNs).toBe(0);
  });
});
