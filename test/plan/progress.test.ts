import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { compile, finalDag } from "../../src/compile.ts";
import { liveDag } from "../../src/live/live_dag.ts";
import { formPlan } from "../../src/plan/form.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { type BlockChoice, Progress, type SelectionOptions } from "../../src/plan/progress.ts";
import { warmUpRows } from "../../src/plan/retention.ts";

const planOf = (text: string, blockRows = 8): Plan =>
  formPlan(finalDag(compile(`param p = 1\n${text}`)), { laneCount: 4, blockRows, executorCount: 1 });

type Conditions = readonly boolean[];

/** Runs a block of one row. */
function run(progress: Progress, conditions: Conditions, options: SelectionOptions = {}): void {
  progress.begin(progress.select({ conditions, ...options }), 1, options.block);
}

/** Runs blocks of one row up to `row`, with the conditions of `areOn`. */
function runUpTo(row: number, plan: Plan, areOn: (row: number) => Conditions): Progress {
  const progress = new Progress(plan);
  for (let r = 0; r < row; r++) run(progress, areOn(r));
  return progress;
}

/** Per conditional node its operators, its start row and whether its windows are rebuilt; null: not run. */
function drawn(plan: Plan, progress: Progress, conditions: Conditions, block: BlockChoice = "next") {
  const { isRun, startRows, isRebuilt } = progress.select({ conditions, block })!;
  const conditional = plan.nodes.filter((node) => node.conditions !== null);
  return Object.fromEntries(
    conditional.map(({ id, tasks }) => {
      const names = tasks.map((task) => plan.tasks[task]!.operator).join(" ");
      return [names, isRun[id] ? [startRows[id], isRebuilt[id]] : null];
    }),
  );
}

//  ts_mean 20 - rank - ts_max 10        the rank is read 10 rows back, the mean once more as far
const CHAIN = planOf("f = ts_max(rank(ts_mean(close, 20)), 10) when p == 1");

describe("the rows that a node catches up", () => {
  test("are as many as what is behind it looks back; the last nodes catch up none", () => {
    expect(CHAIN.nodes.map(({ catchUpRows }) => catchUpRows)).toEqual([0, 10, 10, 0]);
  });

  test("count windows within the node once more: they have to pass through what is right", () => {
    const { nodes } = planOf("f = ts_mean(ts_max(close, 7), 5) when p == 1");
    expect(nodes.map(({ catchUpRows }) => catchUpRows)).toEqual([0, 4]);
  });

  test("are none for what is always needed", () => {
    const { nodes } = planOf("f = ts_max(rank(ts_mean(close, 20)), 10)");
    expect(nodes.map(({ catchUpRows, replayRows }) => [catchUpRows, replayRows])).toEqual(
      nodes.map(() => [0, 0]),
    );
  });

  test("are kept in the columns that the node reads, and no others are", () => {
    const spare = (plan: Plan) =>
      plan.columns.map(({ ringRows, historyRows }) => ringRows - historyRows - plan.blockRows);
    expect(spare(CHAIN)).toEqual([0, 64, 64, 64]);
    expect(spare(planOf("f = rank(close * 2) when p == 1\ng = ts_mean(open, 9)"))).toEqual([0, 0, 0, 0, 0]);
  });
});

describe("a node that is needed", () => {
  const [mean, rank, max] = ["ts_mean", "rank", "ts_max"];

  test("all the time starts with the block", () => {
    const progress = runUpTo(50, CHAIN, () => [true]);
    expect(drawn(CHAIN, progress, [true])).toEqual({
      [mean!]: [50, 0],
      [rank!]: [50, 0],
      [max!]: [50, 0],
    });
  });

  test("not at all is not run", () => {
    expect(
      drawn(
        CHAIN,
        runUpTo(3, CHAIN, () => [true]),
        [false],
      ),
    ).toEqual({
      ts_mean: null,
      rank: null,
      ts_max: null,
    });
  });

  test("after a short gap goes on where it stopped", () => {
    const progress = runUpTo(164, CHAIN, (row) => [row < 100]);
    const start = [100, 0];
    expect(drawn(CHAIN, progress, [true])).toEqual({ ts_mean: start, rank: start, ts_max: start });
  });

  test("after a long gap starts as early as is needed, with new windows", () => {
    const progress = runUpTo(165, CHAIN, (row) => [row < 100]);
    expect(drawn(CHAIN, progress, [true])).toEqual({
      ts_mean: [155, 1],
      rank: [155, 1],
      ts_max: [165, 1],
    });
  });

  test("for the first time early in history starts with row 0, as it is", () => {
    const start = [0, 0];
    const progress = runUpTo(9, CHAIN, () => [false]);
    expect(drawn(CHAIN, progress, [true])).toEqual({ ts_mean: start, rank: start, ts_max: start });
  });

  test("goes on where it stopped while history is shorter than what it would catch up", () => {
    const plan = planOf("f = ts_max(rank(delay(close, 90)), 200) when p == 1");
    const at = (row: number) =>
      drawn(
        plan,
        runUpTo(row, plan, (r) => [r === 0]),
        [true],
      );
    expect(at(150)).toEqual({ "delay multiply": [1, 0], rank: [1, 0], ts_max: [150, 1] });
    expect(at(201)).toEqual({ "delay multiply": [1, 0], rank: [1, 0], ts_max: [201, 1] });
    expect(at(202)).toEqual({ "delay multiply": [2, 1], rank: [2, 1], ts_max: [202, 1] });
  });

  test("again for the last block finds its windows as that block did", () => {
    const plan = planOf("f = ts_max(rank(ts_mean(close, 20)), 10) when p == 1", 1);
    const progress = runUpTo(50, plan, () => [true]);
    expect(drawn(plan, progress, [true], "again")).toMatchObject({ ts_max: [49, 0] });
  });

  test("no more when the last block is revised goes back before it", () => {
    const progress = runUpTo(50, CHAIN, () => [true]);
    run(progress, [false], { block: "again" });
    expect(drawn(CHAIN, progress, [true])).toMatchObject({ ts_mean: [49, 1], ts_max: [49, 1] });
  });

  test("and fails when the last block is revised is as it was before", () => {
    const progress = runUpTo(50, CHAIN, (row) => [row !== 49]);
    const before = drawn(CHAIN, progress, [true]);
    run(progress, [true], { block: "again" });
    expect(drawn(CHAIN, progress, [true])).not.toEqual(before);
    progress.undo();
    expect(drawn(CHAIN, progress, [true])).toEqual(before);
  });
});

test("a node that is not needed when a row is revised rebuilds its windows where it starts after that row", () => {
  const plan = planOf("f = ts_mean(ts_mean(close, 5), 80) when p == 1");
  const [node] = plan.nodes.filter(({ conditions }) => conditions !== null);
  const progress = runUpTo(200, plan, () => [true]);
  run(progress, [false], { block: "again" });
  while (progress.nextRow < 200 + node!.catchUpRows!) run(progress, [false]);
  const { startRows, isRebuilt } = progress.select({ conditions: [true] })!;
  expect([startRows[node!.id], isRebuilt[node!.id]]).toEqual([200, 1]);
});

//  ts_mean 20 - ema - rank     ema has to run every row, and so does the mean; the rank does not
describe("a recursion", () => {
  const plan = planOf("f = rank(ema(rank(ts_mean(close, 20)), 5)) when p == 1", 1);
  const [mean, inner, ema, rank] = plan.nodes.slice(1).map(({ id }) => id) as [
    number,
    number,
    number,
    number,
  ];
  const startsOf = (areOn: (row: number) => Conditions, row: number, options: SelectionOptions = {}) => {
    const { isRun, startRows } = runUpTo(row, plan, areOn).select({ conditions: areOn(row), ...options })!;
    return [mean, inner, ema, rank].map((id) => (isRun[id] ? startRows[id] : null));
  };
  const until100 = (row: number) => [row < 100];

  test("has no long gap, nor has what it reads", () => {
    expect(plan.nodes.map(({ catchUpRows, replayRows }) => [catchUpRows, replayRows])).toEqual([
      [0, 0],
      [null, 64],
      [null, 64],
      [null, 64],
      [0, 0],
    ]);
  });

  test("rests for 64 rows, then runs them with what it reads", () => {
    expect(startsOf(until100, 163)).toEqual([null, null, null, null]);
    expect(startsOf(until100, 164)).toEqual([100, 100, 100, null]);
    expect(startsOf(until100, 165)).toEqual([null, null, null, null]);
  });

  test("runs at once where its rest ends, with what it reads and nothing else", () => {
    const all = { endsRest: true };
    expect(startsOf((row) => [row < 100 || row === 130], 130, all)).toEqual([100, 100, 100, null]);
    expect(startsOf(until100, 130, all)).toEqual([null, null, null, null]);
  });

  test("loses rows where its caller lets it, and cannot run then", () => {
    expect([163, 164].map((row) => runUpTo(row, plan, until100).isRestDue)).toEqual([false, true]);
    const progress = runUpTo(164, plan, until100);
    for (let count = 0; count < 2; count++) {
      const rests = progress.select({ conditions: [false], mayLose: true })!;
      expect([mean, inner, ema, rank].map((id) => rests.isRun[id])).toEqual([0, 0, 0, 0]);
      progress.begin(rests, 1);
    }
    expect(progress.isRestDue).toBe(false);
    expect(() => run(progress, [true])).toThrow(
      "E515 ts_mean, or what it reads, failed in a row that nothing needed then and that is gone",
    );
    expect(progress.nextRow).toBe(166);
  });

  test("that no budget may skip runs in every row", () => {
    const text = "f = ema(close, 5) priority 1\ng = ts_mean(close, 3) priority 2";
    const { dag } = liveDag(finalDag(compile(text)), {
      priorities: {},
      disabledPasses: new Set(),
      series: [],
    });
    const live = formPlan(dag, { laneCount: 4, blockRows: 1, executorCount: 1 });
    const { isRun } = new Progress(live).select({ conditions: [false] })!;
    const operators = live.nodes.flatMap(({ id, tasks }) =>
      isRun[id] ? tasks.map((task) => live.tasks[task]!.operator) : [],
    );
    expect(operators.sort()).toEqual(["ema", "ts_mean"]);
  });

  describe("carries values into a row", () => {
    const generationAt = (row: number, progress: Progress) =>
      progress.generationBefore(ema, progress.nextRow - row);

    test("from one generation to the next, two if it runs missed rows first", () => {
      const progress = runUpTo(130, plan, until100);
      expect([99, 100, 130].map((row) => generationAt(row, progress))).toEqual([99, 100, null]);
      run(progress, [true]);
      expect([129, 130, 131].map((row) => generationAt(row, progress))).toEqual([null, 101, 102]);
    });

    test("as before, if the row runs again", () => {
      const progress = runUpTo(50, plan, () => [true]);
      const { generations } = progress.select({ conditions: [true], block: "again" })!;
      expect(generations[ema]).toBe(49);
      run(progress, [false], { block: "again" });
      expect(generationAt(49, progress)).toBe(49);
    });
  });
});

describe("a block that goes on under other conditions", () => {
  //  ts_mean 5 is read by both
  const plan = planOf(
    "f = rank(ts_mean(close, 5)) when p == 1\ng = ts_max(ts_mean(close, 5), 9) when p == 2",
  );

  test("runs what was left out, from where it stopped, and nothing twice", () => {
    const progress = runUpTo(31, plan, (row) => [true, row < 28]);
    const { isRun, startRows } = progress.select({ conditions: [true, true], block: "rest" })!;
    const started = plan.nodes.flatMap(({ id, tasks }) =>
      isRun[id] ? tasks.map((task) => [plan.tasks[task]!.operator, startRows[id]]) : [],
    );
    expect(started).toEqual([["ts_max", 28]]);
  });

  test("leaves what was run as it is", () => {
    const progress = runUpTo(31, plan, (row) => [true, row < 30]);
    run(progress, [false, true], { block: "rest" });
    expect(drawn(plan, progress, [true, true])).toEqual({
      ts_mean: [31, 0],
      rank: [31, 0],
      ts_max: [31, 0],
    });
  });
});

test("conditions beyond the first words of a set are distinguished", () => {
  const factors = Array.from({ length: 70 }, (_, i) => `f${i} = rank(close * ${i + 2}) when p == ${i}`);
  const plan = planOf(factors.join("\n"));
  const progress = new Progress(plan);
  for (const on of [0, 31, 32, 63, 64, 69]) {
    const { isRun } = progress.select({ conditions: factors.map((_, i) => i === on) })!;
    const outputs = plan.nodes.flatMap(({ id, outputs: own }) => (isRun[id] ? own : []));
    expect(outputs.map((index) => plan.outputs[index]!.name)).toEqual([`f${on}`]);
  }
});

test("a restart leaves nothing of what has run", () => {
  const progress = runUpTo(165, CHAIN, (row) => [row < 100]);
  progress.restart(0);
  expect(drawn(CHAIN, progress, [true])).toEqual(drawn(CHAIN, new Progress(CHAIN), [true]));
  expect(progress.startOf("next")).toEqual({ firstRow: 0, generation: 0 });
  expect(() => progress.startOf("again")).toThrow("no block has run");
});

test("without conditions nothing is selected, and every block has the next generation", () => {
  const progress = new Progress(planOf("f = ema(close, 5)"));
  for (let count = 0; count < 3; count++) {
    expect(progress.select()).toBeNull();
    progress.begin(null, 8);
    progress.begin(null, 8, "again");
  }
  expect([progress.startOf("next"), progress.startOf("again")]).toEqual([
    { firstRow: 24, generation: 3 },
    { firstRow: 16, generation: 2 },
  ]);
  expect([0, 1].map((rowsBack) => progress.generationBefore(0, rowsBack))).toEqual([3, 2]);
});

describe("a warm-up", () => {
  const rowsOf = (text: string) => {
    const plan = planOf(text, 1);
    const names = plan.nodes.map(({ tasks }) => tasks.map((task) => plan.tasks[task]!.operator).join(" "));
    return Object.fromEntries(
      warmUpRows(plan, builtInRegistry).map((rows, id) => [names[id] || "input", rows]),
    );
  };

  test("begins a node as many rows early as what is behind it looks back", () => {
    const text = "f = ts_max(rank(ts_mean(close, 20)), 10)";
    expect(rowsOf(text)).toEqual({ input: null, ts_mean: 10, rank: 10, ts_max: 0 });
  });

  test("begins with the first row for recursions, for long windows, and for what these read", () => {
    const early = { input: null, ts_mean: null, rank: null };
    const recursion = "f = group_mean(ema(rank(ts_mean(close, 5)), 3), sector)";
    expect(Object.entries(rowsOf(recursion)).map(([, rows]) => rows)).toEqual([null, null, null, null, 0]);
    expect(rowsOf("f = ts_sum(rank(ts_mean(close, 4)), 65)")).toEqual({ ...early, ts_sum: null });
    expect(rowsOf("f = ts_sum(rank(close), 64)")).toEqual({ input: null, rank: 64, ts_sum: 0 });
  });

  test("rebuilds the windows of a node where it begins, and no later", () => {
    const plan = planOf("f = ts_max(rank(ts_mean(close, 20)), 10)", 1);
    const progress = new Progress(plan);
    const last = 40;
    const rows = warmUpRows(plan, builtInRegistry);
    const runs: (readonly number[])[] = [];
    for (let row = 0; row <= last; row++) {
      const mayRun = Uint8Array.from(rows, (early) => (early === null || row + early >= last ? 1 : 0));
      const selection = progress.select({ mayRun })!;
      const isThere = (id: number) => (selection.isRun[id] === 0 ? 0 : 1 + selection.isRebuilt[id]!);
      runs.push(plan.nodes.map(({ id }) => isThere(id)));
      expect(selection.startRows.every((start) => start === row)).toBe(true);
      progress.begin(selection, 1);
    }
    expect(runs[29]).toEqual([1, 0, 0, 0]);
    expect(runs[30]).toEqual([1, 2, 2, 0]);
    expect(runs.slice(31, 40)).toEqual(Array.from({ length: 9 }, () => [1, 1, 1, 0]));
    expect(runs[40]).toEqual([1, 1, 1, 2]);
    expect(progress.select()).toBeNull();
  });
});
