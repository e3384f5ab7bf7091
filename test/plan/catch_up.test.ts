import { describe, expect, test } from "vitest";
import { compile, finalDag } from "../../src/compile.ts";
import { liveDag } from "../../src/live/live_dag.ts";
import { CatchUp } from "../../src/plan/catch_up.ts";
import { formPlan } from "../../src/plan/form.ts";
import type { Plan } from "../../src/plan/plan.ts";

const planOf = (text: string, blockRows = 8): Plan =>
  formPlan(finalDag(compile(`param p = 1\n${text}`)), { laneCount: 4, blockRows, executorCount: 1 });

/** Runs blocks of one row up to `row`, with the conditions of `areOn`. */
function runUpTo(row: number, plan: Plan, areOn: (row: number) => readonly boolean[]): CatchUp {
  const catchUp = new CatchUp(plan);
  for (let r = 0; r < row; r++) catchUp.commit(catchUp.select(areOn(r), r), r, r + 1);
  return catchUp;
}

/** Per conditional node its operators, its start row and whether its windows are rebuilt; null: not run. */
function drawn(plan: Plan, catchUp: CatchUp, areTrue: readonly boolean[], row: number) {
  const { isRun, startRows, isRebuilt } = catchUp.select(areTrue, row);
  const conditional = plan.nodes.filter(({ conditions }) => conditions !== null);
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
    const catchUp = runUpTo(50, CHAIN, () => [true]);
    expect(drawn(CHAIN, catchUp, [true], 50)).toEqual({
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
        3,
      ),
    ).toEqual({
      ts_mean: null,
      rank: null,
      ts_max: null,
    });
  });

  test("after a short gap goes on where it stopped", () => {
    const catchUp = runUpTo(164, CHAIN, (row) => [row < 100]);
    const start = [100, 0];
    expect(drawn(CHAIN, catchUp, [true], 164)).toEqual({ ts_mean: start, rank: start, ts_max: start });
  });

  test("after a long gap starts as early as is needed, with new windows", () => {
    const catchUp = runUpTo(165, CHAIN, (row) => [row < 100]);
    expect(drawn(CHAIN, catchUp, [true], 165)).toEqual({
      ts_mean: [155, 1],
      rank: [155, 1],
      ts_max: [165, 1],
    });
  });

  test("for the first time early in history starts with row 0, as it is", () => {
    const start = [0, 0];
    const catchUp = runUpTo(9, CHAIN, () => [false]);
    expect(drawn(CHAIN, catchUp, [true], 9)).toEqual({ ts_mean: start, rank: start, ts_max: start });
  });

  test("goes on where it stopped while history is shorter than what it would catch up", () => {
    const plan = planOf("f = ts_max(rank(delay(close, 90)), 200) when p == 1");
    const at = (row: number) =>
      drawn(
        plan,
        runUpTo(row, plan, (r) => [r === 0]),
        [true],
        row,
      );
    expect(at(150)).toEqual({ "delay multiply": [1, 0], rank: [1, 0], ts_max: [150, 1] });
    expect(at(201)).toEqual({ "delay multiply": [1, 0], rank: [1, 0], ts_max: [201, 1] });
    expect(at(202)).toEqual({ "delay multiply": [2, 1], rank: [2, 1], ts_max: [202, 1] });
  });

  test("again for the block that was committed last finds its windows as that block did", () => {
    const plan = planOf("f = ts_max(rank(ts_mean(close, 20)), 10) when p == 1", 1);
    const catchUp = runUpTo(50, plan, () => [true]);
    expect(drawn(plan, catchUp, [true], 49)).toMatchObject({ ts_max: [49, 0] });
  });

  test("again for rows before that block rebuilds its windows", () => {
    const plan = planOf("f = ts_max(rank(ts_mean(close, 20)), 10) when p == 1", 1);
    const catchUp = runUpTo(50, plan, () => [true]);
    expect(drawn(plan, catchUp, [true], 48)).toMatchObject({ ts_max: [48, 1] });
  });

  test("no more when the last block is revised goes back before it", () => {
    const catchUp = runUpTo(50, CHAIN, () => [true]);
    catchUp.commit(catchUp.select([false], 49), 49, 50);
    expect(drawn(CHAIN, catchUp, [true], 50)).toMatchObject({ ts_mean: [49, 1], ts_max: [49, 1] });
  });
});

test("a node that is not needed when a row is revised rebuilds its windows where it starts after that row", () => {
  const plan = planOf("f = ts_mean(ts_mean(close, 5), 80) when p == 1");
  const [node] = plan.nodes.filter(({ conditions }) => conditions !== null);
  const catchUp = runUpTo(200, plan, () => [true]);
  catchUp.commit(catchUp.select([false], 199), 199, 200);
  const next = 200 + node!.catchUpRows!;
  const { startRows, isRebuilt } = catchUp.select([true], next);
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
  const startsOf = (areOn: (row: number) => readonly boolean[], row: number, options = {}) => {
    const { isRun, startRows } = runUpTo(row, plan, areOn).select(areOn(row), row, options);
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
    const catchUp = runUpTo(164, plan, until100);
    expect([163, 164].map((row) => catchUp.isRestDue(row))).toEqual([false, true]);
    for (const row of [164, 165]) {
      const rests = catchUp.select([false], row, { mayLose: true });
      expect([mean, inner, ema, rank].map((id) => rests.isRun[id])).toEqual([0, 0, 0, 0]);
      catchUp.commit(rests, row, row + 1);
    }
    expect(catchUp.isRestDue(166)).toBe(false);
    expect(() => catchUp.commit(catchUp.select([true], 166), 166, 167)).toThrow(
      "E515 ts_mean, or what it reads, failed in a row that nothing needed then and that is gone",
    );
  });

  test("that no budget may skip runs in every row", () => {
    const text = "f = ema(close, 5) priority 1\ng = ts_mean(close, 3) priority 2";
    const { dag } = liveDag(finalDag(compile(text)), {
      priorities: {},
      disabledPasses: new Set(),
      series: [],
    });
    const live = formPlan(dag, { laneCount: 4, blockRows: 1, executorCount: 1 });
    const { isRun } = new CatchUp(live).select([false], 7);
    const operators = live.nodes.flatMap(({ id, tasks }) =>
      isRun[id] ? tasks.map((task) => live.tasks[task]!.operator) : [],
    );
    expect(operators.sort()).toEqual(["ema", "ts_mean"]);
  });

  describe("carries values into a row", () => {
    const generationAt = (row: number, catchUp: CatchUp) => catchUp.generationBefore(row, ema);

    test("from one generation to the next, two if it runs missed rows first", () => {
      const catchUp = runUpTo(130, plan, until100);
      expect([99, 100, 130].map((row) => generationAt(row, catchUp))).toEqual([99, 100, null]);
      catchUp.commit(catchUp.select([true], 130), 130, 131);
      expect([129, 130, 131].map((row) => generationAt(row, catchUp))).toEqual([null, 101, 102]);
    });

    test("as before, if the row runs again", () => {
      const catchUp = runUpTo(50, plan, () => [true]);
      const { generations } = catchUp.select([true], 49);
      expect(generations[ema]).toBe(49);
      catchUp.commit(catchUp.select([false], 49), 49, 50);
      expect(generationAt(49, catchUp)).toBe(49);
    });
  });
});

describe("a block that goes on under other conditions", () => {
  //  ts_mean 5 is read by both
  const plan = planOf(
    "f = rank(ts_mean(close, 5)) when p == 1\ng = ts_max(ts_mean(close, 5), 9) when p == 2",
  );

  test("runs what was left out, from where it stopped, and nothing twice", () => {
    const catchUp = runUpTo(30, plan, (row) => [true, row < 28]);
    catchUp.commit(catchUp.select([true, false], 30), 30, 31);
    const { isRun, startRows } = catchUp.select([true, true], 30, { addsRemainingNodes: true });
    const started = plan.nodes.flatMap(({ id, tasks }) =>
      isRun[id] ? tasks.map((task) => [plan.tasks[task]!.operator, startRows[id]]) : [],
    );
    expect(started).toEqual([["ts_max", 28]]);
  });

  test("leaves what was run as it is", () => {
    const catchUp = runUpTo(30, plan, () => [true, true]);
    catchUp.commit(catchUp.select([true, false], 30), 30, 31);
    catchUp.commit(catchUp.select([false, true], 30, { addsRemainingNodes: true }), 30, 31, true);
    expect(drawn(plan, catchUp, [true, true], 31)).toEqual({
      ts_mean: [31, 0],
      rank: [31, 0],
      ts_max: [31, 0],
    });
  });
});

test("conditions beyond the first words of a set are distinguished", () => {
  const factors = Array.from({ length: 70 }, (_, i) => `f${i} = rank(close * ${i + 2}) when p == ${i}`);
  const plan = planOf(factors.join("\n"));
  const catchUp = new CatchUp(plan);
  for (const on of [0, 31, 32, 63, 64, 69]) {
    const { isRun } = catchUp.select(
      factors.map((_, i) => i === on),
      0,
    );
    const outputs = plan.nodes.flatMap(({ id, outputs: own }) => (isRun[id] ? own : []));
    expect(outputs.map((index) => plan.outputs[index]!.name)).toEqual([`f${on}`]);
  }
});

test("positions take another one of the same plan to where the first is", () => {
  const catchUp = runUpTo(165, CHAIN, (row) => [row < 100]);
  const other = new CatchUp(CHAIN);
  other.restore(catchUp.positions());
  expect(drawn(CHAIN, other, [true], 165)).toEqual(drawn(CHAIN, catchUp, [true], 165));
  other.restart();
  expect(drawn(CHAIN, other, [true], 0)).toEqual(drawn(CHAIN, new CatchUp(CHAIN), [true], 0));
  expect(() => new CatchUp(planOf("f = close")).restore(catchUp.positions())).toThrow("another plan");
});
