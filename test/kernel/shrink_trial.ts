import type { Panel } from "../../src/panel.ts";
import { pickCells, range, replaceCells, SERIES_FIELDS } from "../conformance/awkward_panels.ts";
import { differenceOf, type Trial } from "./trial.ts";

const EVALUATIONS_MAX = 1500;

/** The smallest trial found that still differs, as text. */
export function smallest(trial: Trial): string {
  const difference = differenceOf(trial);
  if (!difference) return `not reproduced alone: ${trial.formulas.join("; ")}`;
  const shrinking = new Shrinking(trial);
  shrinking.accept({ formulas: [trial.formulas[difference.formula]!] });
  shrinking.accept({ isOptimised: false });
  shrinking.simplifyRun();
  shrinking.dropRows();
  shrinking.dropLanes();
  for (const field of SERIES_FIELDS) shrinking.simplifyCells(field);
  return textOf(shrinking.trial);
}

/** The smallest trial so far; each step keeps what still differs. */
class Shrinking {
  trial: Trial;
  #evaluations = 0;

  constructor(trial: Trial) {
    this.trial = trial;
  }

  accept(change: Partial<Trial>): boolean {
    const candidate = { ...this.trial, ...change };
    if (this.#evaluations++ >= EVALUATIONS_MAX || !differenceOf(candidate)) return false;
    this.trial = candidate;
    return true;
  }

  simplifyRun(): void {
    const { blockRows = 1 } = this.trial.run;
    const once = [{}, { blockRows: 1 }, { blockRows }];
    const simpler = [...once, { blockRows: 1, repeats: 2 }, { blockRows, repeats: 2 }];
    simpler.some((run) => this.accept({ run }));
  }

  /** Drops the rows after the difference, then as many of the oldest as possible. */
  dropRows(): void {
    const rowCount = () => this.trial.panel.rowCount;
    this.accept({ panel: rowsOf(this.trial.panel, 0, differenceOf(this.trial)!.row + 1) });
    for (let step = rowCount() >> 1; step > 0; step >>= 1) {
      while (step < rowCount() && this.accept({ panel: rowsOf(this.trial.panel, step) }));
    }
  }

  dropLanes(): void {
    for (let lane = this.trial.panel.laneCount - 1; lane >= 0; lane--) {
      const { panel } = this.trial;
      if (panel.laneCount === 1) return;
      const others = range(panel.laneCount).filter((each) => each !== lane);
      this.accept({ panel: pickCells(panel, range(panel.rowCount), others) });
    }
  }

  simplifyCells(field: string): void {
    if (!isUsed(field, this.trial)) return;
    const { rowCount, laneCount } = this.trial.panel;
    for (const row of range(rowCount)) {
      for (const lane of range(laneCount)) this.#simplifyCell(field, row, lane);
    }
  }

  #simplifyCell(field: string, row: number, lane: number): void {
    const { panel } = this.trial;
    const value = panel.fields.get(field)![row * panel.laneCount + lane]!;
    simplerThan(value).some((simple) => {
      const rule = (r: number, l: number, f: string) =>
        r === row && l === lane && f === field ? simple : undefined;
      return this.accept({ panel: replaceCells(panel, rule) });
    });
  }
}

const rowsOf = (panel: Panel, start: number, end = panel.rowCount) =>
  pickCells(panel, range(end, start), range(panel.laneCount));

const isUsed = (field: string, { formulas }: Trial) =>
  formulas.some((formula) => new RegExp(`\\b${field}\\b`).test(formula));

/** Nicer values to try in a cell, the nicest first. */
function simplerThan(value: number): number[] {
  const candidates = [0, 1, 2, 3, Number.NaN, Math.round(value), Number(value.toPrecision(3))];
  const until = candidates.findIndex((candidate) => Object.is(candidate, value));
  return until < 0 ? candidates : candidates.slice(0, until);
}

function textOf(trial: Trial): string {
  const { panel, run, formulas, isOptimised } = trial;
  const difference = differenceOf(trial)!;
  const columns = [...panel.fields]
    .filter(([name]) => isUsed(name, trial))
    .map(([name, cells]) => `  ${name} = ${rowTexts(cells, panel)}`);
  const groups = [...panel.groups.values()]
    .filter(({ name }) => isUsed(name, trial))
    .map(({ name, codes }) => `  ${name} has the codes ${codes}`);
  return [
    `${formulas[difference.formula]} [row ${difference.row}, lane ${difference.lane}]:`,
    `  ${shown(difference.actual)} compiled`,
    `  ${shown(difference.expected)} by reference`,
    ...(formulas.length > 1 ? [`  together with ${formulas.join("; ")}`] : []),
    `  ${panel.rowCount} rows, ${panel.laneCount} lanes, passes ${isOptimised ? "on" : "off"}, ${JSON.stringify(run)}`,
    ...columns,
    ...groups,
  ].join("\n");
}

function rowTexts(cells: Float64Array, { rowCount, laneCount }: Panel): string {
  const rows = range(rowCount).map((row) => [...cells.subarray(row * laneCount, (row + 1) * laneCount)]);
  const texts = rows.map((row) => (laneCount === 1 ? numberText(row[0]!) : `[${row.map(numberText)}]`));
  return `[${texts.join(", ")}]`;
}

const numberText = (value: number) =>
  Number.isNaN(value) ? "null" : Object.is(value, -0) ? "-0" : String(value);

function shown(value: number): string {
  const bits = new BigUint64Array(Float64Array.of(value).buffer)[0]!;
  return `${numberText(value)} (0x${bits.toString(16)})`;
}
