import { builtInRegistry } from "../../operators/index.ts";
import { compile, finalDag } from "../../src/compile.ts";
import type { Dag } from "../../src/dag/dag.ts";
import { FormulaError } from "../../src/errors.ts";
import type { Operator } from "../../src/operator/definition.ts";
import { FIELDS, GROUPS, SERIES_FIELDS } from "../conformance/awkward_panels.ts";
import { randomCall } from "./random_calls.ts";
import type { Draws } from "./random_panel.ts";

const TRIES_MAX = 50;

/** Operators with window state. */
export const ROLLING: readonly Operator[] = builtInRegistry.operators.filter(
  (operator) => operator.axis === "rolling" && operator.lower !== undefined,
);

/** Around a definition: across the row, within groups, over earlier rows, without any window, with unbounded lookback. */
const AROUND: readonly ((e: string, draws: Draws) => string)[] = [
  (e) => `rank(${e})`,
  (e) => `zscore(${e})`,
  (e) => `group_neutralize(${e}, g)`,
  (e) => `${e} * 2 - x`,
  (e, draws) => `ts_max(${e}, ${2 + draws.below(20)})`,
  (e, draws) => `ts_mean(rank(${e}), ${2 + draws.below(12)})`,
  (e, draws) => `delay(${e}, ${1 + draws.below(30)})`,
  (e) => `ema(${e}, 5)`,
  (e) => `cum_sum(rank(${e}))`,
  (e, draws) => `ts_mean(ema_adjusted(${e}, 7), ${2 + draws.below(20)})`,
];

/** Definitions that build on each other, each with the operator or another one, and factors of them under conditions. */
export function randomProgram(
  operator: Operator,
  draws: Draws,
): { readonly text: string; readonly dag: Dag } {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const text = programText(operator, draws);
    try {
      const dag = finalDag(compile(text, { fields: FIELDS, groups: GROUPS }));
      return { text, dag };
    } catch (error) {
      if (!(error instanceof FormulaError)) throw error;
    }
  }
  throw new Error(`no program with ${operator.name} was accepted`);
}

function programText(operator: Operator, draws: Draws): string {
  const count = 2 + draws.below(5);
  const conditionCount = draws.pick([1, 1, 2, 3, 4]);
  const lines = [];
  for (let i = 0; i < conditionCount; i++) lines.push(`param c${i} = 0`);
  for (let i = 0; i < count; i++)
    lines.push(`let e${i} = ${definition(i, i === 0 ? operator : null, draws)}`);
  for (let i = 0; i < count; i++) {
    if (i < count - 1 && draws.happens(0.6)) continue;
    const condition = draws.happens(0.1) ? "" : ` when c${draws.below(conditionCount)} > 0`;
    lines.push(`f${i} = e${i}${condition}`);
  }
  return lines.join("\n");
}

function definition(index: number, operator: Operator | null, draws: Draws): string {
  const others = draws.happens(0.6) ? ROLLING : builtInRegistry.operators;
  const call = randomCall(operator ?? draws.pick(others), draws);
  const before = index > 0 && draws.happens(0.8) ? `e${draws.below(index)}` : null;
  if (before !== null && draws.happens(0.4)) return draws.pick(AROUND)(before, draws);
  if (before === null) return call;
  const field = new RegExp(`\\b(${SERIES_FIELDS.join("|")})\\b`);
  return call.replace(field, before);
}

/** Whether each condition holds, block by block: each is switched on and off at its own rate. */
export function randomSwitches(
  conditionCount: number,
  blockCount: number,
  draws: Draws,
): readonly (readonly boolean[])[] {
  const paces = Array.from({ length: conditionCount }, () => draws.pick([1, 2, 6, 30, 80]));
  const isOn = paces.map(() => draws.happens(0.5));
  return Array.from({ length: blockCount }, () => {
    paces.forEach((pace, i) => {
      if (draws.happens(1 / pace)) isOn[i] = draws.happens(isOn[i] ? 0.3 : 0.6);
    });
    return [...isOn];
  });
}
