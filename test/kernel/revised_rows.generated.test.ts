import { expect, test } from "vitest";
import { compile, finalDag } from "../../src/compile.ts";
import type { Dag } from "../../src/dag/dag.ts";
import { CatchUp } from "../../src/plan/catch_up.ts";
import { generationsOf } from "../../src/plan/plan.ts";
import { FIELDS } from "../conformance/awkward_panels.ts";
import { testSeed } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { ROLLING, randomProgram } from "./random_conditions.ts";
import { Draws, randomPanel } from "./random_panel.ts";
import { type PanelColumns, prepared, runBlock, runDag, UNTOUCHED } from "./run_plan.ts";

/**
 * Rows of a session as its plan sees them: they are pushed, taken back, revised and completed at random, each time under
 * other conditions. Whatever ran before, the last run of each row gives the bits of one whole run over the panel.
 */

const PROGRAMS = trials(20, 3000);
const ROWS = 120;
const LANES = 4;

/** Runs the panel row by row in a random way; for each row the conditions of its last run. */
class RandomRows {
  readonly switches: (readonly boolean[])[] = [];
  readonly results: readonly Float64Array[];
  readonly #draws: Draws;
  readonly #run: ReturnType<typeof prepared>;
  readonly #catchUp: CatchUp;
  /** Conditions hold for a while, so that gaps of all lengths come up. */
  #isOn: readonly boolean[];
  #inputRow = 0;

  constructor(dag: Dag, panel: PanelColumns, draws: Draws) {
    this.#draws = draws;
    this.#run = prepared(dag, panel, { blockRows: 1, isRevisable: true });
    this.#catchUp = new CatchUp(this.#run.plan);
    this.results = this.#run.results;
    const conditionCount = 1 + Math.max(-1, ...dag.outputs.map(({ condition }) => condition ?? -1));
    this.#isOn = Array.from({ length: conditionCount }, () => true);
  }

  runAll(): void {
    while (this.switches.length < ROWS) {
      const row = this.switches.length;
      if (this.#draws.happens(0.3)) this.#takeBack(row);
      for (let times = row > 0 ? this.#draws.pick([0, 0, 1, 2]) : 0; times > 0; times--)
        this.#runRow(row - 1, this.#anyRow());
      if (row > 0 && this.#inputRow !== row - 1) this.#runRow(row - 1, row - 1);
      if (this.#draws.happens(0.2)) this.#takeBack(row);
      this.#runRow(row, this.#draws.happens(0.6) ? row : this.#anyRow());
      if (this.#draws.happens(0.2)) this.#complete(row);
    }
    if (this.#inputRow !== ROWS - 1) this.#runRow(ROWS - 1, ROWS - 1);
  }

  #anyRow(): number {
    return this.#draws.below(ROWS);
  }

  #runRow(row: number, inputRow: number): void {
    this.#inputRow = inputRow;
    this.switches[row] = this.#nextSwitches();
    const selection = this.#catchUp.select(this.switches[row]!, row);
    this.#catchUp.commit(selection, row, row + 1);
    runBlock(this.#run.runner, this.#run.plan, this.#blockOf(row, inputRow), {}, selection);
  }

  /** The row and perhaps those behind it run with input that never comes; then they have not been there. */
  #takeBack(row: number): void {
    const before = this.#catchUp.positions();
    for (let ahead = this.#draws.pick([0, 0, 1, 2]); ahead >= 0 && row < ROWS; ahead--, row++) {
      const selection = this.#catchUp.select(this.#nextSwitches(), row);
      this.#catchUp.commit(selection, row, row + 1);
      runBlock(this.#run.runner, this.#run.plan, this.#blockOf(row, this.#anyRow()), {}, selection);
    }
    this.#catchUp.restore(before);
  }

  /** Runs what the newest row left out. */
  #complete(row: number): void {
    const all = this.#isOn.map(() => true);
    const selection = this.#catchUp.select(all, row, { addsRemainingNodes: true });
    this.#catchUp.commit(selection, row, row + 1, true);
    runBlock(this.#run.runner, this.#run.plan, this.#blockOf(row, this.#inputRow), {}, selection);
    this.switches[row] = all;
  }

  #blockOf(row: number, inputRow: number) {
    const generation = row % generationsOf(this.#run.plan);
    return { firstRow: row, rowCount: 1, generation, inputRow, outputRow: row };
  }

  #nextSwitches(): readonly boolean[] {
    if (this.#draws.happens(0.4)) this.#isOn = this.#isOn.map(() => this.#draws.happens(0.5));
    return this.#isOn;
  }
}

function differenceOf(dag: Dag, panel: PanelColumns, rows: RandomRows): string | null {
  const expected = runDag({ ...dag, conditionSets: null }, panel);
  for (const [output, { name, condition }] of dag.outputs.entries()) {
    for (let cell = 0; cell < ROWS * LANES; cell++) {
      if (condition !== null && !rows.switches[Math.floor(cell / LANES)]![condition]) continue;
      const [found, right] = [rows.results[output]![cell]!, expected[output]![cell]!];
      if (Object.is(found, right)) continue;
      return `${name} at row ${Math.floor(cell / LANES)}: ${found === UNTOUCHED ? "nothing" : found}, not ${right}`;
    }
  }
  return null;
}

test(`${PROGRAMS} random programs`, { timeout: 30_000 * PROGRAMS }, () => {
  const first = testSeed();
  for (let index = 0; index < PROGRAMS; index++) {
    const draws = new Draws(first + index);
    const { text, dag } = randomProgram(draws.pick(ROLLING), draws);
    const panel = randomPanel(first + index, ROWS, LANES);
    const rows = new RandomRows(dag, panel, draws);
    rows.runAll();
    expect(differenceOf(dag, panel, rows), `seed ${first + index}\n${text}`).toBeNull();
  }
});

test("a row that catches up from before windows are full is taken back: no window sees rows behind it", () => {
  const text = "param c = 0\nf = delay(ts_argmin(x, 8, min_periods=2), 23) when c > 0";
  const dag = finalDag(compile(text, { fields: FIELDS }));
  const panel = randomPanel(1, ROWS, LANES);
  const run = prepared(dag, panel, { blockRows: 1, isRevisable: true });
  const catchUp = new CatchUp(run.plan);
  const runRow = (row: number, isOn: boolean, inputRow = row) => {
    const selection = catchUp.select([isOn], row);
    catchUp.commit(selection, row, row + 1);
    const generation = row % generationsOf(run.plan);
    runBlock(
      run.runner,
      run.plan,
      { firstRow: row, rowCount: 1, generation, inputRow, outputRow: row },
      {},
      selection,
    );
  };
  const last = 25;
  for (let row = 0; row < last; row++) runRow(row, row < 2);
  const before = catchUp.positions();
  runRow(last, true, ROWS - 1);
  catchUp.restore(before);
  runRow(last, true);
  const expected = runDag({ ...dag, conditionSets: null }, panel)[0]!;
  const cellsOf = (values: Float64Array) => [...values.subarray(last * LANES, (last + 1) * LANES)];
  expect(cellsOf(run.results[0]!)).toEqual(cellsOf(expected));
});
