import { compile, finalDag } from "../../src/compile.ts";
import type { Dag } from "../../src/dag/dag.ts";
import { PASS_NAMES } from "../../src/dag/passes/order.ts";
import type { Panel } from "../../src/panel.ts";
import { FIELDS, GROUPS } from "../conformance/awkward_panels.ts";
import { type RunOptions, runDag } from "./run_plan.ts";

/** What random formulas may use beside fields. */
const PARAMS = { p: 0.94 };

/** Formulas, a panel, and a way of running them that must give the references' bits. */
export interface Trial {
  readonly formulas: readonly string[];
  readonly panel: Panel;
  readonly isOptimised: boolean;
  readonly run: RunOptions;
}

export interface Difference {
  readonly formula: number;
  readonly row: number;
  readonly lane: number;
  readonly expected: number;
  readonly actual: number;
}

/** True if any task of the formulas has code of its own. */
export const hasCode = ({ tasks }: Dag): boolean =>
  tasks.some((task) => task.kind === "call" && "lower" in task.operator);

export function dagOf({ formulas, isOptimised }: Pick<Trial, "formulas" | "isOptimised">): Dag {
  const lines = formulas.map((formula, i) => `f${i} = ${formula}`);
  const disabledPasses = isOptimised ? [] : PASS_NAMES;
  const options = { fields: FIELDS, groups: GROUPS, disabledPasses };
  return finalDag(compile(`param p = ${PARAMS.p}\n${lines.join("\n")}`, options));
}

/** The first cell that differs from the references' results, bit for bit, if there is one. */
export function firstDifference(
  dag: Dag,
  expected: readonly Float64Array[],
  panel: Panel,
  run: RunOptions,
): Difference | null {
  const actual = runDag(dag, panel, { ...run, params: PARAMS });
  for (let formula = 0; formula < expected.length; formula++) {
    const [wanted, given] = [expected[formula]!, actual[formula]!];
    const cell = wanted.findIndex((value, i) => !Object.is(value, given[i]));
    if (cell < 0) continue;
    const [row, lane] = [Math.floor(cell / panel.laneCount), cell % panel.laneCount];
    return { formula, row, lane, expected: wanted[cell]!, actual: given[cell]! };
  }
  return null;
}

/** The results that every way of running must give. */
export const byReference = (dag: Dag, panel: Panel) =>
  runDag(dag, panel, { reference: true, params: PARAMS });

export function differenceOf(trial: Trial): Difference | null {
  const dag = dagOf(trial);
  return firstDifference(dag, byReference(dag, trial.panel), trial.panel, trial.run);
}
