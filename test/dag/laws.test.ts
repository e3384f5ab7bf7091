import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { type CompileOptions, compile } from "../../src/compile.ts";
import { DagBuilder } from "../../src/dag/dag.ts";
import { type Equation, equationsOf, type Term, type Values } from "../../src/dag/laws.ts";
import { UsageError } from "../../src/errors.ts";
import {
  defineOperator,
  isSeriesLike,
  type KernelOperator,
  kernelOperators,
  type Law,
  type ParameterKind,
} from "../../src/operator/definition.ts";
import type { Registry } from "../../src/operator/registry.ts";
import type { Panel } from "../../src/panel.ts";
import {
  CONDITION_FIELDS,
  NUMBER_FIELD,
  panelFrom,
  panels,
  SERIES_FIELDS,
} from "../conformance/awkward_panels.ts";
import { AWKWARD_NUMBERS, hashed } from "../conformance/awkward_series.ts";
import { expectCells } from "../conformance/same_cells.ts";
import { runDag } from "../kernel/run_plan.ts";

/** All triples of 0, 1 and null in the conditions, each with awkward numbers of all kinds. */
const conditions = panelFrom(27, AWKWARD_NUMBERS.length, (field, row, lane) => {
  const place = CONDITION_FIELDS.indexOf(field);
  if (place >= 0) return [0, 1, Number.NaN][Math.floor(row / 3 ** place) % 3]!;
  if (field === NUMBER_FIELD) return 2;
  const shift = hashed(SERIES_FIELDS.indexOf(field), row) * AWKWARD_NUMBERS.length;
  return AWKWARD_NUMBERS[(lane + Math.floor(shift)) % AWKWARD_NUMBERS.length]!;
});

/** Panels for laws: all pairs of awkward numbers, awkward histories, all triples of conditions. */
const PANELS: readonly Panel[] = [panels.pairs, panels.history, panels.rows, conditions];

/** Values that a name of a law may take. */
const SETTINGS: Partial<Record<ParameterKind, readonly number[]>> = {
  window: [1, 2, 5],
  delay: [0, 1, 3],
  constant: [-1, 0, 2.5],
};
const NUMBERS: Readonly<Record<Values, readonly number[] | null>> = {
  all: null,
  numbers: AWKWARD_NUMBERS,
  "powers of two": [1, 2, -8, 0.25, 2 ** 1022, -(2 ** -1022)],
};

interface Name {
  readonly kind: ParameterKind;
  readonly values: Values;
}

/** The names of a term and their kinds; a name that is a condition anywhere is one. */
function namesOf(term: Term, kind: ParameterKind = "series", names = new Map<string, Name>()) {
  if (term.kind === "variable") {
    const isCondition = names.get(term.name)?.kind === "condition";
    names.set(term.name, { kind: isCondition ? "condition" : kind, values: term.values });
  } else if (term.kind === "call") {
    const { parameters } = term.operator;
    const columns = parameters.filter((parameter) => isSeriesLike(parameter.kind));
    for (const [i, input] of term.inputs.entries()) namesOf(input, columns[i]!.kind, names);
    for (const [name, setting] of Object.entries(term.settings)) {
      namesOf(setting, parameters.find((parameter) => parameter.name === name)!.kind, names);
    }
  }
  return names;
}

/** Every choice of values for the names of numbers. */
function choicesOf(names: ReadonlyMap<string, Name>): Map<string, number>[] {
  let choices = [new Map<string, number>()];
  for (const [name, { kind, values: among }] of names) {
    const values = NUMBERS[among] ?? SETTINGS[kind];
    if (values) choices = choices.flatMap((one) => values.map((value) => new Map([...one, [name, value]])));
  }
  return choices;
}

/** Adds the tasks of a term, given the fields and numbers of its names. */
class TermBuilder {
  readonly builder = new DagBuilder(true);
  readonly #names: ReadonlyMap<string, Name>;
  readonly #numbers: ReadonlyMap<string, number>;

  constructor(names: ReadonlyMap<string, Name>, numbers: ReadonlyMap<string, number>) {
    this.#names = names;
    this.#numbers = numbers;
  }

  add(term: Term): number {
    if (term.kind === "number") return this.builder.add(term);
    if (term.kind === "variable") return this.#addVariable(term.name);
    const { operator } = term;
    const inputs = term.inputs.map((input) => this.add(input));
    const settings = Object.fromEntries(
      Object.entries(term.settings).map(([name, setting]) => [name, this.#valueOf(setting)]),
    );
    return this.builder.add({ kind: "call", operator, inputs, settings, group: null, minPeriods: null });
  }

  #addVariable(name: string): number {
    const number = this.#numbers.get(name);
    if (number !== undefined) return this.builder.add({ kind: "number", value: number });
    const { kind } = this.#names.get(name)!;
    const fields = kind === "condition" ? CONDITION_FIELDS : SERIES_FIELDS;
    const before = [...this.#names].filter(([, other]) => other.kind === kind);
    return this.builder.add({ kind: "field", name: fields[before.findIndex(([other]) => other === name)]! });
  }

  #valueOf(term: Term): number {
    if (term.kind === "number") return term.value;
    if (term.kind === "variable") return this.#numbers.get(term.name)!;
    const { operator } = term;
    if (operator.axis !== "elementwise") throw new Error(`${operator.name} in a setting`);
    return operator.reference(...term.inputs.map((input) => this.#valueOf(input)));
  }
}

/** Checks that both sides of an equation give the same bits, by references and by kernels. */
function checkEquation({ left, right }: Equation, registry: Registry): void {
  const names = namesOf(left);
  for (const numbers of choicesOf(names)) {
    const terms = new TermBuilder(names, numbers);
    const outputs = [left, right].map((term, i) => ({
      name: `f${i}`,
      task: terms.add(term),
      condition: null,
      priority: 0,
    }));
    const dag = { tasks: terms.builder.tasks, outputs, params: [], conditions: [] };
    for (const panel of PANELS) {
      for (const reference of [true, false]) {
        const [given, wanted] = runDag(dag, panel, { reference, registry });
        const label = `left side ${JSON.stringify([...numbers])}${reference ? " by references" : ""}`;
        const expected = (row: number, lane: number) => wanted![row * panel.laneCount + lane];
        expectCells({ label, column: given!, panel }, expected);
      }
    }
  }
}

function checkLaws(operator: KernelOperator, registry = builtInRegistry): void {
  for (const equation of equationsOf(operator, registry)) checkEquation(equation, registry);
}

/** `abs` under another name with other laws. */
function absWith(...laws: Law[]) {
  const { symbol: _, aliases: __, ...abs } = builtInRegistry.kernel("abs");
  return defineOperator({ ...abs, name: "magnitude", laws } as KernelOperator) as KernelOperator;
}

const declaring = kernelOperators(builtInRegistry.operators).filter(
  (operator) => equationsOf(operator, builtInRegistry).length > 0,
);

describe("laws hold to the last bit, whatever the values", () => {
  test.each(declaring.map((operator) => [operator.name, operator] as const))("of %s", (_, operator) => {
    checkLaws(operator);
  });

  test.each<Law>([
    "magnitude(x) = x",
    "magnitude(-x) = x",
    "magnitude(x + 1) = magnitude(x) + 1",
    "magnitude(x) = max(x, 0)",
    "magnitude(x - y) = magnitude(x) - magnitude(y)",
    "magnitude(delay(x, a)) = magnitude(delay(x, 1))",
    "magnitude(x * y / y) = magnitude(x)",
    "magnitude(coalesce(x, y)) = magnitude(x)",
    "magnitude(x * c) = magnitude(x) * c for numbers c",
    "magnitude(x * c) = magnitude(x) * abs(c) * 1.0000000000000002 for powers of two c",
    "magnitude(!c) = magnitude(c == 0 || c == 1 ? 0 : 1)",
  ])("and the test finds that %j does not", (law) => {
    const operator = absWith(law);
    expect(() => checkLaws(operator, builtInRegistry.with([operator]))).toThrow(/ instead of /);
  });
});

describe("a law of an operator of the user", () => {
  const optionsWith = (law: Law): CompileOptions => ({ operators: [absWith(law)] });

  test("is used like those of the built-in ones", () => {
    const { stages } = compile(
      "a = magnitude(-close)\nb = magnitude(close)",
      optionsWith("magnitude(-x) = magnitude(x)"),
    );
    const [a, b] = stages.at(-1)!.dag.outputs;
    expect(a?.task).toBe(b?.task);
  });

  test("that goes in circles comes to an end", () => {
    const law = "magnitude(x - y) = magnitude(y - x)";
    expect(compile("a = magnitude(close - open)", optionsWith(law)).stages.at(-1)!.dag.tasks).toHaveLength(4);
  });

  test.each<[Law, string]>([
    ["magnitude(x) = abs(y)", "only its right side has y"],
    ["abs(x) = magnitude(x)", "its left side does not apply magnitude"],
    ["x = magnitude(x)", "its left side does not apply magnitude"],
    ["magnitude(x) = x = x", "it is neither commutative nor an equation"],
    ["magnitude(x = abs(x)", "it cannot be read: E10"],
    ["magnitude(x) = absolute(x)", "absolute is not an operator"],
    ["magnitude(x) = ts_returns(x, 1)", "ts_returns stands for a formula: write that"],
    ["magnitude(x) = scale(x)", "scale needs all of its arguments, in their order"],
    ["magnitude(x) = ts_mean(x, d=1)", "ts_mean needs all of its arguments, in their order"],
    ["magnitude(x) = group_mean(x, x)", "it applies an operator within groups"],
    ["magnitude(delay(x, a + 1)) = x", "add is applied to numbers known at compile time"],
    ["magnitude(delay(x, a)) = a", "a is both a series and a number known at compile time"],
    ['magnitude("x") = x', "it contains a text"],
  ])("is refused if it is %j: %s", (law, problem) => {
    const compiling = () => compile("a = magnitude(close)", optionsWith(law));
    expect(compiling).toThrow(UsageError);
    expect(compiling).toThrow(`E549 operator magnitude: law ${JSON.stringify(law)}: ${problem}`);
  });
});
