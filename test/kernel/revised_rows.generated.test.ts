import { expect, test } from "vitest";
import { compile, finalDag } from "../../src/compile.ts";
import type { Dag } from "../../src/dag/dag.ts";
import { type BlockChoice, Progress } from "../../src/plan/progress.ts";
import { FIELDS } from "../conformance/awkward_panels.ts";
import { testSeed } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { ROLLING, randomProgram } from "./random_conditions.ts";
import { Draws, randomPanel } from "./random_panel.ts";
import { type PanelColumns, prepared, runBlock, runDag, UNTOUCHED } from "./run_plan.ts";

/**
 * Rows of a session as its plan sees them: they are pushed, revised and completed at random, each time under other
 * conditions, and revisions and completions fail. Whatever ran before, the last run of each row gives the bits of one whole
 * run over the panel.
 */

const PROGRAMS = trials(20, 3000);
const ROWS = 120;
const LANES = 4;

/** The input of a row whose revision has failed. */
const NO_ROW = -1;

/** Runs the panel row by row in a random way; for each row the conditions of its last run. */
class RandomRows {
  readonly switches: (readonly boolean[])[] = [];
  readonly results: readonly Float64Array[];
  readonly #draws: Draws;
  readonly #run: ReturnType<typeof prepared>;
  readonly #progress: Progress;
  /** Conditions hold for a while, so that gaps of all lengths come up. */
  #isOn: readonly boolean[];
  #inputRow = NO_ROW;

  constructor(dag: Dag, panel: PanelColumns, draws: Draws) {
    this.#draws = draws;
    this.#run = prepared(dag, panel, { blockRows: 1, isRevisable: true });
    this.#progress = new Progress(this.#run.plan);
    this.results = this.#run.results;
    const conditionCount = 1 + Math.max(-1, ...dag.outputs.map(({ condition }) => condition ?? -1));
    this.#isOn = Array.from({ length: conditionCount }, () => true);
  }

  runAll(): void {
    while (this.switches.length < ROWS) {
      const row = this.switches.length;
      for (let times = row > 0 ? this.#draws.pick([0, 0, 1, 2]) : 0; times > 0; times--) {
        if (this.#draws.happens(0.5)) this.#fail(this.#draws.happens(0.5) ? "again" : "rest");
        if (this.#draws.happens(0.7)) this.#runRow(row - 1, this.#anyRow());
      }
      if (row > 0 && this.#inputRow !== row - 1) this.#runRow(row - 1, row - 1);
      this.#runRow(row, this.#draws.happens(0.6) ? row : this.#anyRow());
      if (this.#draws.happens(0.2)) this.#fail("rest");
      if (this.#draws.happens(0.2)) this.#complete(row);
    }
    if (this.#inputRow !== ROWS - 1) this.#runRow(ROWS - 1, ROWS - 1);
  }

  #anyRow(): number {
    return this.#draws.below(ROWS);
  }

  #runRow(row: number, inputRow: number): void {
    const block = row === this.switches.length ? "next" : "again";
    this.#inputRow = inputRow;
    this.switches[row] = this.#nextSwitches();
    this.#runBlock(block, this.switches[row]!, inputRow);
  }

  /** The newest row runs again over other input, or its rest: a node fails, and the row is as it was. */
  #fail(block: "again" | "rest"): void {
    // Its rest is that of the input that it has.
    if (block === "rest" && this.#inputRow === NO_ROW) return;
    const inputRow = block === "rest" ? this.#inputRow : this.#anyRow();
    this.#runBlock(block, this.#nextSwitches(), inputRow, this.#draws.below(this.#run.plan.nodes.length));
    this.#progress.undo();
    if (block === "again") this.#inputRow = NO_ROW;
  }

  /** Runs what the newest row left out. */
  #complete(row: number): void {
    this.switches[row] = this.#isOn.map(() => true);
    this.#runBlock("rest", this.switches[row]!, this.#inputRow);
  }

  /** @param failing nodes from here on do not run */
  #runBlock(block: BlockChoice, conditions: readonly boolean[], inputRow: number, failing = Infinity): void {
    const { plan, runner } = this.#run;
    const start = this.#progress.startOf(block);
    const selection = this.#progress.select({ block, conditions });
    this.#progress.begin(selection, 1, block);
    const isRun = selection?.isRun.map((one, node) => (node < failing ? one : 0));
    const rows = { ...start, rowCount: 1, inputRow, outputRow: start.firstRow };
    runBlock(runner, plan, rows, {}, selection && { ...selection, isRun: isRun! });
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

test("a row that catches up from before windows are full is revised in vain: no window sees what it was", () => {
  const text = "param c = 0\nf = delay(ts_argmin(x, 8, min_periods=2), 23) when c > 0";
  const dag = finalDag(compile(text, { fields: FIELDS }));
  const panel = randomPanel(1, ROWS, LANES);
  const { plan, runner, results } = prepared(dag, panel, { blockRows: 1, isRevisable: true });
  const progress = new Progress(plan);
  const runRow = (block: BlockChoice, isOn: boolean, inputRow?: number) => {
    const start = progress.startOf(block);
    const selection = progress.select({ block, conditions: [isOn] });
    progress.begin(selection, 1, block);
    const { firstRow } = start;
    const rows = { ...start, rowCount: 1, inputRow: inputRow ?? firstRow, outputRow: firstRow };
    runBlock(runner, plan, rows, {}, selection);
  };
  const last = 25;
  for (let row = 0; row <= last; row++) runRow("next", row < 2);
  runRow("again", true, ROWS - 1);
  progress.undo();
  runRow("again", true);
  const expected = runDag({ ...dag, conditionSets: null }, panel)[0]!;
  const cellsOf = (values: Float64Array) => [...values.subarray(last * LANES, (last + 1) * LANES)];
  expect(cellsOf(results[0]!)).toEqual(cellsOf(expected));
});
