import { describe, expect, test } from "vitest";
import { DataError } from "../../src/errors.ts";
import type { ExecutorPool, OpenPlan } from "../../src/execution/executor_pool.ts";
import type { PlanArena } from "../../src/kernel/memory/plan_arena.ts";
import { bitsOf, blockAt, dataOf, type SmallNodes, smallPlan } from "./small_plan.ts";
import { withPool } from "./test_pool.ts";

const sums = (operand: string | number = "x", partCount = 1): SmallNodes => ({
  sum: { operator: "cum_sum", reads: [operand], partCount },
  twice: { operator: "add", reads: ["sum", "sum"], isOutput: true },
});
const ROWS = 6;
const data = (partCount = 1) => dataOf(smallPlan(sums("x", partCount), 2, 3), ROWS);

async function runRows(open: OpenPlan, end: number): Promise<void> {
  while (open.next.row < end) {
    const { row, generation } = open.next;
    await open.run({ ...blockAt(row, 1), generation });
  }
}

/** A checkpoint after three rows. */
async function checkpointAfterThree(pool: ExecutorPool): Promise<Uint8Array> {
  const open = await pool.open(data());
  await runRows(open, 3);
  return open.checkpoint();
}

describe("a checkpoint", () => {
  test("goes on where it was taken, on another pool and with other parts", async () => {
    const whole = data();
    const later = data(3);
    let checkpoint = new Uint8Array();
    await withPool({ threads: 1 }, async ({ pool }) => {
      await runRows(await pool.open(whole), ROWS);
      checkpoint = Uint8Array.from(await checkpointAfterThree(pool));
    });
    await withPool({ threads: 2 }, async ({ pool }) => {
      const open = await pool.open(later);
      open.restore(checkpoint);
      expect(open.next).toEqual({ row: 3, generation: 1, lastBlockRow: 2 });
      await runRows(open, ROWS);
    });
    expect(bitsOf(later.results[0]!.subarray(9))).toBe(bitsOf(whole.results[0]!.subarray(9)));
  });

  test("lets the newest row be run again", async () => {
    await withPool({ threads: 1 }, async ({ pool }) => {
      const { fields, results, ...rest } = data();
      const open = await pool.open({ fields, results, ...rest });
      open.restore(await checkpointAfterThree(pool));
      await open.run({ ...blockAt(2, 1), generation: 0 });
      const [x0, x1, x2] = [0, 3, 6].map((cell) => fields.get("x")![cell]!);
      expect(results[0]![6]).toBe(2 * (x0! + x1! + x2!));
    });
  });

  test("is not needed to begin again at row 0", async () => {
    await withPool({ threads: 1 }, async ({ pool }) => {
      const { arenas, ...rest } = data();
      const open = await pool.open({ arenas, ...rest });
      open.restore(await checkpointAfterThree(pool));
      const [{ kernels, memory }] = arenas as [PlanArena];
      const stamps = new Int32Array(memory.buffer, kernels.stampByteOffset, 3);
      expect([...stamps]).toEqual([3, 3, 3]);
      open.restart();
      expect([...stamps]).toEqual([0, 0, 0]);
      expect(open.next).toEqual({ row: 0, generation: 0, lastBlockRow: null });
      const running = open.run(blockAt(0, 1));
      expect(() => open.restart()).toThrow("a run of the plan is under way");
      await running;
      expect(open.next).toEqual({ row: 1, generation: 1, lastBlockRow: 0 });
    });
  });

  test("leaves the constants of the kernels, which those of another processor need not have", async () => {
    await withPool({ threads: 1 }, async ({ pool }) => {
      const other = data();
      const { kernels, ...arena } = other.arenas[0]!;
      const open = await pool.open({
        ...other,
        arenas: [{ ...arena, kernels: { ...kernels, constants: [7n] } }],
      });
      open.restore(await checkpointAfterThree(pool));
      expect(new BigUint64Array(arena.memory.buffer)[0]).toBe(7n);
    });
  });

  test("that is damaged is refused, and the plan stays as it was", async () => {
    await withPool({ threads: 1 }, async ({ pool }) => {
      const checkpoint = await checkpointAfterThree(pool);
      const open = await pool.open(data());
      const refused = (bytes: Uint8Array) => {
        expect(() => open.restore(bytes)).toThrow(DataError);
        expect(() => open.restore(bytes)).toThrow("E351 the checkpoint is damaged");
      };
      refused(new Uint8Array());
      refused(checkpoint.subarray(0, checkpoint.length - 1));
      for (const at of [0, 8, 16, 50, 100, checkpoint.length - 1]) {
        const bytes = Uint8Array.from(checkpoint);
        bytes[at]! ^= 1;
        refused(bytes);
      }
      expect(open.next).toEqual({ row: 0, generation: 0, lastBlockRow: null });
    });
  });

  test("of another plan is refused", async () => {
    await withPool({ threads: 1 }, async ({ pool }) => {
      const checkpoint = await checkpointAfterThree(pool);
      const others = [
        smallPlan(sums("y"), 2, 3),
        smallPlan(sums("x"), 1, 3),
        smallPlan(sums("x"), 2, 4),
        smallPlan(sums(-0), 2, 3),
      ];
      for (const plan of others) {
        const open = await pool.open(dataOf(plan, ROWS));
        expect(() => open.restore(checkpoint)).toThrow(
          "E352 the checkpoint belongs to another plan: the formulas, the number of symbols or the block size differ\n",
        );
      }
    });
  });

  test("of other code is refused", async () => {
    await withPool({ threads: 1 }, async ({ pool }) => {
      const checkpoint = await checkpointAfterThree(pool);
      const other = { codeDigest: "01".repeat(32) };
      const open = await pool.open({ ...data(), ...other });
      expect(() => open.restore(checkpoint)).toThrow(
        "E352 the checkpoint belongs to another plan: the engine or an operator has changed\n",
      );
      expect(open.next).toEqual({ row: 0, generation: 0, lastBlockRow: null });
      const both = await pool.open(dataOf(smallPlan(sums("y"), 2, 3), ROWS, other));
      expect(() => both.restore(checkpoint)).toThrow(
        /block size differ, or the engine or an operator has changed\n/,
      );
    });
  });
});
