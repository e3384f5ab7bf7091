import { afterAll, beforeAll, expect, test } from "vitest";
import { compile, type EvaluableProgram, finalDag, type Program } from "../../src/compile.ts";
import { panelSource } from "../../src/data/panel/panel_source.ts";
import { Engine } from "../../src/engine.ts";
import { joinPrograms } from "../../src/evaluation/joined_programs.ts";
import type { EvaluateOptions } from "../../src/evaluation/options.ts";
import type { Panel } from "../../src/panel.ts";
import { FIELDS, GROUPS } from "../conformance/awkward_panels.ts";
import { bitsOf } from "../support/bits.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { panelWithGaps } from "./panels_with_gaps.ts";

/** Several programs in one graph give the bits that each gives alone; what they share is computed once. */

const random = new Seeded();
let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
});
afterAll(async () => await engine.close());

const oneOf = <T>(all: readonly T[]): T => all[random.below(all.length)]!;

const FORMULAS = [
  "x * k",
  "rank(x) + k",
  "ema(x, 3) - k",
  "ts_mean(x, 4) / k",
  "rank(x)",
  "demean(y * k)",
  "when(k > 2, x, y)",
];

function randomProgram(index: number): Program {
  const params = [
    `param k = ${oneOf([2, 3])}`,
    ...(random.below(2) === 0 ? [`param unused${index} = 1`] : []),
  ];
  const factors = Array.from(
    { length: 1 + random.below(3) },
    (_, i) => `f${index}_${i} = ${oneOf(FORMULAS.slice(0, -1))}`,
  );
  return compile([...params, ...factors].join("\n"), {
    file: `p${index}.factors`,
    fields: FIELDS,
    groups: GROUPS,
  });
}

async function columnsOf(program: EvaluableProgram, panel: Panel, options: EvaluateOptions) {
  const stream = await engine.openStream(program as Program, panelSource(panel), options);
  const columns = new Map<string, number[]>();
  for await (const block of stream.blocks())
    for (const [name, values] of block.columns) columns.set(name, [...(columns.get(name) ?? []), ...values!]);
  return new Map([...columns].map(([name, values]) => [name, bitsOf(values)]));
}

test(`each factor has the bits of its own program, SEED=${random.seed}`, async () => {
  for (let trial = 0; trial < trials(12, 300); trial++) {
    const panel = panelWithGaps(random, 20, 5);
    const programs = Array.from({ length: 1 + random.below(4) }, (_, index) => randomProgram(index));
    const options = random.below(2) === 0 ? {} : { params: { k: oneOf([1, 2, 2.5]) } };
    const joined = joinPrograms(
      programs.map((program) => ({ program, called: program.file })),
      options,
    );
    const alone = await Promise.all(programs.map((program) => columnsOf(program, panel, options)));
    const wanted = new Map(alone.flatMap((columns) => [...columns]));
    expect(await columnsOf(joined, panel, options), `SEED=${random.seed} trial ${trial}`).toEqual(wanted);
    expect(joined.factors).toEqual(programs.flatMap(({ factors }) => factors));
  }
}, 600_000);

test("what several programs compute is one task", () => {
  const texts = ["a = rank(x) + 1", "b = rank(x) * 2", "c = ts_mean(rank(x), 3)"];
  const programs = texts.map((text, index) => compile(text, { file: `${index}`, fields: FIELDS }));
  const joined = joinPrograms(
    programs.map((program) => ({ program, called: program.file })),
    {},
  );
  const ranks = finalDag(joined).tasks.filter(
    (task) => task.kind === "call" && task.operator.name === "rank",
  );
  expect(ranks.length).toBe(1);
});

test("a param that two programs declare otherwise is one of each, unless the call gives a value", () => {
  const [a, b] = ["param k = 2\na = x * k", "param k = 3\nb = x * k"].map((text, index) =>
    compile(text, { file: `${index}.factors`, fields: FIELDS }),
  );
  const parts = [a!, b!].map((program) => ({ program, called: program.file }));
  expect([...joinPrograms(parts, {}).params]).toEqual([
    ["k", 2],
    ["k of 1.factors", 3],
  ]);
  expect([...joinPrograms(parts, { params: { k: 5 } }).params]).toEqual([["k", 2]]);
  expect(() => joinPrograms(parts, { params: { k: "text" } })).toThrow(
    "E528 param k is a number, got a text",
  );
});
