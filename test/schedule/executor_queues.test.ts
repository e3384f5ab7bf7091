import fc from "fast-check";
import { expect, test } from "vitest";
import type { PartId } from "../../src/schedule/events.ts";
import { ExecutorQueues } from "../../src/schedule/executor_queues.ts";

test("the least filled queue is found after any history", () => {
  const action = fc.constantFrom("join", "join", "lose", "put", "put", "put", "take", "take");
  const actions = fc.array(fc.tuple(action, fc.nat(6), fc.nat(3)), { maxLength: 100, size: "max" });
  fc.assert(
    fc.property(actions, fc.integer({ min: 1, max: 4 }), (drawn, capacity) => {
      const queues = new ExecutorQueues(capacity);
      const model = new Map<number, PartId[]>();
      let nextPart = 0;
      for (const [action, executor, pick] of drawn) {
        const held = model.get(executor);
        if (action === "join" && !held) {
          queues.join(executor);
          model.set(executor, []);
        } else if (action === "lose") {
          expect(queues.lose(executor)).toEqual(held ?? []);
          model.delete(executor);
        } else if (action === "put" && held && held.length < capacity) {
          const part = { plan: 0, node: executor, part: nextPart++ };
          queues.put(executor, part);
          held.push(part);
        } else if (action === "take") {
          const part = held?.[pick] ?? { plan: 0, node: executor, part: -1 };
          expect(queues.take(executor, part)).toBe(held?.includes(part) ?? false);
          if (held?.includes(part)) held.splice(pick, 1);
        }
        for (const limit of [undefined, 1, 2]) {
          const counts = [...model.values()].map((parts) => parts.length);
          const fewest = Math.min(...counts);
          const found = queues.leastFilled(limit);
          if (fewest < Math.min(limit ?? capacity, capacity)) expect(model.get(found!)).toHaveLength(fewest);
          else expect(found).toBeNull();
        }
      }
    }),
    { numRuns: 300 },
  );
});
