import type { Program } from "../../src/compile.ts";
import type { Panel } from "../../src/panel.ts";
import { type RunOptions, runProgram } from "../kernel/run_plan.ts";

export interface EvaluationOptions extends RunOptions {
  /** How the nodes of the plan are cut. */
  readonly cut?: { readonly partCount: number };
}

/** Evaluates every factor of a program on this thread, node after node: one column `[rows x lanes]` each. */
export function evaluateHere(
  program: Program,
  panel: Panel,
  options: EvaluationOptions = {},
): Float64Array[] {
  return runProgram(program, panel, { ...options, ...options.cut });
}

/** Cells that hold another NaN than the one null. */
export function countStrangeNulls(column: Float64Array): number {
  const theNull = new BigUint64Array(Float64Array.of(Number.NaN).buffer)[0];
  const bits = new BigUint64Array(column.slice().buffer);
  return column.reduce((count, cell, i) => count + Number(Number.isNaN(cell) && bits[i] !== theNull), 0);
}
