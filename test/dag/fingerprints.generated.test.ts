import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  COMPILER_PASS_NAMES,
  type CompileOptions,
  compile,
  finalDag,
  type Program,
} from "../../src/compile.ts";
import type { CallTask, Dag } from "../../src/dag/dag.ts";
import { joinPrograms } from "../../src/evaluation/joined_programs.ts";
import { defineOperator } from "../../src/operator/definition.ts";
import { formPlan } from "../../src/plan/form.ts";
import { panels } from "../conformance/awkward_panels.ts";
import { evaluateHere } from "../conformance/evaluation.ts";
import { formulaBatches, PANEL_NAMES, randomFormulas } from "../fuzz/random_formulas.ts";
import { bitsOf } from "../support/bits.ts";
import { Seeded } from "../support/seeded.ts";
import { cases, trials } from "../support/trials.ts";

const random = new Seeded();
const EXAMPLES = join(import.meta.dirname, "../../examples");
const SHAPE = { laneCount: 64, blockRows: 16, executorCount: 2 };

const oneOf = <T>(all: readonly T[]): T => all[random.below(all.length)]!;
const isLikely = () => random.below(2) === 0;
const draw = <T>(arbitrary: fc.Arbitrary<T>, count: number): T[] =>
  fc.sample(arbitrary, { numRuns: count, seed: random.seed });

function shuffled<T>(all: readonly T[]): T[] {
  const left = [...all];
  return all.map(() => left.splice(random.below(left.length), 1)[0]!);
}

const compiled = (text: string, options: CompileOptions = {}): Program =>
  compile(`param p = 0.94\n${text}`, { ...PANEL_NAMES, ...options });
const factorsOf = (text: string, options?: CompileOptions) =>
  compiled(text, options).origin().fingerprints.factors;
const programOf = (text: string, options?: CompileOptions) =>
  compiled(text, options).origin().fingerprints.program;
const factorOf = (formula: string, options?: CompileOptions) =>
  factorsOf(`f = ${formula}`, options).get("f")!;

/** The same factors, written otherwise. */
function rewritten(factors: readonly (readonly [string, string])[], others: readonly string[]): string {
  const name = `part${random.below(1000)}`;
  const lines = factors.map(([factor, formula], index) => {
    const comment = isLikely() ? `  # ${formula}` : "";
    if (isLikely()) return `${factor} = ${formula}${comment}`;
    return `let ${name}_${index} = ${formula}${comment}\n\n${factor} = ${name}_${index}`;
  });
  return shuffled([...lines, ...others.map((formula, index) => `other${index} = ${formula}`)]).join("\n");
}

describe(`the fingerprint of a factor, SEED=${random.seed}`, () => {
  test("is that of its formula, however it is written, whatever is beside it, whichever passes run", () => {
    for (const formulas of draw(fc.array(randomFormulas, { minLength: 2, maxLength: 6 }), trials(40, 1000))) {
      const factors = formulas.map((formula, index) => [`f${index}`, formula] as const);
      const known = factorsOf(factors.map(([name, formula]) => `${name} = ${formula}`).join("\n"));
      const kept = factors.filter(isLikely);
      const disabledPasses = COMPILER_PASS_NAMES.filter(isLikely);
      const text = rewritten(kept.length > 0 ? kept : factors, draw(randomFormulas, 1));
      for (const [name, fingerprint] of factorsOf(text, { disabledPasses }))
        if (known.has(name)) expect(fingerprint, `${name} of\n${text}`).toBe(known.get(name));
    }
  });

  test("is equal for formulas of equal bits only", () => {
    const panel = panels.history;
    let equalCount = 0;
    for (const formulas of draw(formulaBatches, trials(15, 500))) {
      const program = compiled(formulas.map((formula, index) => `f${index} = ${formula}`).join("\n"));
      const columns = evaluateHere(program, panel, { params: { p: 0.94 } });
      const { factors } = program.origin().fingerprints;
      const first = new Map<string, number>();
      for (const [index, formula] of formulas.entries()) {
        const fingerprint = factors.get(`f${index}`)!;
        const other = first.get(fingerprint);
        if (other === undefined) first.set(fingerprint, index);
        else if (formula !== formulas[other]) {
          equalCount++;
          expect(bitsOf(columns[index]!), `${formula} and ${formulas[other]}`).toEqual(
            bitsOf(columns[other]!),
          );
        }
      }
    }
    expect(equalCount).toBeGreaterThan(0);
  });

  test("is another one for another operator, setting, input, order, group, universe, param", () => {
    const formulas = [
      "ts_mean(x, 5)",
      "ts_mean(x, 6)",
      "ts_mean(y, 5)",
      "ts_mean(x, 5, min_periods=3)",
      "ts_sum(x, 5)",
      "ema(x, 5)",
      "ema(ema(x, 5), 5)",
      "x - y",
      "y - x",
      "x + y",
      "x + 0",
      "x + -0",
      "x + null",
      "x * p",
      "x * q",
      "rank(x)",
      "group_rank(x, g)",
      "group_rank(x, h)",
      "ema(rank(x), 5)",
    ];
    const text = formulas.map((formula, index) => `f${index} = ${formula}`).join("\n");
    const plain = factorsOf(`param q = 0.94\n${text}`);
    expect(new Set(plain.values()).size).toBe(formulas.length);
    const inUniverse = factorsOf(`param q = 0.94\n${text}`, { universe: "k" });
    const other = factorsOf(`param q = 0.94\n${text}`, { universe: "m" });
    formulas.forEach((formula, index) => {
      const isAcross = formula.includes("rank");
      const all = [plain, inUniverse, other].map((factors) => factors.get(`f${index}`));
      expect(new Set(all).size, formula).toBe(isAcross ? 3 : 1);
    });
    expect(factorOf("y + x")).toBe(factorOf("x + y"));
  });

  test("is equal in all dialects", () => {
    const options = { fields: ["close"], groups: [] };
    const texts = [
      "f = delay(close, 2) * sign(close)",
      "dialect alpha101\nf = (delay(close, 2) * sign(close))",
      "dialect qlib\nf = Ref($close, 2) * Sign($close)",
      "dialect gtja191\nf = DELAY(CLOSE, 2) * SIGN(CLOSE)",
    ];
    const found = texts.map((text) => compile(text, options).origin().fingerprints.factors.get("f"));
    expect(new Set(found).size).toBe(1);
  });

  test("is another one for other code of an operator of the same name", () => {
    const withReference = (reference: (x: number) => number) =>
      defineOperator({
        name: "bent",
        axis: "elementwise",
        parameters: [{ name: "x", kind: "series" }],
        result: "series",
        unit: "other",
        summary: "Made for a test.",
        nulls: "Null where the argument is null.",
        source: "made for a test",
        costNs: () => 1,
        nullWhere: {},
        reference,
        examples: [{ formula: "bent(x)", inputs: { x: [0] }, output: [0] }],
      });
    const found = [(x: number) => x, (x: number) => x, (x: number) => -x].map((reference) =>
      factorOf("ema(bent(x), 3)", { operators: [withReference(reference)] }),
    );
    expect(found[1]).toBe(found[0]);
    expect(found[2]).not.toBe(found[0]);
  });
});

test("the fingerprint of a program is that of its factors with names, order, conditions and priorities", () => {
  const text = "a = x\nb = ema(y, 3) when p > 1 priority 2";
  const known = programOf(text);
  expect(programOf("# b\nlet z = ema(y, 3)\na = x\nb = z when p > 1 priority 2")).toBe(known);
  expect(programOf(text, { disabledPasses: COMPILER_PASS_NAMES })).toBe(known);
  expect(compile(`param p = 3\n${text}`, PANEL_NAMES).origin().fingerprints.program).toBe(known);
  const others = [
    "b = ema(y, 3) when p > 1 priority 2\na = x",
    "c = x\nb = ema(y, 3) when p > 1 priority 2",
    "a = x\nb = ema(y, 3) when p > 2 priority 2",
    "a = x\nb = ema(y, 3) priority 2",
    "a = x\nb = ema(y, 3) when p > 1",
    "a = x\nb = ema(y, 4) when p > 1 priority 2",
    "a = x",
  ].map((other) => programOf(other));
  expect(new Set([known, ...others]).size).toBe(others.length + 1);
});

const isRecursive = (task: Dag["tasks"][number]): task is CallTask =>
  task.kind === "call" && task.operator.axis === "recursive";

/** Fingerprints of the recursive tasks of a plan; fails if one has none. */
function planned(program: Program): Set<string> {
  const plan = formPlan(finalDag(program), { ...SHAPE, disabledPasses: program.disabledPasses });
  const tasks = finalDag(program).tasks.filter(isRecursive);
  const found = plan.tasks.filter(({ fingerprints }) => fingerprints.length > 0);
  expect(found.length, "recursive tasks of the plan that have fingerprints").toBe(tasks.length);
  return new Set(found.flatMap(({ fingerprints }) => fingerprints));
}

const PASSES = [undefined, ...COMPILER_PASS_NAMES];

describe(`recursive tasks of plans carry the fingerprints of the written ones, SEED=${random.seed}`, () => {
  const written = (program: Program) =>
    new Set(program.stages[0]!.dag.tasks.flatMap((task) => (isRecursive(task) ? task.fingerprints! : [])));

  test.each(readdirSync(EXAMPLES).filter((name) => name.endsWith(".factors")))("%s", (name) => {
    const text = readFileSync(join(EXAMPLES, name), "utf8");
    for (const pass of cases([undefined, oneOf(COMPILER_PASS_NAMES)], PASSES)) {
      const program = compile(text, { disabledPasses: pass === undefined ? [] : [pass] });
      expect(planned(program), `without ${pass}`).toEqual(written(program));
    }
  });

  test("generated programs", () => {
    const names = ["ema", "cum_sum", "sma_cn", "hump", "trade_when", "ffill", "ts_step"];
    const formulas = randomFormulas.filter((formula) => names.some((name) => formula.includes(`${name}(`)));
    let count = 0;
    for (const some of draw(fc.array(formulas, { minLength: 1, maxLength: 5 }), trials(12, 300))) {
      const text = some.map((formula, index) => `f${index} = ${formula}`).join("\n");
      for (const pass of PASSES) {
        const program = compiled(text, { disabledPasses: pass === undefined ? [] : [pass] });
        const known = written(program);
        for (const one of planned(program)) expect(known, `without ${pass}:\n${text}`).toContain(one);
        count += known.size;
      }
    }
    expect(count).toBeGreaterThan(0);
  });
});

describe("programs in one graph", () => {
  const of = (file: string, text: string) => compile(text, { ...PANEL_NAMES, file });
  const joined = (...texts: string[]) => {
    const parts = texts.map((text, index) => ({
      program: of(`${index}.factors`, text),
      called: `${index}.factors`,
      outputName: (name: string) => `${name}${index}`,
    }));
    return joinPrograms(parts, {});
  };
  const recursions = (dag: Dag) => dag.tasks.filter(isRecursive).map(({ fingerprints }) => fingerprints);

  test("share the recursions of equal formulas, under the fingerprint that each has alone", () => {
    const text = "param n = 2\na = ema(x * n, 3)";
    const alone = recursions(finalDag(of("a.factors", text)));
    expect(alone).toHaveLength(1);
    expect(recursions(finalDag(joined(text, text)))).toEqual(alone);
  });

  test("tell recursions over params of one name and of other values apart", () => {
    const [first, second] = [2, 3].map((n) => `param n = ${n}\na = ema(x * n, 3)\nb = ema(y, 3)`);
    const alone = recursions(finalDag(of("a.factors", first!)));
    const both = recursions(finalDag(joined(first!, second!)));
    expect(both).toHaveLength(3);
    expect(new Set(both.flat()).size).toBe(3);
    expect(both).toEqual(expect.arrayContaining(alone));
  });

  test("have the fingerprints of their factors", () => {
    const texts = ["a = ema(x, 3)", "a = rank(y)"];
    const { factors, program } = joined(...texts).origin().fingerprints;
    expect(factors.get("a0")).toBe(factorOf("ema(x, 3)"));
    expect(factors.get("a1")).toBe(factorOf("rank(y)"));
    expect(joined(`# twice\n${texts[0]}`, texts[1]!).origin().fingerprints.program).toBe(program);
    expect(joined(texts[1]!, texts[0]!).origin().fingerprints.program).not.toBe(program);
  });
});
