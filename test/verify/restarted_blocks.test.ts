import { afterAll, beforeAll, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { compile } from "../../src/compile.ts";
import { panelSource } from "../../src/data/panel/panel_source.ts";
import { MemoryBudget } from "../../src/evaluation/memory/memory_budget.ts";
import { ExecutorPool, type PlanData } from "../../src/execution/executor_pool.ts";
import { DEFAULT_COSTS } from "../../src/plan/cost_model.ts";
import { restartedBlocks } from "../../src/verify/runs.ts";
import { panelOf } from "../panels.ts";

let pool: ExecutorPool;
beforeAll(async () => {
  pool = await ExecutorPool.start({ threads: 1 });
});
afterAll(() => pool.close());

const panel = panelOf({ x: [[1], [2], [4], [8], [16], [32]] });
const program = compile("total = cum_sum(x)\nago = delay(x, 2)", { fields: ["x"] });

/** The values, and how many plans were opened. */
async function run(restartRow: number) {
  let openCount = 0;
  const open = (data: PlanData) => {
    openCount++;
    return pool.open(data);
  };
  const budget = new MemoryBudget(2 ** 24);
  const counted = {
    open,
    nextCall: () => pool.nextCall(),
    hasMoreUrgent: () => false,
    // Called where the process is large, as after other tests.
    collectGarbage: () => pool.collectGarbage(),
  } as Partial<ExecutorPool>;
  const host = { pool: counted as ExecutorPool, budget, threads: 1, costs: DEFAULT_COSTS };
  const values: Record<string, number[]> = { total: [], ago: [] };
  for await (const { columns } of restartedBlocks(
    [host, host],
    builtInRegistry,
    program,
    panelSource(panel),
    {
      restartRow,
    },
  ))
    for (const [name, column] of columns) values[name]?.push(...(column ?? []));
  return { ...values, openCount, usedBytes: budget.usedBytes };
}

test("goes on in another plan where the first was left", async () => {
  const expected = { total: [1, 3, 7, 15, 31, 63], ago: [Number.NaN, Number.NaN, 1, 2, 4, 8], usedBytes: 0 };
  expect(await run(3)).toEqual({ ...expected, openCount: 2 });
  expect(await run(1)).toEqual({ ...expected, openCount: 2 });
  expect(await run(6)).toEqual({ ...expected, openCount: 1 });
});
