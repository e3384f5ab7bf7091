import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { compile, finalDag } from "../../src/compile.ts";
import { finishedRow } from "../../src/kernel/run/finished_rows.ts";
import { initializeArena } from "../../src/kernel/run/initialize_arena.ts";
import { NodeRunner } from "../../src/kernel/run/node_runner.ts";
import { formPlan } from "../../src/plan/form.ts";
import { atOnce, compileKernels } from "./at_once.ts";
import { blocksOf } from "./run_plan.ts";
import { sharedCopy } from "./small_panel.ts";

const TEXT = "lanes = a / b\nrows = scale(a)\ninput = a";
const VALUES = [1, -0, Number.NaN, Infinity, -Infinity, 5e-324, -1.5, 1e308];

/** Values of a row, different in every lane and row. */
const valueAt = (row: number, lane: number, step: number) =>
  VALUES[(row * 3 + lane * step + Math.floor(lane / 8)) % VALUES.length]!;

describe("finished rows", () => {
  const shapes = [9, 250].flatMap((laneCount) =>
    [
      [1, 1],
      [1, 3],
      [4, 2],
    ].map(([blockRows, partCount]) => [laneCount, blockRows!, partCount!] as const),
  );

  test.each(shapes)("%i lanes, blocks of %i rows, nodes of %i parts", (laneCount, blockRows, partCount) => {
    const rowCount = 9;
    const cells = Array.from({ length: rowCount * laneCount }, (_, cell) => cell);
    const column = (step: number) =>
      sharedCopy(cells.map((cell) => valueAt(Math.floor(cell / laneCount), cell % laneCount, step)));
    const dag = finalDag(compile(TEXT, { fields: ["a", "b"] }));
    const formed = formPlan(dag, { laneCount, blockRows, executorCount: 1 });
    const plan = { ...formed, nodes: formed.nodes.map((node) => ({ ...node, partCount })) };
    const options = { reference: false, executorCount: 1, finishedRows: 1 };
    const kernels = compileKernels(plan, builtInRegistry, options);
    const pages = Math.ceil(kernels.arenaBytes / 65_536);
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    atOnce(initializeArena(plan, kernels, memory));
    const results = plan.outputs.map(() => sharedCopy(cells));
    const fields = new Map([
      ["a", column(1)],
      ["b", column(3)],
    ]);
    const setup = { plan, kernels, memory, registry: builtInRegistry, executor: 0, fields };
    const runner = new NodeRunner({ ...setup, groups: new Map(), params: {}, results });
    const rows = finishedRow(plan, kernels, memory, 0);
    let nulls = 0;
    for (const block of blocksOf(rowCount, [blockRows])) {
      for (const { id } of plan.nodes)
        for (let part = 0; part < partCount; part++) runner.run(id, part, block);
      const newest = (block.firstRow + block.rowCount - 1) * laneCount;
      for (const [output, { values, valid, infinite }] of rows.entries()) {
        for (let lane = 0; lane < laneCount; lane++) {
          const value = results[output]![newest + lane]!;
          const bit = (words: Uint32Array) => (words[lane >> 5]! >>> (lane & 31)) & 1;
          expect(Object.is(values[lane], value)).toBe(true);
          expect(bit(valid)).toBe(Number.isNaN(value) ? 0 : 1);
          expect(bit(infinite)).toBe(Math.abs(value) === Infinity ? 1 : 0);
          nulls += 1 - bit(valid);
        }
      }
    }
    expect(nulls).toBeGreaterThan(0);
  });
});
