import { describe, expect, test } from "vitest";
import type { CallResult } from "../../src/execution/executor_pool.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { bitsOf, groupOf } from "../kernel/small_panel.ts";
import { requestOf, type SmallNode, type SmallNodes, smallPlan, waves } from "./small_plan.ts";
import { withPool } from "./test_pool.ts";

const ROWS = 60;
const LANES = 11;

/**
 * Every axis, a param, a group, shared results, and columns that are reused on the way. Row operators read whole
 * rows and stay cut by rows.
 */
const nodesInParts = (partCount: number, partAxis: "lanes" | "rows"): SmallNodes => ({
  spread: { operator: "add", reads: ["close", "open"], partAxis, partCount },
  shifted: { operator: "add", reads: ["spread", "shift"], partAxis, partCount },
  sum: { operator: "ts_sum", reads: ["shifted"], settings: { d: 5 }, partAxis, partCount },
  lenient: { operator: "ts_sum", reads: ["spread"], settings: { d: 7 }, minPeriods: 2, partAxis, partCount },
  centred: { operator: "demean", reads: ["sum"], partCount },
  neutral: { operator: "group_demean", reads: ["lenient"], group: "sector", partCount },
  both: { operator: "add", reads: ["centred", "neutral"], partAxis, partCount, isOutput: true },
  late: { operator: "ts_sum", reads: ["both"], settings: { d: 3 }, partAxis, partCount, isOutput: true },
});

const group = groupOf(
  Array.from({ length: LANES }, (_, lane) => (lane % 4) - 1),
  false,
);
const requestFor = (plan: Plan) =>
  requestOf(plan, { params: { shift: 0.25 }, groups: new Map([["sector", group]]) });
const outputBits = (plan: Plan, result: CallResult) =>
  plan.outputs.map(({ operand }) => (operand.kind === "node" ? bitsOf(result.column(operand.node)) : []));

describe("results", () => {
  test("have the same bits for any number of executors and parts", async () => {
    const plans = ([1, 2, 7, 100] as const).flatMap((partCount) =>
      (["rows", "lanes"] as const).map((axis) =>
        smallPlan(nodesInParts(partCount, axis), ROWS, LANES, ["shift"]),
      ),
    );
    const seen = new Set<string>();
    for (const threads of [1, 2, 4]) {
      await withPool({ threads }, async ({ pool }) => {
        for (const plan of plans) {
          const result = await pool.run(requestFor(plan));
          seen.add(outputBits(plan, result).join(";"));
        }
      });
    }
    expect(seen).toHaveLength(1);
  });

  test("are those of the formulas", async () => {
    const plan = smallPlan(nodesInParts(2, "rows"), ROWS, LANES, ["shift"]);
    const request = requestFor(plan);
    const close = request.fields.get("close")!;
    const open = request.fields.get("open")!;
    const cell = (row: number, lane: number) => close[row * LANES + lane]! + open[row * LANES + lane]!;
    const sumOf = (row: number, lane: number) =>
      row < 4 ? NaN : [4, 3, 2, 1, 0].reduce((sum, back) => sum + (cell(row - back, lane) + 0.25), 0);
    const valid = Array.from({ length: LANES }, (_, lane) => sumOf(9, lane)).filter(
      (value) => !Number.isNaN(value),
    );
    const mean = valid.reduce((sum, value) => sum + value, 0) / valid.length;
    const centred = { ...plan.nodes[4]!, isOutput: true };
    const nodes = plan.nodes.map((node) => (node.id === 4 ? centred : node));
    await withPool({ threads: 2 }, async ({ pool }) => {
      const result = await pool.run({ ...request, plan: { ...plan, nodes } });
      const row = [...result.column(4).subarray(9 * LANES, 10 * LANES)];
      expect(valid.length).toBeGreaterThan(2);
      expect(row).toEqual(Array.from({ length: LANES }, (_, lane) => sumOf(9, lane) - mean));
      expect(result.nodeNs.every((ns) => ns > 0)).toBe(true);
      expect(result.wallNs).toBeGreaterThan(0);
      expect(() => result.column(0)).toThrow("no output");
    });
  });

  test("of nodes that are not wanted are not computed", async () => {
    const plan = smallPlan(
      {
        good: { operator: "add_one", reads: ["x"], isOutput: true },
        bad: { operator: "throw", reads: ["x"], isOutput: true },
      },
      3,
      2,
    );
    await withPool({ threads: 1 }, async ({ pool }) => {
      const result = await pool.run(requestOf(plan, { wanted: Uint8Array.of(1, 0) }));
      expect([...result.column(0)]).toEqual([...waves(6, 1)].map((value) => value + 1));
      expect(() => result.column(1)).toThrow("no output");
      expect(result.nodeNs[1]).toBe(0);
      const nothing = await pool.run(requestOf(plan, { wanted: Uint8Array.of(0, 0) }));
      expect([...nothing.nodeNs]).toEqual([0, 0]);
    });
  });

  test("of an empty panel are empty", async () => {
    const plan = smallPlan({ a: { operator: "add_one", reads: ["x"], partCount: 3, isOutput: true } }, 0, 5);
    await withPool({ threads: 2 }, async ({ pool }) => {
      expect((await pool.run(requestOf(plan))).column(0)).toHaveLength(0);
    });
  });
});

describe("shapes of graphs", () => {
  const chain = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, i): [string, SmallNode] => [
        `n${i}`,
        { operator: "add_one", reads: [i === 0 ? "x" : `n${i - 1}`], isOutput: i === count - 1 },
      ]),
    );
  const wide = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, i): [string, SmallNode] => [
        `n${i}`,
        { operator: "add", reads: ["x", i], isOutput: true },
      ]),
    );
  const x = new Map([["x", new Float64Array(new SharedArrayBuffer(16))]]);

  test.each([1, 2, 4])("1,000 nodes in a row and 1,000 side by side on %i executors", async (threads) => {
    await withPool({ threads }, async ({ pool }) => {
      const inRow = await pool.run(requestOf(smallPlan(chain(1000), 2, 1), { fields: x }));
      expect([...inRow.column(999)]).toEqual([1000, 1000]);
      const aside = await pool.run(requestOf(smallPlan(wide(1000), 2, 1), { fields: x }));
      const firstCells = Array.from({ length: 1000 }, (_, i) => aside.column(i)[0]);
      expect(firstCells).toEqual(Array.from({ length: 1000 }, (_, i) => i));
    });
  });
});
