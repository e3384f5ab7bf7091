import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Expression } from "../../src/ast/nodes.ts";
import { COMPILER_PASS_NAMES } from "../../src/compile.ts";
import { compile, Engine, FormulaError, type Panel, type Program, readPanel } from "../../src/index.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";

const examples = join(import.meta.dirname, "../../examples");
let engine: Engine;
let panel: Panel;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
  panel = await readPanel(join(examples, "data/sp100_daily.csv.gz"), {
    groups: join(examples, "data/sp100_sectors.csv"),
  });
});
afterAll(async () => await engine.close());

/**
 * What stands for an operator in a mutant; a name goes before its opening parenthesis. No changed operand of `+` and its
 * like may equal the other operand, e.g. by ts_min for ts_max in alpha011: diff would pair those two.
 */
const OTHER_OPERATORS: Readonly<Record<string, string>> = {
  "+": "-",
  "*": "+",
  "<": ">",
  "rank(": "sign(",
  "correlation(": "covariance(",
  "decay_linear(": "sum(",
  "Ts_Rank(": "product(",
  "delta(": "delay(",
  "ts_max(": "sum(",
};

interface Mutant {
  readonly text: string;
  /** Where the changed numbers and operators stand in the original. */
  readonly offsets: readonly number[];
}

/** The text with some numbers, windows or operators of its formulas changed. */
function mutantOf(text: string, changeCount: number, random: Seeded): Mutant {
  const number = String.raw`(?<![\w.])\d+(?:\.\d+)?(?![\w.])`;
  const operator = String.raw`(?<=\s)[+*<](?=\s)|\b(?:rank|correlation|decay_linear|Ts_Rank|delta|ts_max)\(`;
  const places = [...text.matchAll(new RegExp(`${number}|${operator}`, "g"))].filter(({ index }) => {
    const line = text.slice(text.lastIndexOf("\n", index) + 1, index);
    return /^alpha\d+ = /.test(line);
  });
  const chosen = new Set(Array.from({ length: changeCount }, () => random.below(places.length)));
  // From the end on, so that earlier offsets stay as they are.
  const changes = [...chosen].sort((a, b) => b - a).map((place) => places[place]!);
  const changed = changes.reduce((before, { 0: token, index }) => {
    const other = OTHER_OPERATORS[token] ?? String(Number(token) + 1 + random.below(3));
    return before.slice(0, index) + other + before.slice(index + token.length);
  }, text);
  return { text: changed, offsets: changes.map(({ index }) => index) };
}

/** The smallest expression around an offset that is no constant. */
function expressionAt({ written }: Program, offset: number): Expression {
  const stack = written.bound.factors.map(({ expression }) => expression);
  const seen = new Set<Expression>();
  let best: Expression | null = null;
  for (let node = stack.pop(); node; node = stack.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    if (node.kind !== "call") continue;
    stack.push(...node.args);
    const { start, end } = node.span;
    if (node.constant !== null || offset < start || offset >= end) continue;
    if (best === null || end - start < best.span.end - best.span.start) best = node;
  }
  return best!;
}

test("the origin of a difference is the sub-expression that was changed, and nothing else", async () => {
  const random = new Seeded();
  const text = readFileSync(join(examples, "alpha101.factors"), "utf8");
  const options = { groups: [...panel.groups.keys()] };
  const original = compile(text, options);
  let differing = 0;
  for (let i = 0; i < trials(8, 500); i++) {
    const mutant = mutantOf(text, 1, random);
    const [offset = expect.fail()] = mutant.offsets;
    const what = `seed ${random.seed}, mutant ${i}: ${mutant.text.slice(offset - 30, offset + 30)}`;
    const changed = compiled(mutant.text, options);
    if (changed === null) continue;
    const found = await engine.diff(original, changed, panel, { to: "2014-06-30" });
    const expected = expressionAt(original, offset);
    const { source } = original.written;
    const { line, column } = source.position(expected.span.start);
    for (const { origins } of found.differences) {
      const places = origins!.map(({ a }) => [a.line, a.column]);
      expect(places, what).toEqual([[line, column]]);
      expect(text.slice(expected.span.start, expected.span.end), what).toContain(origins![0]!.a.formula);
      expect(origins![0]!.cellCount, what).toBeGreaterThan(0);
    }
    if (!found.isSame) differing++;
  }
  expect(differing).toBeGreaterThan(trials(0, 250));
});

test("of many changes only changed sub-expressions are reported, and every factor that differs has one", async () => {
  const random = new Seeded();
  const text = readFileSync(join(examples, "alpha101.factors"), "utf8");
  const options = { groups: [...panel.groups.keys()] };
  const original = compile(text, options);
  const { source } = original.written;
  let originCount = 0;
  for (let i = 0; i < trials(2, 40); ) {
    const mutant = mutantOf(text, 60, random);
    const changed = compiled(mutant.text, options);
    if (changed === null) continue;
    i++;
    const places = mutant.offsets.map((offset) => {
      const { line, column } = source.position(expressionAt(original, offset).span.start);
      return `${line}:${column}`;
    });
    for (const { name, origins } of (await engine.diff(original, changed, panel, { to: "2014-06-30" }))
      .differences) {
      const what = `seed ${random.seed}, mutant ${i}, ${name}`;
      if (origins === null) continue;
      expect(origins.length, what).toBeGreaterThan(0);
      for (const { a } of origins) expect(places, what).toContain(`${a.line}:${a.column}`);
      originCount += origins.length;
    }
  }
  expect(originCount).toBeGreaterThan(0);
});

test("formulas that are computed in another way have no differences", async () => {
  const text = readFileSync(join(examples, "alpha101.factors"), "utf8");
  const options = { groups: [...panel.groups.keys()] };
  const written = compile(text, { ...options, disabledPasses: COMPILER_PASS_NAMES });
  const found = await engine.diff(compile(text, options), written, panel, { to: "2014-06-30" });
  expect([found.isSame, found.differences, found.compared.length]).toEqual([true, [], 101]);
});

/** Null for a mutant that is no formula any more, e.g. a window of too few rows. */
function compiled(text: string, options: { readonly groups: string[] }): Program | null {
  try {
    return compile(text, options);
  } catch (error) {
    if (error instanceof FormulaError) return null;
    throw error;
  }
}
