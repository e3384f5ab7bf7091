import { join } from "node:path";
import { type Table, tableToIPC } from "apache-arrow";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  compile,
  Engine,
  type EvaluateManyOptions,
  type Panel,
  type ParamValue,
  type Program,
  panelSource,
  readPanel,
  UsageError,
} from "../../src/index.ts";
import { panelOf } from "../panels.ts";
import { trials } from "../support/trials.ts";

const data = (name: string) => join(import.meta.dirname, "../../examples/data", name);

let engine: Engine;
let bars: Panel;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
  const all = await readPanel(data("sp100_daily.csv.gz"), { groups: data("sp100_sectors.csv") });
  bars = lastRows(all, 420);
});
afterAll(() => engine.close());

/** The last rows of a panel whose groups do not change. */
function lastRows(panel: Panel, rowCount: number): Panel {
  const rows = panel.time.values.slice(-rowCount);
  const cells = rowCount * panel.laneCount;
  const fields = [...panel.fields].map(([name, values]) => [name, values.subarray(-cells)] as const);
  return {
    ...panel,
    rowCount,
    time: { ...panel.time, values: rows },
    fields: new Map(fields),
    present: panel.present.subarray(-cells),
  };
}

type Params = Readonly<Record<string, ParamValue>>;

/** Everything of a table: schema, counts, batches, values and nulls to the last bit. */
const bytesOf = (table: Table) => Buffer.from(tableToIPC(table, "file"));

async function expectSameAsAlone(
  program: Program,
  panel: Panel,
  sets: readonly (Params | undefined)[],
  options: EvaluateManyOptions = {},
): Promise<void> {
  const calls = sets.map((params) => (params ? { params } : {}));
  // Of a source that is no panel, all that is known are its blocks.
  const [inMemory, elsewhere] = [panelSource(panel), { ...panelSource(panel) }];
  const tables = await Array.fromAsync(engine.evaluateMany(program, inMemory, calls, options));
  const others = await Array.fromAsync(engine.evaluateMany(program, elsewhere, calls, options));
  expect([tables.length, others.length]).toEqual([sets.length, sets.length]);
  for (const [index, params] of sets.entries()) {
    const call = { ...options, ...(params && { params }) };
    const alone = bytesOf((await engine.evaluate(program, panel, call)).table);
    const same = [tables[index]!, others[index]!, (await engine.evaluate(program, elsewhere, call)).table];
    expect(
      same.map((table) => bytesOf(table).equals(alone)),
      `calls[${index}]`,
    ).toEqual([true, true, true]);
  }
}

const TEXT = `
  param k = 2
  param lambda = 0.94
  param session = "open"
  param minute = 0
  param isLate = false
  shared = rank(ts_corr(close, volume, 10))
  scaled = ts_mean(close, 5) * k
  powered = signed_power(rank(close) - 0.5, k)
  smooth = ema(lambda * close + (1 - lambda) * delay(close, 1), 10)
  number = k
  computed = log(k) * 2 + lambda
  summed = ts_sum(k, 4) + rank(lambda)
  divided = (close - delay(close, 1)) / k
  when session == "close" { closing = group_neutralize(close * k, sector) }
  when minute % 5 == 0 && session != "auction" {
    five = ts_std(divided, 5)
    when minute > 5 || isLate { late = five * 2 - shared }
  }`;

const values = { k: [0, -0, 1, 2, 3, 0.5, -1, 1e300, Infinity, Number.NaN], lambda: [0, 0.5, 0.94, 1] };
const paramSets = fc.record(
  {
    k: fc.constantFrom(...values.k),
    lambda: fc.constantFrom(...values.lambda),
    session: fc.constantFrom("open", "close", "auction"),
    minute: fc.nat(12),
    isLate: fc.boolean(),
  },
  { requiredKeys: [] },
);
const optionSets = fc.record(
  {
    select: fc.subarray(["shared", "computed", "closing", "five", "late", "divided"], { minLength: 1 }),
    from: fc.constantFrom("2016-11-03", "2017-01-01"),
    to: fc.constantFrom("2017-01-31", "2017-06-01"),
    keepInfinite: fc.boolean(),
    restarts: fc.constantFrom(["2016-12-12", "2017-01-10", "2017-03-01"]),
    blockRows: fc.constantFrom(7, 64, 500),
  },
  { requiredKeys: ["from"] },
);

describe("many calls at once", () => {
  test("give the tables of each call by itself, to the last bit", { timeout: 120_000 }, async () => {
    const program = compile(TEXT);
    const sets = fc.array(paramSets, { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(sets, optionSets, async (drawn, options) => {
        await expectSameAsAlone(program, bars, drawn as Params[], options);
      }),
      { numRuns: trials(2, 20) },
    );
  });

  test.each([["share_subexpressions"], ["canonical_order"]])("also without the pass %s", async (pass) => {
    const program = compile(TEXT, { disabledPasses: [pass] });
    const sets = [{ k: 3, session: "close" }, {}, { k: 3, session: "close" }];
    await expectSameAsAlone(program, bars, sets, { from: "2017-06-01" });
  });

  test("by the references, too", async () => {
    const small = panelOf({
      close: [
        [1, 2],
        [4, null],
        [9, 1],
      ],
      volume: [
        [1, 2],
        [2, 2],
        [5, 1],
      ],
    }); // prettier-ignore
    const program = compile("param k = 1\na = close * k\nb = ts_sum(k, 2) / volume", {
      fields: ["close", "volume"],
    });
    await expectSameAsAlone(program, small, [{ k: 3 }, { k: -0 }], { kernel: "reference" });
  });

  test("compute once what they share", async () => {
    const program = compile(
      `param k = 1
       a = rank(ts_corr(close, volume, 10)) + ts_mean(close, 20)
       b = rank(ts_std(volume, 5))
       c = rank(open * k)`,
    );
    const calls = Array.from({ length: 10 }, (_, k) => ({ params: { k } }));
    const many = engine.evaluateMany(program, bars, [...calls, ...calls], { from: "2018-01-01" });
    for await (const _ of many);
    // Shared: ts_corr, rank, ts_mean, +, ts_std, rank. For each value of k: * and rank.
    expect(many.report).toEqual({
      tableCount: 20,
      passCount: 1,
      taskCount: 6 + 2 * 10,
      separateTaskCount: 8 * 20,
    });
  });

  test("none gives none", async () => {
    await expectSameAsAlone(compile(TEXT), bars, []);
  });

  test("of which none wants a factor, or over no rows, are null or empty", async () => {
    const program = compile(TEXT);
    await expectSameAsAlone(program, bars, [{}, { minute: 1 }], { select: ["closing"], from: "2018-01-01" });
    const empty = panelOf({ close: [], volume: [], sector: [] });
    const plain = compile("param k = 1\nx = close * k", { fields: ["close"] });
    await expectSameAsAlone(plain, empty, [{ k: 2 }, {}]);
    await expectSameAsAlone(plain, { ...empty, laneCount: 0, symbols: [] }, [{ k: 2 }, {}]);
  });

  test("leave out what the input lacks", async () => {
    const panel = panelOf({ close: Array.from({ length: 9 }, (_, row) => [row, row * 2, -row]) });
    const present = panel.present.map((_, cell) => (cell % 4 === 0 || cell < 6 ? 0 : 1));
    const program = compile("param k = 1\nx = ts_sum(close, 2) * k", { fields: ["close"] });
    await expectSameAsAlone(program, { ...panel, present }, [{ k: 2 }, { k: 3 }], { blockRows: 2 });
  });

  test("tell how far they have come, in rows", async () => {
    const program = compile("param k = 1\nx = close * k");
    const reports: string[] = [];
    const onProgress = (done: number, count: number) => reports.push(`${done}/${count}`);
    const options = { blockRows: 500, onProgress };
    await Array.fromAsync(engine.evaluateMany(program, bars, [{}, { params: { k: 2 } }], options));
    const many = reports.splice(0);
    await engine.evaluate(program, bars, options);
    expect(many).toEqual(reports);
  });
});

describe("wrong calls", () => {
  const program = compile("param k = 1\nparam free\nx = close * k\ny = close + free");
  const first = (calls: readonly { params?: Params }[], options: EvaluateManyOptions = {}) =>
    engine.evaluateMany(program, bars, calls, options).next();

  test.each<[Params, string]>([
    [{ free: 1, q: 1 }, "E506 calls[1]: unknown param q"],
    [{ free: 1, k: "two" }, "E528 calls[1]: param k is a number, got a text"],
    [{}, "E555 calls[1]: param free has no value"],
  ])("name the call with params %j before anything is computed", async (params, message) => {
    let rows = 0;
    const onProgress = () => void rows++;
    const taken = first([{ params: { free: 1 } }, { params }], { onProgress });
    await expect(taken).rejects.toThrow(UsageError);
    await expect(first([{ params: { free: 1 } }, { params }])).rejects.toThrow(message);
    expect(rows).toBe(0);
  });

  test("options that are not known are refused, with the call that they are of", async () => {
    const wrong = [{ params: { free: 1 } }, { k: 2 }] as { params?: Params }[];
    await expect(first(wrong)).rejects.toThrow(
      "E527 calls[1]: unknown option k of a call\n  options of a call: params",
    );
    await expect(first([null as unknown as object])).rejects.toThrow("E528 calls[0]: a call takes an object");
    await expect(first([], { form: "2018-01-01" } as EvaluateManyOptions)).rejects.toThrow(
      "E527 unknown option form of evaluateMany\n  did you mean from?",
    );
    await expect(first([], { params: {} } as EvaluateManyOptions)).rejects.toThrow(
      "E527 many calls at once take no params\n  give each call its own",
    );
  });

  test("options that hold for all name no call", async () => {
    const calls = [{ params: { free: 1 } }];
    await expect(first(calls, { select: ["z"] })).rejects.toThrow(/^E506 no factor z/);
    await expect(first(calls, { blockRows: 0 })).rejects.toThrow(/^E528 blocks of 0 rows/);
    await expect(first(calls, { paramsByTime: "x.csv" } as EvaluateManyOptions)).rejects.toThrow(
      "E527 many calls at once take no paramsByTime",
    );
    const lacking = engine.evaluateMany(program, { ...bars, fields: new Map() }, calls);
    await expect(lacking.next()).rejects.toThrow(/^E350 the panel has no field close/);
  });
});
