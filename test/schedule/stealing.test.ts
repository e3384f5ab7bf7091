import { describe, expect, test } from "vitest";
import { BlockRun } from "../../src/schedule/block_run.ts";
import { ExecutorQueue } from "../../src/schedule/executor_queue.ts";
import { NodeGraph } from "../../src/schedule/node_graph.ts";
import { criticalPathFirst } from "../../src/schedule/ready_order.ts";
import { findSteal, HAND_OVER_NS } from "../../src/schedule/stealing.ts";

interface Queued {
  readonly ns: number;
  readonly weight?: number;
  readonly moveNs?: number;
  readonly isAsked?: boolean;
  readonly isAhead?: boolean;
  /** Default 0, of priority 0. */
  readonly call?: number;
  readonly priority?: number;
}

/** Which part is stolen, as `queue:part`; node ids are counted through. */
function stolenFrom(...queues: readonly (readonly Queued[])[]): string | null {
  const parts = queues.flat();
  const graph = new NodeGraph(
    parts.map(({ ns, moveNs = 0 }) => ({ inputs: [], partCount: 1, weight: 0, costNs: ns, moveNs })),
  );
  const weights = Float64Array.from(parts, ({ weight = 1 }) => weight);
  const runOf = ({ call = 0, priority }: Queued) => {
    const run = new BlockRun(0, graph, criticalPathFirst);
    run.start({ kind: "submitted", plan: 0, block: 0, call, priority, isNeeded: null }, weights, null);
    return run;
  };
  let node = 0;
  const filled = queues.map((held, executor) => {
    const queue = new ExecutorQueue(executor);
    held.forEach((one, part) => {
      const { ns, isAsked, isAhead = false } = one;
      const slot = queue.slotOf(queue.put(runOf(one), node++, part, ns, isAhead))!;
      queue.isAsked[slot] = isAsked ? 1 : 0;
    });
    return queue;
  });
  const steal = findSteal(filled, (queue, slot) => graph.nodes[queue.nodes[slot]!]!.moveNs);
  return steal && `${steal.queue.executor}:${steal.queue.parts[steal.slot]}`;
}

describe("what is stolen", () => {
  test("comes from the executor with the most work, not with the most parts", () => {
    const long = [{ ns: 90_000 }, { ns: 80_000 }];
    const many = Array.from({ length: 8 }, () => ({ ns: 15_000 }));
    expect(stolenFrom(many, long)).toMatch(/^1:/);
  });

  test("is of the earliest call, whatever it costs, wherever it is queued", () => {
    const running = { ns: 50_000, isAsked: true };
    const [early, late] = [
      { ns: 20_000, call: 1 },
      { ns: 900_000, call: 2 },
    ];
    expect(stolenFrom([running, late, early, late])).toBe("0:2");
    expect(stolenFrom([running, late, late], [running, early])).toBe("1:1");
    expect(stolenFrom([running, late, { ...early, ns: 1000 }])).toBe("0:1");
  });

  test("is of the highest priority first, and numbers of calls wrap around", () => {
    const running = { ns: 50_000, isAsked: true };
    const urgent = { ns: 20_000, call: 9, priority: 1 };
    expect(stolenFrom([running, { ns: 900_000, call: 1 }, urgent])).toBe("0:2");
    const [last, next] = [2 ** 31 - 1, -(2 ** 31)];
    expect(stolenFrom([running, { ns: 900_000, call: next }, { ns: 20_000, call: last }])).toBe("0:2");
  });

  test("is never the only part of an executor: it is running", () => {
    expect(stolenFrom([{ ns: 1e9 }], [])).toBeNull();
  });

  test("is of those that gain most the one its owner would come to last", () => {
    // 30 us and 25 us outweigh the move of 10 us twice, 15 us once.
    const queue = [
      { ns: 30_000, weight: 5 },
      { ns: 15_000, weight: 1 },
      { ns: 25_000, weight: 3 },
    ];
    expect(stolenFrom(queue)).toBe("0:2");
  });

  test("is nothing that the move costs more than it takes, but for a long backlog", () => {
    const short = { ns: 0.6 * HAND_OVER_NS };
    expect(stolenFrom(new Array(7).fill(short))).toBeNull();
    expect(stolenFrom(new Array(8).fill(short))).toMatch(/^0:/);
    expect(stolenFrom(new Array(20).fill({ ns: 0.4 * HAND_OVER_NS }))).toBeNull();
  });

  test("takes the data that would be moved into account", () => {
    const part = { ns: 50_000, moveNs: 100_000 };
    expect(stolenFrom([part, part, part])).toBeNull();
    expect(stolenFrom([part, part, { ns: 50_000 }])).toBe("0:2");
  });

  test("is nothing that its owner would begin before the move is over", () => {
    const next = { ns: 100_000, weight: 0 };
    expect(stolenFrom([{ ns: HAND_OVER_NS }, next])).toBe("0:1");
    expect(stolenFrom([{ ns: HAND_OVER_NS - 1 }, next])).toBeNull();
  });

  test("is nothing that waits for its inputs, nor for its sake", () => {
    const ahead = { ns: 1e6, weight: 0, isAhead: true };
    expect(stolenFrom([{ ns: 50_000 }, ahead])).toBeNull();
    expect(stolenFrom([{ ns: 50_000 }, { ns: 40_000, weight: 0 }, ahead], [{ ns: 1000 }, ahead])).toBe("0:1");
  });

  test("was not asked for before", () => {
    const part = { ns: 50_000 };
    expect(stolenFrom([part, { ...part, isAsked: true }, part])).not.toBe("0:1");
    expect(
      stolenFrom([
        { ...part, isAsked: true },
        { ...part, isAsked: true },
      ]),
    ).toBeNull();
  });
});
