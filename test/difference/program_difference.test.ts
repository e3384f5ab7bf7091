import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type CompileOptions,
  compile,
  type DiffOptions,
  defineOperator,
  diffResults,
  Engine,
  type EvaluateOptions,
  type Panel,
  type Program,
  readPanel,
  writeTable,
} from "../../src/index.ts";
import { scratchPath } from "../data/scratch.ts";
import { smallPanel } from "./small_panel.ts";

const examples = join(import.meta.dirname, "../../examples");
let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
});
afterAll(async () => await engine.close());

/** The result of a program in a file. */
async function resultFile(name: string, program: Program, panel: Panel, options: EvaluateOptions) {
  const path = scratchPath(name);
  await writeTable((await engine.evaluate(program, panel, options)).table, path);
  return path;
}

test("programs differ as their results do, on real bars", async () => {
  const panel = await readPanel(join(examples, "data/sp100_daily.csv.gz"), {
    groups: join(examples, "data/sp100_sectors.csv"),
  });
  // Every tenth factor, and those that are changed below.
  const isKept = (line: string) => !/^alpha/.test(line) || /^alpha(\d\d1|050)/.test(line);
  const lines = readFileSync(join(examples, "alpha101.factors"), "utf8").split("\n");
  const text = lines.filter(isKept).join("\n");
  const groups = [...panel.groups.keys()];
  const a = compile(text, { groups });
  const other = text
    .replace("stddev(returns, 20)", "stddev(returns, 21)")
    .replaceAll("alpha050 = ", "alpha050b = ")
    .replace("sum(adv10, 49.6054)", "sum(adv10, 50.6054)");
  const b = compile(other, { groups });
  const options = { from: "2016-01-01", to: "2016-12-31" };
  const files = [
    await resultFile("a.arrow", a, panel, options),
    await resultFile("b.arrow", b, panel, options),
  ];
  for (const tolerance of [0, 0.3]) {
    const found = await engine.diff(a, b, panel, { ...options, tolerance });
    const columns = found.differences.map(({ origins: _, ...column }) => column);
    expect({ ...found, differences: columns }).toEqual(
      await diffResults(files[0]!, files[1]!, { tolerance }),
    );
    expect([found.onlyInA, found.onlyInB]).toEqual([["alpha050"], ["alpha050b"]]);
    expect(found.differences.map(({ name }) => name)).toEqual(["alpha001", "alpha081"]);
  }
  const selected = await engine.diff(a, b, panel, { ...options, select: ["alpha081", "alpha050"] });
  expect([selected.compared, selected.onlyInA, selected.onlyInB]).toEqual([["alpha081"], ["alpha050"], []]);
});

/** Three days of two symbols; B has no row on the second day. */
const BARS = smallPanel(2, {
  close: [1, 2, 3, null, 0, 4],
  volume: [-0, 1, 1, null, 1, Number.POSITIVE_INFINITY],
});

/** The differing factors of two texts over the small bars, as `name: cells of which null in one`. */
async function differences(
  a: string,
  b: string,
  options: DiffOptions = {},
  compileOptions: readonly CompileOptions[] = [],
): Promise<string[]> {
  const [left, right] = [compile(a, compileOptions[0]), compile(b, compileOptions[1])];
  const { differences: found, isSame } = await engine.diff(left, right, BARS, options);
  expect(isSame).toBe(found.length === 0);
  return found.map(({ name, cellCount, nullCount }) => `${name}: ${cellCount} of which ${nullCount}`);
}

describe("two texts", () => {
  test.each<[string, string, DiffOptions, readonly string[]]>([
    ["f = close", "f = close * 1", {}, []],
    ["f = volume", "f = volume + 0", {}, ["f: 1 of which 0"]],
    ["f = volume", "f = volume + 0", { tolerance: 1e-300 }, []],
    ["f = 1 / close", "f = null", {}, ["f: 4 of which 4"]],
    ["f = 1 / close", "f = null", { keepInfinite: true }, ["f: 5 of which 5"]],
    ["f = volume", "f = -volume", { keepInfinite: true, tolerance: 1e300 }, ["f: 1 of which 0"]],
    ["f = volume", "f = volume * 1.25", { tolerance: 0.1 }, ["f: 3 of which 0"]],
    ["f = volume", "f = volume * 1.25", { tolerance: 0.2 }, []],
    ["f = close", "f = close + 1", { from: "2024-01-04" }, ["f: 2 of which 0"]],
    ["f = close", "f = close + 1", { to: "2024-01-03" }, ["f: 3 of which 0"]],
    ["f = close\ng = 1", "g = 2\nf = close", {}, ["g: 5 of which 0"]],
    ["f = coalesce(close, 1)", "f = coalesce(close, 2)", {}, []],
    ["f = rank(coalesce(close, 1))", "f = rank(coalesce(close, 2))", {}, []],
  ])("%s and %s with %o: %j", async (a, b, options, expected) => {
    expect(await differences(a, b, options)).toEqual(expected);
  });

  test("one text in two dialects", async () => {
    const text = "f = max(close, 2)";
    expect(await differences(text, text, {}, [{}, { dialect: "alpha101" }])).toEqual(["f: 4 of which 3"]);
    expect(await differences(text, text, {}, [{ dialect: "alpha101" }, { dialect: "alpha101" }])).toEqual([]);
  });

  test("one lane and one row", async () => {
    const one = smallPanel(1, { close: [2] });
    const found = await engine.diff(compile("f = close"), compile("f = -close"), one);
    expect(found.differences).toEqual([
      {
        name: "f",
        cellCount: 1,
        nullCount: 0,
        infiniteCount: 0,
        absoluteMax: 4,
        relativeMax: 2,
        ulpMax: expect.any(Number),
        first: { time: "2024-01-02", symbol: "A", a: 2, b: -2 },
        origins: [expect.objectContaining({ cellCount: 1 })],
      },
    ]);
  });

  test("universes of one name that each file defines", async () => {
    const universe = { universe: "large" };
    const text = (limit: number) => `let large = close > ${limit}\nf = rank(close)`;
    expect(await differences(text(1), text(2), {}, [universe, universe])).toEqual(["f: 1 of which 1"]);
    expect(await differences(text(1), text(1), {}, [universe, universe])).toEqual([]);
  });
});

describe("params", () => {
  const k = (value: number | string) => `param k = ${JSON.stringify(value)}\n`;

  test.each<[string, string, DiffOptions, readonly string[]]>([
    [`${k(1)}f = close * k`, `${k(2)}f = close * k`, {}, ["f: 4 of which 0"]],
    [`${k(1)}f = close * k`, `${k(2)}f = close * k`, { params: { k: 3 } }, []],
    [`${k(1)}f = close * k`, "f = close * 3", { params: { k: 3 } }, []],
    ["f = close * 3", `${k(1)}f = close * k`, { params: { k: 3 } }, []],
    [`${k(1)}f = close when k == 1`, `${k(2)}f = close when k == 1`, {}, ["f: 5 of which 5"]],
    [`${k(1)}f = close when k == 1`, `${k(2)}f = close when k == 2`, {}, []],
    [`${k(1)}f = close when k == 1`, `${k(1)}f = close when k == 2`, { params: { k: 3 } }, []],
    [`${k("x")}f = close when k == "x"`, `${k(1)}f = close when k == 1`, {}, []],
  ])("%j and %j with %o: %j", async (a, b, options, expected) => {
    expect(await differences(a, b, options)).toEqual(expected);
  });

  test.each<[string, string, DiffOptions, string]>([
    [
      `${k("x")}f = close when k == "x"`,
      `${k(1)}f = close * k`,
      { params: { k: 2 } },
      "E528 param k is a text",
    ],
    ["param k\nf = close * k", `${k(1)}f = close * k`, {}, "E555 param k has no common value"],
    [
      `${k(1)}f = close * k`,
      `${k(2)}f = close * k`,
      { paramsByTime: "none.csv" },
      "E555 param k has no common value\n  give it one: --param k=...",
    ],
    [`${k(1)}f = close * k`, `${k(1)}f = close * k`, { params: { kk: 3 } }, "E506 unknown param kk"],
  ])("%j and %j with %o: %s", async (a, b, options, message) => {
    await expect(differences(a, b, options)).rejects.toThrow(message);
  });
});

/** An operator that adds a number. */
const plus = (value: 1 | 2) =>
  defineOperator({
    name: "plus",
    axis: "elementwise",
    result: "series",
    unit: "same",
    parameters: [{ name: "x", kind: "series" }],
    summary: "More.",
    nulls: "Null where x is null.",
    source: "a test",
    costNs: () => 1,
    nullWhere: {},
    reference: value === 1 ? (x) => x + 1 : (x) => x + 2,
    examples: [{ formula: "plus(x)", inputs: { x: [1] }, output: [1 + value] }],
  });

test("an operator of the caller's, and memory that is given back", async () => {
  const operators = [plus(1)];
  const [a, b] = ["f = -plus(close)", "f = -plus(volume)"].map((text) => compile(text, { operators }));
  const { managedBytes } = engine.memory;
  const [{ origins } = expect.fail()] = (await engine.diff(a!, b!, BARS)).differences;
  expect(origins!.map((one) => [one.a.formula, one.b.formula])).toEqual([["close", "volume"]]);
  expect(engine.memory).toMatchObject({ managedBytes });
});

test("an aborted comparison gives its memory back", async () => {
  const { managedBytes } = engine.memory;
  const controller = new AbortController();
  const stopping = engine.diff(compile("f = close"), compile("f = close + 1"), BARS, {
    signal: controller.signal,
    onProgress: () => controller.abort(new Error("enough")),
  });
  await expect(stopping).rejects.toThrow("enough");
  expect(engine.memory).toMatchObject({ managedBytes });
});

describe("what cannot be compared is refused", () => {
  test.each<[string, string, DiffOptions, string]>([
    ["f = close", "g = close", {}, "E386 the two programs have no factor in common"],
    ["alpha1 = close", "alpha01 = close", {}, "by name: alpha1 of the first is not alpha01 of the second"],
    ["f = close", "f = close", { select: ["g"] }, "E506 no factor g to select\n  factors: f"],
    ["f = close", "f = close", { tolerance: Number.NaN }, "E528 a tolerance of NaN"],
    ["f = close", "f = close", { from: "2025-01-01" }, "E386"],
    ["f = close", "f = open", {}, "E350 the panel has no field open"],
    ["f = close", "f = close", { tolerence: 3 } as DiffOptions, "E527 unknown option tolerence of diff"],
  ])("%s and %s with %o: %s", async (a, b, options, message) => {
    await expect(differences(a, b, options)).rejects.toThrow(message);
  });

  test("operators of one name that differ, a promise, and bars without a row", async () => {
    const [one, two] = [plus(1), plus(2)].map((operator) =>
      compile("f = plus(close)", { operators: [operator] }),
    );
    await expect(engine.diff(one!, two!, BARS)).rejects.toThrow(
      "E549 operators plus and plus both claim plus",
    );
    expect((await engine.diff(one!, one!, BARS)).isSame).toBe(true);
    await expect(engine.diff(one!, {} as Program, BARS)).rejects.toThrow("E528 diff takes a program");
    const empty = smallPanel(1, { close: [null] });
    await expect(engine.diff(compile("f = close"), compile("f = 1"), empty)).rejects.toThrow(
      "E386 the two programs have no row in common",
    );
  });
});
