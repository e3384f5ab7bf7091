import type { Table } from "apache-arrow";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compile, type Program } from "../../src/compile.ts";
import { panelSource } from "../../src/data/panel/panel_source.ts";
import { Engine } from "../../src/engine.ts";
import { FormulaError } from "../../src/errors.ts";
import type { EvaluateOptions } from "../../src/evaluation/options.ts";
import { RESTARTS } from "../../src/evaluation/options.ts";
import { RestartFinder } from "../../src/evaluation/restarts.ts";
import type { Panel } from "../../src/panel.ts";
import { verify } from "../../src/verify/verify.ts";
import { FIELDS, GROUPS } from "../conformance/awkward_panels.ts";
import { randomFormulas } from "../fuzz/random_formulas.ts";
import { bitsOf } from "../support/bits.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { panelWithGaps, pick } from "./panels_with_gaps.ts";

/** Where history begins again, results are those of each stretch evaluated by itself. */

const ROWS = 40;
const LANES = 7;
const TRIALS = trials(6, 200);
const random = new Seeded();
const keepInfinite = true;

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
});
afterAll(async () => await engine.close());

const USUAL = [
  "ts_mean(x, 5)",
  "ema(x, 3)",
  "delay(x, 2)",
  "rank(ts_sum(x, 4))",
  "when(p > 0.5, ts_max(x, 3), x)",
];

function programOf(formulas: readonly string[]): Program {
  const lines = formulas.map((formula, index) => `f${index} = ${formula}`);
  return compile(["param p = 0.94", ...lines].join("\n"), { fields: FIELDS, groups: GROUPS });
}

/** Some of the usual formulas, and random ones. */
function randomProgram(): Program {
  const found: string[] = [];
  for (let seed = random.below(2 ** 31); found.length < 4; seed++) {
    for (const formula of fc.sample(randomFormulas, { seed, numRuns: 4 })) {
      try {
        programOf([formula]);
        found.push(formula);
      } catch (error) {
        if (!(error instanceof FormulaError)) throw error;
      }
    }
  }
  return programOf([...USUAL.filter(accepts), ...found.slice(0, 4)]);
}

function accepts(formula: string): boolean {
  try {
    return programOf([formula]) !== null;
  } catch {
    return false;
  }
}

/** A panel of bars of half an hour, and its stretches: from a list of times, or from sessions. */
function randomCase(): {
  panel: Panel;
  restarts: NonNullable<EvaluateOptions["restarts"]>;
  starts: number[];
} {
  const { time: _, ...rest } = panelWithGaps(random, ROWS, LANES);
  const halfHour = 1_800_000n;
  const begin = 86_400_000n * 19_000n + halfHour * BigInt(random.below(48));
  const values = BigInt64Array.from({ length: ROWS }, (_, row) => begin + halfHour * BigInt(row));
  const panel = {
    ...rest,
    time: { name: "time", type: { kind: "timestamp", unit: "ms", timezone: null }, values },
  } as Panel;
  if (random.below(2) === 0) {
    const starts = [...new Set(Array.from({ length: random.below(6) }, () => random.below(ROWS)))];
    const restarts = starts.map((row) => {
      // A time between two rows stands for the later one.
      const date = new Date(Number(values[row]!) - random.below(2) * 1_000);
      return random.below(2) === 0 ? date : date.toISOString().slice(0, -1).replace("T", " ");
    });
    return { panel, restarts, starts: starts.filter((row) => row > 0).sort((a, b) => a - b) };
  }
  const starts = [...values.keys()].filter((row) => {
    const minutes = Number((values[row]! / 60_000n) % 1_440n);
    return row > 0 && [0, 570, 780].includes(minutes);
  });
  return {
    panel,
    restarts: {
      sessions: [
        ["09:30", "12:00"],
        ["13:00", "16:00"],
      ],
    },
    starts,
  };
}

const lanes = Array.from({ length: LANES }, (_, lane) => lane);

test(`values, nulls, their reasons and differences are those of each stretch by itself, SEED=${random.seed}`, async () => {
  const counts = { stretches: 0, cells: 0, nulls: 0 };
  for (let trial = 0; trial < TRIALS; trial++) {
    const { panel, restarts, starts } = randomCase();
    const program = randomProgram();
    const names = program.factors.map(({ name }) => name);
    const bounds = [0, ...starts, ROWS];
    const stretches = bounds.slice(0, -1).map((first, i) => pick(panel, first, bounds[i + 1]!, lanes));
    const columnsOf = (tables: readonly { readonly table: Table }[]) =>
      names.map((name) =>
        bitsOf(tables.flatMap(({ table }) => [...(table.getChild(name)!.toArray() as Float64Array)])),
      );
    const wanted = columnsOf(
      await Promise.all(stretches.map((one) => engine.evaluate(program, one, { keepInfinite }))),
    );
    const options = { restarts, keepInfinite, blockRows: 1 + random.below(12) };
    const { table } = await engine.evaluate(program, panel, options);
    const what = `SEED=${random.seed} trial ${trial}`;
    expect(columnsOf([{ table }]), what).toEqual(wanted);
    const [first] = await Array.fromAsync(engine.evaluateMany(program, panel, [{}], options));
    expect(columnsOf([{ table: first! }]), what).toEqual(wanted);
    const stream = await engine.openStream(program, panelSource(panel), options);
    expect(stream.restartRows, what).toEqual(starts);
    await stream.close();
    const from = new Date(Number(panel.time.values[random.below(ROWS)]!));
    const { table: later } = await engine.evaluate(program, panel, { ...options, from });
    expect(columnsOf([{ table: later }]), what).toEqual(wanted.map((bits) => bits.slice(-later.numRows)));

    const nulls = await engine.nulls(program, panel, { restarts, keepInfinite });
    const each = await Promise.all(stretches.map((one) => engine.nulls(program, one, { keepInfinite })));
    for (const [index, { factor, causes, nullCount }] of nulls.factors.entries()) {
      const sums = new Map<string, number>();
      for (const { cause, cellCount } of each.flatMap(({ factors }) => factors[index]!.causes))
        sums.set(cause, (sums.get(cause) ?? 0) + cellCount);
      expect(new Map(causes.map(({ cause, cellCount }) => [cause, cellCount])), `${what} ${factor}`).toEqual(
        sums,
      );
      counts.nulls += nullCount;
    }
    const cell = { factor: names[random.below(names.length)]!, symbol: panel.symbols[random.below(LANES)]! };
    const reasons = await engine.whyRows(program, panel, { ...cell, restarts, keepInfinite });
    const alone = await Promise.all(
      stretches.map((one) => engine.whyRows(program, one, { ...cell, keepInfinite })),
    );
    expect(reasons, what).toEqual(alone.flat());

    const other = programOf(["ts_mean(x, 4)", ...names.slice(1).map(() => "x")]);
    const whole = await engine.diff(program, other, panel, { restarts, keepInfinite });
    const parts = await Promise.all(
      stretches.map((one) => engine.diff(program, other, one, { keepInfinite })),
    );
    for (const { name, cellCount, origins } of whole.differences) {
      const found = parts.flatMap(({ differences }) => differences.filter((one) => one.name === name));
      expect(cellCount, `${what} ${name}`).toBe(found.reduce((sum, one) => sum + one.cellCount, 0));
      const ofOrigins = (all: typeof origins) => (all ?? []).reduce((sum, one) => sum + one.cellCount, 0);
      expect(ofOrigins(origins), `${what} ${name}`).toBe(
        found.reduce((sum, one) => sum + ofOrigins(one.origins), 0),
      );
    }
    counts.stretches += stretches.length;
    counts.cells += names.length * ROWS * LANES;
  }
  console.info(`restarts, SEED=${random.seed}:`, counts);
  expect(counts.stretches).toBeGreaterThan(TRIALS);
}, 600_000);

test("rows of a part begin as those of the whole", async () => {
  const { panel, restarts } = randomCase();
  const program = programOf(["ts_mean(x, 3)", "ema(x, 2)"]);
  const stream = await engine.openStream(program, panelSource(panel), { restarts });
  const columns = async (blocks: AsyncIterable<{ columns: ReadonlyMap<string, Float64Array | null> }>) => {
    const values: number[][] = [[], []];
    for await (const block of blocks)
      for (const [index, column] of [...block.columns.values()].entries()) values[index]!.push(...column!);
    return values.map(bitsOf);
  };
  const all = await columns(stream.rows({ start: 0, first: 0, end: ROWS }));
  const late = await columns(stream.rows({ start: 0, first: 11, end: ROWS }));
  expect(late).toEqual(all.map((bits) => bits.slice(11 * LANES)));
  await stream.close();
});

test("verify holds with restarts", async () => {
  const { panel, restarts } = randomCase();
  const source = panelSource(panel);
  const text = "a = ts_mean(x, 3)\nb = ema(x, 2)";
  const programWithout = (disabledPasses: readonly string[]) =>
    compile(text, { fields: FIELDS, groups: GROUPS, disabledPasses });
  const { holds } = await verify({ programWithout, source }, { restarts, threads: 2 });
  expect(holds).toBe(true);
});

test.each([
  [["2024-01-02", 3], "E541 a restart is 3, a number; the times of the data are each a date (YYYY-MM-DD)"],
  [["x"], 'E541 "x" is not a date (YYYY-MM-DD)'],
  [{}, "E528 the option sessions takes pairs of times of the day in order, got undefined"],
  [{ sessions: [] }, "E528 the option sessions takes pairs of times of the day in order, got an array"],
  [{ sessions: [["09:30"]] }, "E528 the option sessions takes"],
  [{ sessions: [["16:00", "09:30"]] }, "E528 the option sessions takes"],
  [{ sessions: [["09:30", "24:00"]] }, "E528 the option sessions takes"],
  [
    { sessions: [["09:30", "16:00"]], timezone: "Mars" },
    "E528 the option timezone takes a time zone, got a string",
  ],
  [{ sessions: [["09:30", "16:00"]], zone: "UTC" }, "E527 unknown option zone of restarts"],
  [
    { sessions: [["09:30", "16:00"]] },
    "E541 restarts at sessions need times of day; the times of the data are each a date (YYYY-MM-DD)",
  ],
] as const)("refuses %j", async (restarts, message) => {
  const time = { name: "date", type: { kind: "date" } as const, values: new BigInt64Array(1) };
  const refused = Promise.try(() => {
    RESTARTS.fits(restarts);
    return RestartFinder.of(time, 1, { restarts: restarts as never });
  });
  await expect(refused).rejects.toThrow(message);
});
