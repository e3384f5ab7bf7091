import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { COMPILER_PASS_NAMES, compile } from "../../src/compile.ts";
import type { FactorBlock } from "../../src/data/factors/factor_batches.ts";
import { panelSource } from "../../src/data/panel/panel_source.ts";
import { readPanel } from "../../src/data/source/read_panel.ts";
import { defineOperator, type Operator } from "../../src/operator/definition.ts";
import type { Panel } from "../../src/panel.ts";
import { isBroken } from "../../src/verify/comparison.ts";
import { type OnBlock, Runs } from "../../src/verify/runs.ts";
import { type VerifyOptions, verify } from "../../src/verify/verify.ts";
import { pickCells, range } from "../conformance/awkward_panels.ts";

const example = (name: string) => fileURLToPath(new URL(`../../examples/data/${name}`, import.meta.url));
const [ROWS, LANES] = [90, 5];
/** Passes that find nothing to do in `EVERY_AXIS`. */
const IDLE_PASSES = [
  "fold_constants",
  "simplify_algebra",
  "canonical_order",
  "remove_dead_tasks",
  "split_nodes",
];

let panel: Panel;
beforeAll(async () => {
  const whole = await readPanel(example("sp100_daily.csv.gz"), { groups: example("sp100_sectors.csv") });
  panel = pickCells(whole, range(ROWS), range(LANES));
});

async function verifyText(text: string, operators: readonly Operator[] = [], options: VerifyOptions = {}) {
  const names = { fields: [...panel.fields.keys()], groups: [...panel.groups.keys()] };
  const programWithout = (passes: readonly string[]) =>
    compile(text, { ...names, operators, disabledPasses: [...passes] });
  return await verify({ programWithout, source: panelSource(panel) }, { threads: 2, ...options });
}

type Verification = Awaited<ReturnType<typeof verifyText>>;

/** By check the factors that differ. */
const brokenOf = ({ checks }: Verification) =>
  checks.flatMap(({ name, differences }) =>
    differences.length > 0 ? [[name, differences.map((factor) => factor.name)]] : [],
  );

/** Checks that would be the usual run once more. */
const asUsual = ({ checks }: Verification) =>
  checks.flatMap(({ name, isAsUsual }) => (isAsUsual ? [name] : []));

const cellCounts = ({ checks }: Verification) =>
  Object.fromEntries(checks.map(({ name, cellCount }) => [name, cellCount]));

/** Operators of every axis, params and conditions. */
const EVERY_AXIS = `
  param k = 2
  param session = "close"
  spread = (high - low) / close * k
  slow = ts_mean(close, 20) - ts_rank(volume, 10)
  smooth = ema(close, 12) + cum_sum(volume)
  ranked = rank(correlation(close, volume, 9))
  neutral = indneutralize(close / delay(close, 1), sector)
  closing = delta(close, 1) when session == "close"
  opening = delta(open, 1) when session == "open"
  deep = ts_mean(close, ${2 * ROWS})`;

const x = { name: "x", kind: "series" } as const;
const facts = {
  result: "series",
  unit: "other",
  nulls: "Null where an argument is null.",
  source: "made for a test",
  costNs: () => 1,
  nullWhere: {},
  examples: [{ formula: "x", inputs: { x: [1] }, output: [1] }],
} as const;

const third = defineOperator({
  ...facts,
  name: "third",
  axis: "elementwise",
  parameters: [x],
  summary: "A third, but its code multiplies.",
  reference: (a) => a / 3,
  lower: (on, a) => on.mul(a, on.number(1 / 3)),
});

const change = defineOperator({
  ...facts,
  name: "change",
  axis: "elementwise",
  parameters: [x, { name: "y", kind: "series" }],
  laws: ["commutative"],
  summary: "Difference, which is not commutative.",
  nullWhere: { infinite_input: (a, b) => Number.isNaN(a - b) },
  reference: (a, b) => a - b,
});

const dice = defineOperator({
  ...facts,
  name: "dice",
  axis: "elementwise",
  parameters: [x],
  summary: "Anything.",
  reference: (a) => a * Math.random(),
});

describe("verify", () => {
  test("finds every promise kept for operators of every axis", async () => {
    const seen = new Map<string, number>();
    const onProgress = (what: string, share: number) => seen.set(what, share);
    const found = await verifyText(EVERY_AXIS, [], { onProgress });
    expect(found).toMatchObject({ holds: true, rowCount: ROWS * LANES, factorsNotWanted: ["opening"] });
    expect(brokenOf(found)).toEqual([]);
    const all = 7 * ROWS * LANES;
    // Lookbacks are 0, 19, none, 8, 1 and 1 row; the latest start leaves (90 - 19) / 2 rows out.
    // Two threads, blocks of 64 rows and passes that find nothing to do make the usual plan.
    const ofPass = (name: string) => (IDLE_PASSES.includes(name) ? 0 : all);
    const later = (start: number) => (5 * (ROWS - start) - 29) * LANES;
    expect(cellCounts(found)).toEqual({
      "operators by their references": all,
      "each of 7 factors alone": all,
      "blocks of 1 row": all,
      "blocks of 7 rows": all,
      "blocks of 64 rows": 0,
      "one block of 90 rows": all,
      "1 thread": all,
      "2 threads": 0,
      ...Object.fromEntries(COMPILER_PASS_NAMES.map((name) => [`no ${name}`, ofPass(name)])),
      "no pass at all": all,
      "continue from a checkpoint after 45 rows": all,
      "history without its first row (5 of 7 factors)": later(1),
      "history without its first 35 rows (5 of 7 factors)": later(35),
    });
    expect(asUsual(found)).toEqual([
      "blocks of 64 rows",
      "2 threads",
      ...COMPILER_PASS_NAMES.filter((name) => IDLE_PASSES.includes(name)).map((name) => `no ${name}`),
    ]);
    expect(found.factorsWithoutValue).toEqual(["deep"]);
    expect([...seen.keys()]).toEqual(["the usual run", ...found.checks.map(({ name }) => name)]);
    expect(new Set(seen.values())).toEqual(new Set([1]));
  });

  test("compares the rows of the range, and only the selected factors", async () => {
    const found = await verifyText(EVERY_AXIS, [], {
      select: ["slow", "smooth"],
      from: "1970-01-21",
      to: "1970-03-01",
    });
    expect(found).toMatchObject({ holds: true, factors: ["slow", "smooth"], rowCount: 40 * LANES });
    expect(cellCounts(found)).toMatchObject({
      "each of 2 factors alone": 80 * LANES,
      "blocks of 7 rows": 80 * LANES,
      "one block of 60 rows": 0,
      "history without its first row (1 of 2 factors)": 40 * LANES,
      "history without its first 20 rows (1 of 2 factors)": 21 * LANES,
    });
  });

  test("finds code that does not give the bits of the reference, and names the factor", async () => {
    const found = await verifyText("a = third(close)\nb = close", [third]);
    expect(found.holds).toBe(false);
    expect(brokenOf(found)).toEqual([["operators by their references", ["a"]]]);
    const [difference] = found.checks[0]?.differences ?? [];
    expect(difference).toMatchObject({ name: "a", ulpMax: 1, nullCount: 0, infiniteCount: 0 });
    expect(difference?.relativeMax).toBeLessThanOrEqual(Number.EPSILON);
    const { time, symbol, a: usual, b: other } = difference!.first;
    const row = panel.time.values.indexOf(BigInt(Date.parse(time) / 86_400_000));
    const close = panel.fields.get("close")![row * LANES + panel.symbols.indexOf(symbol)]!;
    expect({ usual, other }).toEqual({ usual: close * (1 / 3), other: close / 3 });
  });

  test("finds a pass that relies on a law that does not hold", async () => {
    const found = await verifyText("a = change(open, close)\nb = change(close, open)", [change]);
    expect(brokenOf(found)).toEqual([
      // Without sharing, fields are not the same task in both, and the order of operands is that of the text.
      ["no share_subexpressions", ["b"]],
      ["no canonical_order", ["b"]],
      ["no pass at all", ["b"]],
    ]);
  });

  test("finds an operator that gives something else each time, in every check that runs it otherwise", async () => {
    const found = await verifyText("a = dice(close)\nb = close", [dice]);
    const own = found.checks.filter(({ isAsUsual }) => !isAsUsual);
    expect(brokenOf(found)).toEqual(own.map(({ name }) => [name, ["a"]]));
    // It has no code beside its reference.
    expect(asUsual(found)).toContain("operators by their references");
    expect(own.length).toBeGreaterThan(8);
  });

  test("holds over nothing where no factor has a value", async () => {
    const deep = (days: number) => `ts_mean(close, ${days})`;
    const none = await verifyText(`a = ${deep(ROWS + 1)}\nb = ${deep(ROWS + 2)}`);
    expect(none).toMatchObject({ holds: null, factorsWithoutValue: ["a", "b"] });
    expect(brokenOf(none)).toEqual([]);
    const some = await verifyText(`a = ${deep(ROWS)}\nb = ${deep(ROWS + 2)}`);
    expect(some).toMatchObject({ holds: true, factorsWithoutValue: ["b"] });
  });

  describe("finds a run that leaves something out", () => {
    const run = Runs.prototype.run;
    afterEach(() => vi.restoreAllMocks());

    /** What is found where every run in blocks of 7 rows hands its blocks over like this. */
    async function harmed(handOver: (block: FactorBlock, firstRow: number, take: OnBlock) => void) {
      vi.spyOn(Runs.prototype, "run").mockImplementation(function (this: Runs, variation, take, onProgress) {
        const taken: OnBlock = (block, row) => handOver(block, row, take);
        return run.call(this, variation, variation.blockRows === 7 ? taken : take, onProgress);
      });
      const found = await verifyText("a = rank(close)\nb = ema(close, 3)");
      const broken = found.checks.filter(isBroken);
      return { holds: found.holds, broken: broken.map(({ elapsedMs: _, isAsUsual: __, ...check }) => check) };
    }

    const name = "blocks of 7 rows";
    const nothing = { name, differences: [], miscounts: [], otherTimeCount: 0, otherPresenceCount: 0 };
    const [all, missing] = [ROWS * LANES, 7 * LANES];
    const miscount = (factor: string, cellCount: number) => {
      return { name: factor, cellCount, expectedCount: all };
    };

    test("a control: nothing", async () => {
      const found = await harmed((block, row, take) => take(block, row));
      expect(found).toEqual({ holds: true, broken: [] });
    });

    test("a block", async () => {
      const found = await harmed((block, row, take) => {
        if (row !== 14) take(block, row);
      });
      const miscounts = [miscount("a", all - missing), miscount("b", all - missing)];
      expect(found).toEqual({
        holds: false,
        broken: [{ ...nothing, cellCount: 2 * (all - missing), miscounts }],
      });
    });

    test("a factor", async () => {
      const found = await harmed((block, row, take) => {
        const columns = new Map([...block.columns].filter(([factor]) => factor !== "b"));
        take({ ...block, columns }, row);
      });
      expect(found).toEqual({
        holds: false,
        broken: [{ ...nothing, cellCount: all, miscounts: [miscount("b", 0)] }],
      });
    });

    test("a symbol, or a time", async () => {
      const found = await harmed((block, row, take) => {
        const [present, times] = [block.present.slice(), block.times.slice()];
        if (row === 21) present[3] = 0;
        if (row === 28) times[2]! += 1n;
        take({ ...block, present, times }, row);
      });
      const miscounts = [miscount("a", all - 1 - LANES), miscount("b", all - 1 - LANES)];
      const cellCount = 2 * (all - 1 - LANES);
      expect(found).toEqual({
        holds: false,
        broken: [{ ...nothing, cellCount, miscounts, otherTimeCount: 1, otherPresenceCount: 1 }],
      });
    });
  });

  test("takes smaller blocks where all rows at a time do not fit", async () => {
    const factors = range(40).map((i) => `f${i} = ts_mean(close * ${i + 2}, ${i + 2})`);
    const text = factors.join("\n");
    const refusal = verifyText(text, [], { memoryLimitBytes: 2 ** 16 });
    await expect(refusal).rejects.toThrow(
      /^E401 the evaluation needs .*columns .*values to compare .*\n {2}raise --memory-limit, or verify fewer factors \(--select\)/,
    );
    vi.stubEnv("FACTORLOOM_MEMORY_REFUSE", "0");
    const found = await verifyText(text, [], { memoryLimitBytes: 2 ** 19 });
    vi.unstubAllEnvs();
    expect(found.holds).toBe(true);
    const names = found.checks.map(({ name }) => name);
    expect(names).toContainEqual(expect.stringMatching(/^blocks of \d+ rows: 90 do not fit$/));
    expect(names).not.toContain("one block of 90 rows");
  });

  test("refuses params with which no factor is wanted", async () => {
    const options = { select: ["opening"] };
    await expect(verifyText(EVERY_AXIS, [], options)).rejects.toThrow("E561 no factor is wanted");
  });
});
