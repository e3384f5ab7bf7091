import { expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { compile, finalDag } from "../../src/compile.ts";
import type { Dag } from "../../src/dag/dag.ts";
import { HostRows } from "../../src/kernel/fallback/host_rows.ts";
import { readsWholeRows } from "../../src/operator/definition.ts";
import { hasRowParts } from "../../src/plan/split_rows.ts";
import { callText, exampleSettings } from "../conformance/applications.ts";
import { FIELDS, GROUPS, panelFrom } from "../conformance/awkward_panels.ts";
import { bitsOf } from "../support/bits.ts";
import { testSeed } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { Draws } from "./random_panel.ts";
import { type PanelColumns, prepared, type RunOptions, runDag } from "./run_plan.ts";

/**
 * Operators across the row, alone and one above the other, whose rows are cut over lanes: in two to five parts, more than
 * there are lanes or lines of them at times. They give the bits of one part and those of the references.
 */

const ROUNDS = trials(40, 2000);
const ROWS = 4;
const LANE_COUNTS = [1, 2, 7, 8, 9, 16, 17, 24, 41, 64, 100, 333];
const PARTS = [2, 3, 4, 5];

const CALLS = builtInRegistry.operators.flatMap((operator) => {
  if (operator.axis === "rewrite" || !readsWholeRows(operator)) return [];
  return exampleSettings(operator).map((settings) => callText(operator, { settings }));
});

type Kind = (draws: Draws, lane: number) => number;

/** What a row is made of. */
const KINDS: readonly Kind[] = [
  (draws) => draws.next() - 0.5,
  (draws) => Math.round(1e4 * draws.next()) / 100,
  (draws) => draws.below(5),
  (draws) => draws.pick([0, -0, 1, -1]),
  () => 0.1,
  () => -0,
  (draws) => (draws.next() - 0.5) * 2 ** (120 * draws.next()),
  (draws) => (draws.next() - 0.5) * 2 ** Math.floor(2000 * draws.next() - 1000),
  (draws) => (draws.happens(0.05) ? draws.pick([1e15, -1e15]) : draws.next()),
  (draws) => 1e9 + draws.next(),
  (draws) => 1 + draws.below(4) * 2 ** -52,
  (draws) => draws.pick([1e16, -1e16, 1, 0.5, 1e-9]),
  (draws) => draws.below(9) * Number.MIN_VALUE,
  (draws) => draws.pick([Number.MAX_VALUE, -Number.MAX_VALUE, 1e300]),
  (_, lane) => lane,
  (_, lane) => (lane === 0 ? 3 : Number.NaN),
  () => Number.NaN,
];

function rowOf(draws: Draws, laneCount: number): number[] {
  const kind = draws.pick(KINDS);
  const nulls = draws.pick([0, 0, 0, 0.05, 0.5, 0.9]);
  const infinities = draws.pick([0, 0, 0, 0, 0, 0.02, 0.3]);
  return Array.from({ length: laneCount }, (_, lane) => {
    if (draws.happens(nulls)) return Number.NaN;
    return draws.happens(infinities) ? draws.pick([Infinity, -Infinity]) : kind(draws, lane);
  });
}

function panelOf(draws: Draws, laneCount: number): PanelColumns {
  const rows = new Map(
    FIELDS.map((name) => [name, Array.from({ length: ROWS }, () => rowOf(draws, laneCount))]),
  );
  const panel = panelFrom(ROWS, laneCount, (field, row, lane) => rows.get(field)![row]![lane]!);
  const codes = panel.groups.get("g")!.codes;
  // One group, groups of one member, a few groups with lanes in none, codes that are too large for code.
  const groupCount = draws.pick([1, laneCount, 3, 7, 5_000]);
  for (let i = 0; i < codes.length; i++) codes[i] = draws.happens(0.05) ? -1 : draws.below(groupCount);
  return panel;
}

const dags = new Map<string, Dag>();

function dagOf(text: string): Dag {
  const dag = dags.get(text) ?? finalDag(compile(text, { fields: FIELDS, groups: GROUPS }));
  dags.set(text, dag);
  return dag;
}

function expectBits(text: string, panel: PanelColumns, run: RunOptions, expected: readonly Float64Array[]) {
  const actual = runDag(dagOf(text), panel, run);
  expected.forEach((wanted, output) => {
    const cell = wanted.findIndex((value, i) => !Object.is(value, actual[output]![i]));
    if (cell < 0) return;
    throw new Error(
      `${text}\n${JSON.stringify(run)}: cell ${cell} is ${actual[output]![cell]}, not ${wanted[cell]}`,
    );
  });
}

test(`${ROUNDS} rounds of all operators across the row`, { timeout: 20_000 * ROUNDS }, () => {
  const first = testSeed();
  for (let round = 0; round < ROUNDS; round++) {
    const draws = new Draws(first + round);
    const laneCount = draws.pick(LANE_COUNTS);
    const panel = panelOf(draws, laneCount);
    const [inner, outer] = [draws.pick(CALLS), draws.pick(CALLS)];
    const text = `a = ${inner}\nb = ${outer.replaceAll(/\bx\b/g, `(${inner})`)}`;
    try {
      const expected = runDag(dagOf(text), panel, { reference: true, blockRows: 1 });
      expectBits(text, panel, { blockRows: 1 }, expected);
      const rowParts = draws.pick(PARTS);
      expectBits(text, panel, { blockRows: 1, rowParts }, expected);
      expectBits(text, panel, { blockRows: 1, rowParts, repeats: 2 }, expected);
      expectBits(text, panel, { blockRows: 1, rowParts, isRevisable: true }, expected);
    } catch (error) {
      throw new Error(`SEED=${first + round} ${laneCount} lanes`, { cause: error });
    }
  }
});

test.each([
  "zscore(x)",
  "rank(x)",
  "group_rank(x, g)",
])("shares that a lost thread has begun, and those of runs before, keep no part of %s from its results", (call) => {
  const draws = new Draws(7);
  const panel = panelFrom(3, 333, () => draws.next() - 0.5);
  const dag = dagOf(`a = ${call}`);
  const [expected] = runDag(dag, panel, { reference: true, blockRows: 1 });
  const { plan, kernels, memory, runner, results } = prepared(dag, panel, { blockRows: 1, rowParts: 4 });
  const node = plan.nodes.find(({ kind }) => kind === "rows")!;
  const begun = new Int32Array(memory.buffer, kernels.splitRows.get(node.id)!.byteOffset, node.partCount);
  for (const [row, lost] of [[], [0, 1, 2, 3], [1, 3]].entries()) {
    const run = 100 + row;
    const block = { firstRow: row, rowCount: 1, generation: 0, inputRow: row, outputRow: row, run };
    for (const share of lost) begun[share] = run + 1;
    for (const { id, partCount } of plan.nodes)
      for (let part = partCount - 1; part >= 0; part--) runner.run(id, part, block);
  }
  expect(bitsOf(results[0]!)).toEqual(bitsOf(expected!));
});

test("usual rows do not fall back to the reference, whatever the number of parts", () => {
  const draws = new Draws(1);
  const calls = CALLS.filter((text) => {
    return dagOf(`a = ${text}`).tasks.some((task) => task.kind === "call" && hasRowParts(task, 1));
  });
  expect(calls.length).toBeGreaterThan(3);
  for (const laneCount of [100, 1001]) {
    const panel = panelFrom(2, laneCount, () => draws.next() - 0.5);
    for (const text of calls) {
      for (const rowParts of PARTS) {
        const count = countHostRuns(() => runDag(dagOf(`a = ${text}`), panel, { blockRows: 1, rowParts }));
        expect(count, `${text} in ${rowParts} parts`).toBe(0);
      }
    }
  }
});

function countHostRuns(run: () => void): number {
  const { runLanes } = HostRows.prototype;
  let count = 0;
  HostRows.prototype.runLanes = function (this: HostRows, ...parameters) {
    count++;
    runLanes.apply(this, parameters);
  };
  try {
    run();
  } finally {
    HostRows.prototype.runLanes = runLanes;
  }
  return count;
}
