import { execFile } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { InternalError, ResourceError } from "../../src/errors.ts";
import type { CallRequest } from "../../src/execution/executor_pool.ts";
import { requestOf, type SmallNode, smallPlan } from "./small_plan.ts";
import { withPool } from "./test_pool.ts";

const quick = smallPlan({ a: { operator: "add_one", reads: ["x"], isOutput: true } }, 3, 2);
/** Takes until the mark `go` is left; `count` such nodes side by side. */
const waiting = (count: number) =>
  smallPlan(
    Object.fromEntries(
      Array.from({ length: count }, (_, i): [string, SmallNode] => [
        `n${i}`,
        { operator: "wait", reads: ["x"], isOutput: true },
      ]),
    ),
    1,
    1,
  );

describe("aborting", () => {
  test("rejects with the signal's reason at once, and the pool stays usable", async () => {
    await withPool({ threads: 2 }, async ({ pool, markSeen, leaveMark }) => {
      const controller = new AbortController();
      const aborted = pool.run(requestOf(waiting(50), { signal: controller.signal }));
      await markSeen("started");
      controller.abort();
      await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
      leaveMark("go");
      expect((await pool.run(requestOf(quick))).column(0)).toHaveLength(6);
    });
  });

  test("before the call starts nothing", async () => {
    await withPool({ threads: 1 }, async ({ pool }) => {
      const reason = new Error("not any more");
      const call = pool.run(requestOf(quick, { signal: AbortSignal.abort(reason) }));
      await expect(call).rejects.toBe(reason);
    });
  });
});

describe("calls that overlap", () => {
  test("do not disturb each other", async () => {
    await withPool({ threads: 2 }, async ({ pool }) => {
      const plans = Array.from({ length: 20 }, (_, i) =>
        smallPlan(
          {
            a: { operator: "add", reads: ["x", i], partCount: 5 },
            b: { operator: "add_one", reads: ["a"], isOutput: true },
          },
          50,
          3,
        ),
      );
      const x = new Map([["x", new Float64Array(new SharedArrayBuffer(150 * 8))]]);
      const results = await Promise.all(plans.map((plan) => pool.run(requestOf(plan, { fields: x }))));
      results.forEach((result, i) => {
        expect([...new Set(result.column(1))]).toEqual([i + 1]);
      });
    });
  });

  test("end one by one: a quick call need not wait for a slow one that came first", async () => {
    await withPool({ threads: 2 }, async ({ pool, markSeen, leaveMark }) => {
      const slow = pool.run(requestOf(waiting(1)));
      await markSeen("started");
      expect((await pool.run(requestOf(quick))).column(0)).toHaveLength(6);
      leaveMark("go");
      expect((await slow).column(0)).toHaveLength(1);
    });
  });
});

describe("closing", () => {
  test("rejects what runs and what comes later, even while a kernel is stuck", async () => {
    await withPool({ threads: 2 }, async ({ pool, markSeen }) => {
      const stuck = pool.run(requestOf(waiting(3)));
      await markSeen("started");
      const closing = pool.close();
      await expect(stuck).rejects.toThrow("E404 the engine was closed");
      await closing;
      await expect(pool.run(requestOf(quick))).rejects.toThrow(ResourceError);
      await pool.close();
    });
  });

  test("lets the process exit, and Node reads the sources as they are", async () => {
    const script = `
      import { ExecutorPool } from "./src/execution/executor_pool.ts";
      import { requestOf, smallPlan } from "./test/execution/small_plan.ts";
      const operatorsUrl = new URL("./test/execution/fixtures/operators.ts", "file://" + process.cwd() + "/");
      const pool = await ExecutorPool.start({ threads: 2, operatorsUrl });
      const plan = smallPlan({ a: { operator: "add", reads: [1, 2], isOutput: true } }, 1, 1);
      console.log((await pool.run(requestOf(plan))).column(0)[0]);
      await pool.close();
    `;
    const args = ["--input-type=module", "--eval", script];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { timeout: 10_000 });
    expect([stdout, stderr]).toEqual(["3\n", ""]);
  });
});

describe("memory", () => {
  const columns = 10;
  const plan = smallPlan(
    Object.fromEntries(
      Array.from({ length: columns }, (_, i): [string, SmallNode] => [
        `n${i}`,
        { operator: "add_one", reads: [i === 0 ? "x" : `n${i - 1}`], isOutput: i % 2 === 1 },
      ]),
    ),
    100,
    10,
  );
  const columnBytes = 100 * 10 * 8;

  test("for outputs and working columns is enough", async () => {
    await withPool({ threads: 2, arenaBytesMax: 6 * columnBytes }, async ({ pool }) => {
      const { column } = await pool.run(requestOf(plan));
      const { column: expected } = await pool.run(requestOf(plan));
      for (const node of [1, 3, 5, 7, 9]) expect([...column(node)]).toEqual([...expected(node)]);
      expect(column(9)[0]).toBe(10);
    });
  });

  test("for less is refused before anything runs, naming need and limit", async () => {
    await withPool({ threads: 1, arenaBytesMax: 6 * columnBytes - 1 }, async ({ pool }) => {
      const refused = pool.run(requestOf(plan));
      await expect(refused).rejects.toThrow(ResourceError);
      await expect(refused).rejects.toThrow(
        "E401 the evaluation needs 0.0 MiB (6 columns of 100 rows x 10 lanes), the limit is 0.0 MiB",
      );
      expect((await pool.run(requestOf(quick))).column(0)).toHaveLength(6);
    });
  });

  test("that the system cannot give is an error, not a crash", async () => {
    const huge = { ...quick, rowCount: 2 ** 26, laneCount: 2 ** 26 };
    await withPool({ threads: 1, arenaBytesMax: Number.MAX_SAFE_INTEGER }, async ({ pool }) => {
      const request = {
        ...requestOf(quick),
        plan: {
          ...huge,
          nodes: huge.nodes.map((node) => ({
            ...node,
            task: { ...node.task, operands: [{ kind: "number" as const, value: 1 }] },
          })),
        },
      };
      await expect(pool.run(request)).rejects.toThrow("E401");
    });
  });
});

describe("progress", () => {
  test("is reported on the way and at the end", async () => {
    await withPool({ threads: 2 }, async ({ pool, markSeen, leaveMark }) => {
      const reports: string[] = [];
      const plan = smallPlan(
        {
          a: { operator: "add_one", reads: ["x"], isOutput: true },
          b: { operator: "wait", reads: ["a"], partCount: 4 },
          c: { operator: "add_one", reads: ["b"], isOutput: true },
        },
        4,
        1,
      );
      const onProgress = (partsDone: number, partCount: number) => reports.push(`${partsDone}/${partCount}`);
      const call = pool.run(requestOf(plan, { onProgress }));
      await markSeen("started");
      await delay(60);
      leaveMark("go");
      await call;
      // At the latest the last part of `b` is news of a call that is older than 50 ms and not finished.
      expect(reports.length).toBeGreaterThan(1);
      expect(reports.at(-1)).toBe("6/6");
    });
  });

  test("a callback that throws ends its call with what it threw", async () => {
    await withPool({ threads: 1 }, async ({ pool }) => {
      const error = new Error("enough");
      const onProgress = () => {
        throw error;
      };
      await expect(pool.run(requestOf(quick, { onProgress }))).rejects.toBe(error);
      expect((await pool.run(requestOf(quick))).column(0)).toHaveLength(6);
    });
  });
});

test("a request that contradicts itself is a bug of ours, not a hang", async () => {
  const twoNodes = smallPlan(
    { a: { operator: "add_one", reads: ["x"] }, b: { operator: "add_one", reads: ["a"], isOutput: true } },
    1,
    1,
  );
  await withPool({ threads: 1 }, async ({ pool }) => {
    const refuse = async (change: Partial<CallRequest>, message: string) => {
      const call = pool.run({ ...requestOf(twoNodes), ...change });
      await expect(call).rejects.toThrow(InternalError);
      await expect(call).rejects.toThrow(message);
    };
    await refuse({ wanted: Uint8Array.of(0, 1) }, "an input of node 1 is not wanted");
    await refuse({ wanted: Uint8Array.of(1) }, "one mark per node");
    await refuse({ fields: new Map() }, "node 0 reads a missing field");
    await refuse({ plan: { ...twoNodes, nodes: [...twoNodes.nodes].reverse() } }, "out of order");
  });
});
