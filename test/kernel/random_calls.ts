import type { Operator, Parameter } from "../../src/operator/definition.ts";
import { callText, exampleSettings, isAllowed, type SettingTexts } from "../conformance/applications.ts";
import { CONDITION_FIELDS, GROUPS, SERIES_FIELDS } from "../conformance/awkward_panels.ts";
import type { Draws } from "./random_panel.ts";

/** Short ones, some near the size of a block and of a vector, and some longer than the history. */
const WINDOWS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 20, 31, 32, 33, 40, 63, 64, 65, 79, 100];
const TRIES_MAX = 50;

/** A call of the operator with valid settings, over fields, numbers and small formulas. */
export function randomCall(operator: Operator, draws: Draws): string {
  const examples = exampleSettings(operator);
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const shape = {
      settings: randomSettings(operator, examples, draws),
      columns: operator.parameters.flatMap((parameter) => randomColumn(parameter, draws)),
    };
    const withFew = operator.axis === "rolling" && operator.allowsMinPeriods && draws.happens(0.4);
    const minPeriods = withFew ? { minPeriods: 1 + draws.below(draws.pick([3, 10, 40])) } : {};
    const text = callText(operator, { ...shape, ...minPeriods });
    if (isAllowed(text)) return text;
  }
  return callText(operator, { settings: examples[0]! });
}

function randomSettings(
  { parameters }: Operator,
  examples: readonly SettingTexts[],
  draws: Draws,
): SettingTexts {
  const example = draws.pick(examples);
  const isSmall = draws.happens(0.5);
  const drawn = parameters.flatMap(({ name, kind }) => {
    const rows = isSmall ? 1 + draws.below(6) : draws.pick(WINDOWS);
    if (kind === "window") return [[name, String(rows)] as const];
    if (kind === "delay") return [[name, String(rows - 1)] as const];
    return [];
  });
  return { ...example, ...Object.fromEntries(drawn) };
}

function randomColumn({ kind }: Parameter, draws: Draws): string[] {
  if (kind === "group") return [draws.pick(GROUPS)];
  const [x, y] = [draws.pick(SERIES_FIELDS), draws.pick(SERIES_FIELDS)];
  const condition = draws.pick(CONDITION_FIELDS);
  if (kind === "condition") return [draws.pick([`${condition} != 0`, `${x} > ${y}`, `${x} == ${y}`])];
  if (kind !== "series") return [];
  const small = [`${x} - ${y}`, `abs(${x})`, `${x} * 0.1`, condition, "0.5", "0", `purify(${x})`];
  return [draws.happens(0.6) ? x : draws.pick(small)];
}
