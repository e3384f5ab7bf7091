import { windowRowsOf } from "../../src/operator/definition.ts";
import type { Panel } from "../../src/panel.ts";
import { type RunOptions, runProgram, UNTOUCHED } from "../kernel/run_plan.ts";
import { bitsOf } from "../support/bits.ts";
import { cases } from "../support/trials.ts";
import { callText, columnsOf, exampleSettings } from "./applications.ts";
import { groupCode, HISTORY_ROWS, NUMBER_FIELD, panels, pickCells, range } from "./awkward_panels.ts";
import { countStrangeNulls } from "./evaluation.ts";
import { expectCells, expectEachCell, type Result } from "./same_cells.ts";
import { type Application, compileFormulas, evaluateEach, type Subject } from "./subject.ts";

const { history } = panels;
const allRows = range(HISTORY_ROWS);
const allLanes = range(history.laneCount);

const SHAPES: readonly Panel[] = [
  pickCells(history, [], [0, 1, 2]),
  pickCells(history, [], []),
  pickCells(history, allRows, []),
  pickCells(history, [5], allLanes),
  pickCells(history, [9], [5]),
  ...cases([7], [7, 8, 9]).map((laneCount) => pickCells(history, allRows, range(laneCount))),
  ...cases([4], [1, 4, 8]).map((lane) => pickCells(history, allRows, [lane])),
];

export function checkShapes(subject: Subject): void {
  for (const { formula, tree } of subject.applications) {
    const { result } = subject.operator;
    if (tree.type !== result) throw new Error(`${formula} is a ${tree.type}, declared is a ${result}`);
  }
  for (const { panel, columns } of subject.results) {
    subject.applications.forEach(({ formula }, i) => {
      checkValues(subject, { label: formula, column: columns[i]!, panel });
    });
  }
  for (const panel of SHAPES) {
    for (const result of evaluateEach(subject, panel)) checkValues(subject, result);
  }
}

function checkValues({ operator }: Subject, result: Result): void {
  const { label, column, panel } = result;
  if (column.length !== panel.rowCount * panel.laneCount) throw new Error(`${label}: wrong length`);
  if (column.includes(UNTOUCHED)) throw new Error(`${label}: cells not written`);
  if (countStrangeNulls(column) > 0) throw new Error(`${label}: another NaN than null`);
  if (operator.result !== "condition") return;
  expectEachCell(
    result,
    (value) => value === 0 || value === 1 || Number.isNaN(value),
    "a condition is 1, 0 or null",
  );
}

export function checkNulls({ applications, results }: Subject): void {
  for (const { panel, columns } of results) {
    applications.forEach((application, i) => {
      checkNullRule(application, columns[i]!, panel);
    });
  }
}

function checkNullRule(application: Application, column: Float64Array, panel: Panel): void {
  const isNull = nullRule(application, panel);
  if (!isNull) return;
  const result = { label: application.formula, column, panel };
  expectEachCell(result, (value, row, lane) => Number.isNaN(value) || !isNull(row, lane), "should be null");
}

/** Where the kind of operator demands null; undefined if it demands nothing. */
function nullRule(
  { call, fields, group }: Application,
  panel: Panel,
): ((row: number, lane: number) => boolean) | undefined {
  if (!call) return undefined;
  const { operator, settings, minPeriods } = call;
  const columns = fields.map((field) => panel.fields.get(field)!);
  const anyNull = (row: number, lane: number) =>
    columns.some((column) => Number.isNaN(column[row * panel.laneCount + lane]!));
  switch (operator.axis) {
    case "elementwise":
      return operator.seesNulls ? undefined : anyNull;
    case "cross_section":
      return anyNull;
    case "group":
      return (row, lane) => anyNull(row, lane) || groupCode(panel, group, row, lane) < 0;
    case "recursive":
      return undefined;
    case "rolling": {
      const windowRows = windowRowsOf(operator, settings);
      const keepsNulls = operator.seesNulls === true && minPeriods === null;
      return (row, lane) => {
        const window = range(row + 1, Math.max(0, row + 1 - windowRows));
        const kept = keepsNulls ? window : window.filter((each) => !anyNull(each, lane));
        return kept.length < (minPeriods ?? windowRows);
      };
    }
  }
}

export function checkRepetition(subject: Subject): void {
  for (const { panel, columns } of subject.results) {
    const inputs = [...panel.fields.values()];
    const before = inputs.map(bitsOf);
    for (const { application, column, index } of evaluateEach(subject, panel)) {
      expectSameBits(application, column, columns[index]!);
    }
    inputs.forEach((input, i) => {
      if (bitsOf(input).some((bits, cell) => bits !== before[i]![cell]))
        throw new Error("an input was changed");
    });
  }
}

function expectSameBits({ formula }: Application, first: Float64Array, second: Float64Array): void {
  const wanted = bitsOf(second);
  const at = bitsOf(first).findIndex((bits, i) => bits !== wanted[i]);
  if (at >= 0) throw new Error(`${formula} [cell ${at}] is ${first[at]}, the other time ${second[at]}`);
}

/** Commutative: the series arguments may be exchanged. */
export function checkLaws({ operator, applications, results, reference }: Subject): void {
  if (!operator.laws?.includes("commutative")) return;
  const formulas = applications.map(({ shape }) => {
    return callText(operator, { ...shape, columns: shape.columns.toReversed() });
  });
  const exchanged = compileFormulas(formulas);
  for (const { panel, columns } of results) {
    runProgram(exchanged, panel, { reference }).forEach((column, i) => {
      const expected = (row: number, lane: number) => columns[i]![row * panel.laneCount + lane]!;
      expectCells({ label: formulas[i]!, column, panel }, expected);
    });
  }
}

/** `f(x, 2)` is `f(x, two)`, where `two` is 2 in every cell; for each series argument and for all of them. */
export function checkNumbers({ operator, reference }: Subject): void {
  const [settings = {}] = exampleSettings(operator);
  const columns = columnsOf(operator).map(({ text }) => text);
  const series = operator.parameters
    .filter(({ kind }) => !["window", "delay", "constant"].includes(kind))
    .flatMap(({ kind }, i) => (kind === "series" ? [i] : []));
  const places = [...series.map((place) => [place]), series].filter((chosen) => chosen.length > 0);
  const formulas = (text: string) =>
    places.map((chosen) => {
      const replaced = columns.map((column, i) => (chosen.includes(i) ? text : column));
      return callText(operator, { settings, columns: replaced });
    });
  if (places.length === 0) return;
  const [withNumber, withColumn] = [compileFormulas(formulas("2")), compileFormulas(formulas(NUMBER_FIELD))];
  for (const panel of cases([history], [history, panels.rows, panels.pairs])) {
    const expected = runProgram(withColumn, panel, { reference });
    runProgram(withNumber, panel, { reference }).forEach((column, i) => {
      expectCells(
        { label: formulas("2")[i]!, column, panel },
        (row, lane) => expected[i]![row * panel.laneCount + lane]!,
      );
    });
  }
}

/** Blocks of any size, nodes in parts. */
export function checkCuts(subject: Subject): void {
  const others = cases<RunOptions>([], [{ blockRows: 1 }, { blockRows: HISTORY_ROWS }]);
  checkRuns(subject, [{ blockRows: [5, 7], partCount: 3 }, ...others]);
}

/** Parts are run again, at once and after all others of the block, and some had been given up half-way. */
export function checkReruns(subject: Subject): void {
  checkRuns(subject, [{ blockRows: [5, 1], partCount: 3, repeats: 2, givesUp: true }]);
}

function checkRuns(
  { program, applications, history: straight, reference }: Subject,
  runs: readonly RunOptions[],
): void {
  for (const run of runs) {
    const columns = runProgram(program, history, { ...run, reference });
    applications.forEach((application, i) => {
      expectSameBits(application, columns[i]!, straight[i]!);
    });
  }
}
