import fc from "fast-check";
import { builtInRegistry } from "../../operators/index.ts";
import type { Operator, Parameter } from "../../src/operator/definition.ts";
import {
  type CallShape,
  callText,
  exampleSettings,
  isAllowed,
  type SettingTexts,
} from "../conformance/applications.ts";
import { CONDITION_FIELDS, FIELDS, GROUPS } from "../conformance/awkward_panels.ts";
import { hashed } from "../conformance/awkward_series.ts";

/** What random formulas may name. */
export const PANEL_NAMES = { fields: FIELDS, groups: GROUPS };
export const NAMES = { ...PANEL_NAMES, params: ["p"] };

const DEPTH_MAX = 6;
/** Levels that an operator counts for if it stands for a formula: those get deep when they are nested. */
const REWRITE_LEVELS = 3;
const SHAPES_MAX = 16;

const NUMBERS = "0 1 2 3 0.5 -1 -0 1e15 1e-300 5e-324 1.7976931348623157e308 0.1 null".split(" ");
const seriesLeaf = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...FIELDS) },
  fc.constantFrom(...NUMBERS, "p"),
);
const conditionLeaf = fc.oneof(
  fc.constantFrom(...CONDITION_FIELDS).map((field) => `not_equal(${field}, 0)`),
  fc.tuple(seriesLeaf, seriesLeaf).map(([x, y]) => `less(${x}, ${y})`),
);

function argument(kind: Parameter["kind"], depth: number): fc.Arbitrary<string> {
  if (kind === "group") return fc.constantFrom(...GROUPS);
  const leaf = kind === "condition" ? conditionLeaf : seriesLeaf;
  if (depth <= 0) return leaf;
  const calls = callsBelow(kind === "condition" ? "condition" : "any", depth);
  return fc.oneof(
    { withCrossShrink: true },
    { weight: Math.ceil(calls.length / 2), arbitrary: leaf },
    ...calls,
  );
}

const known = new Map<string, fc.Arbitrary<string>[]>();

/** One arbitrary for each operator with such a result; made once for each depth. */
function callsBelow(result: "any" | "condition", depth: number): fc.Arbitrary<string>[] {
  const key = `${result} ${depth}`;
  const calls =
    known.get(key) ??
    builtInRegistry.operators
      .filter((operator) => result === "any" || operator.result === result)
      .map((operator) => callOf(operator, depth - (operator.axis === "rewrite" ? REWRITE_LEVELS : 1)));
  known.set(key, calls);
  return calls;
}

function callOf(operator: Operator, argumentDepth: number): fc.Arbitrary<string> {
  const shapes = shapesOf(operator);
  return fc
    .tuple(fc.nat(shapes.length - 1), columnsBelow(operator, argumentDepth))
    .map(([shape, columns]) => callText(operator, { ...shapes[shape]!, columns }));
}

function columnsBelow(operator: Operator, depth: number): fc.Arbitrary<string[]> {
  const columns = operator.parameters
    .filter(({ kind }) => kind === "series" || kind === "condition" || kind === "group")
    .map(({ kind }) => argument(kind, depth));
  return fc.tuple(...columns);
}

const knownShapes = new Map<Operator, readonly CallShape[]>();

/** Settings that the operator allows, the one of its first example first. */
function shapesOf(operator: Operator): readonly CallShape[] {
  const shapes = knownShapes.get(operator) ?? drawShapes(operator);
  knownShapes.set(operator, shapes);
  return shapes;
}

function drawShapes(operator: Operator): CallShape[] {
  const examples = exampleSettings(operator);
  const drawn = Array.from({ length: SHAPES_MAX }, (_, i) => drawSettings(operator, examples, i));
  const texts = new Map([...examples, ...drawn].map((settings) => [JSON.stringify(settings), settings]));
  const shapes: CallShape[] = [...texts.values()].map((settings) => ({ settings }));
  if (operator.axis === "rolling" && operator.allowsMinPeriods) {
    shapes.push(...shapes.flatMap((shape) => [1, 2].map((minPeriods) => ({ ...shape, minPeriods }))));
  }
  return shapes.filter((shape) => isAllowed(callText(operator, shape)));
}

function drawSettings(operator: Operator, examples: readonly SettingTexts[], draw: number): SettingTexts {
  const settings = operator.parameters.flatMap((parameter, i) => {
    const choices = choicesFor(parameter, examples);
    return choices
      ? [[parameter.name, choices[Math.floor(hashed(draw + 100, i) * choices.length)]!] as const]
      : [];
  });
  return Object.fromEntries(settings);
}

function choicesFor({ name, kind }: Parameter, examples: readonly SettingTexts[]): string[] | undefined {
  if (kind === "window") return ["1", "2", "3", "4"];
  if (kind === "delay") return ["0", "1", "3"];
  if (kind !== "constant") return undefined;
  return [...examples.map((settings) => settings[name]!), "0", "-1", "0.5", "3", "1e10"];
}

/**
 * Well-typed formulas of all operators of the registry, up to six levels deep, written as calls only: how operators
 * bind is left to the printer and the parser under test. Shrinks towards formulas of few operators.
 */
export const randomFormulas: fc.Arbitrary<string> = fc.oneof(...callsBelow("any", DEPTH_MAX));

/** Calls that differ in their settings, their group or the order of their arguments: sharing must tell them apart. */
const siblings: fc.Arbitrary<string[]> = fc.oneof(
  ...builtInRegistry.operators.map((operator) => {
    const shapes = shapesOf(operator);
    const chosen = fc.uniqueArray(fc.nat(shapes.length - 1), { minLength: 1, maxLength: 4 });
    return fc
      .tuple(columnsBelow(operator, 1), chosen)
      .map(([columns, places]) =>
        [columns, exchanged(operator, columns)].flatMap((order) =>
          places.map((place) => callText(operator, { ...shapes[place]!, columns: order })),
        ),
      );
  }),
);

/** The first two arguments in each other's places if they are of one kind, and the other group. */
function exchanged({ parameters }: Operator, [first, second, ...rest]: readonly string[]): string[] {
  const isPair = parameters[0]?.kind === parameters[1]?.kind;
  const columns = isPair
    ? [second!, first!, ...rest]
    : [first!, ...(second === undefined ? [] : [second]), ...rest];
  return columns.map((column) =>
    GROUPS.includes(column) ? GROUPS.find((group) => group !== column)! : column,
  );
}

/** Formulas for one file, some of them much alike. */
export const formulaBatches: fc.Arbitrary<string[]> = fc
  .array(
    fc.oneof(
      { withCrossShrink: true },
      { weight: 2, arbitrary: randomFormulas.map((one) => [one]) },
      siblings,
    ),
    {
      minLength: 1,
      maxLength: 10,
      size: "max",
    },
  )
  .map((groups) => groups.flat());
