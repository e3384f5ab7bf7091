import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { panelSource } from "../../src/data/panel/panel_source.ts";
import {
  compile,
  DataError,
  Engine,
  type EngineOptions,
  type EvaluateOptions,
  type Panel,
  ResourceError,
  UsageError,
} from "../../src/index.ts";
import { panelOf } from "../panels.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
});
afterAll(() => engine.close());

const bars = panelOf({
  close: [
    [1, 10],
    [2, null],
    [4, 30],
    [8, 20],
  ],
  volume: [
    [5, 5],
    [6, 6],
    [7, 7],
    [8, 8],
  ],
  sector: [
    ["a", "a"],
    ["a", "a"],
    ["a", "b"],
    ["a", null],
  ],
});

async function evaluate(text: string, options: EvaluateOptions = {}, panel: Panel = bars) {
  const program = compile(text, { fields: [...panel.fields.keys()], groups: [...panel.groups.keys()] });
  const { table } = await engine.evaluate(program, panel, options);
  return Object.fromEntries(
    table.schema.names.map((name) => [name, [...(table.getChild(String(name)) ?? [])]]),
  );
}

describe("evaluation", () => {
  test("gives time, symbol and factors, sorted by time then symbol", async () => {
    const { date, symbol, x } = await evaluate("x = close - delay(close, 1)");
    expect(date?.map((time) => Number(time) / 86_400_000)).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
    expect(symbol).toEqual(["L0", "L1", "L0", "L1", "L0", "L1", "L0", "L1"]);
    expect(x).toEqual([null, null, 1, null, 2, null, 4, -10]);
  });

  test("a factor may be a field, a number, a param, or another factor", async () => {
    const text = "param k = 3\na = close\nb = 2\nc = k\nd = a\ne = b + c";
    expect(await evaluate(text, { params: { k: 5 }, from: "1970-01-04" })).toMatchObject({
      a: [8, 20],
      b: [2, 2],
      c: [5, 5],
      d: [8, 20],
      e: [7, 7],
    });
  });

  test("from and to trim the output, not the history", async () => {
    const { x } = await evaluate("x = ts_sum(volume, 3)", { from: "1970-01-03", to: "1970-01-03" });
    expect(x).toEqual([18, 18]);
  });

  test("from and to may be dates: a day in UTC where times are dates", async () => {
    const [from, to] = [new Date("1970-01-02T15:00:00Z"), new Date("1970-01-03")];
    expect((await evaluate("x = volume", { from, to })).x).toEqual([6, 6, 7, 7]);
  });

  test.each<["s" | "ms" | "us" | "ns", bigint]>([
    ["s", 1n],
    ["ms", 1_000n],
    ["us", 1_000_000n],
    ["ns", 1_000_000_000n],
  ])("from and to may be dates: instants where times are timestamps in %s", async (unit, perSecond) => {
    const values = BigInt64Array.of(10n * perSecond, 11n * perSecond, 12n * perSecond, 13n * perSecond);
    for (const timezone of [null, "UTC", "America/New_York"]) {
      const time = { name: "time", type: { kind: "timestamp", unit, timezone }, values } as const;
      const taken = async (from: number, to: number) =>
        (await evaluate("x = volume", { from: new Date(from), to: new Date(to) }, { ...bars, time })).x;
      expect(await taken(11_000, 12_000)).toEqual([6, 6, 7, 7]);
      expect(await taken(10_001, 12_999)).toEqual([6, 6, 7, 7]);
    }
  });

  test("from and to that are neither text nor a date are refused", async () => {
    const wrong = (options: object, panel?: Panel) => expect(evaluate("x = volume", options, panel)).rejects;
    await wrong({ from: 20170101 }).toThrow(
      /^E541 from is 20170101, a number; the times of the data are each a date \(YYYY-MM-DD\)\n {2}give a text .*or a Date$/,
    );
    await wrong({ to: new Date("nonsense") }).toThrow("E541 to is an invalid Date;");
    const time = { ...bars.time, type: { kind: "integer", bits: 64 } } as const;
    await wrong({ to: new Date(2) }, { ...bars, time }).toThrow(
      'E541 to is a Date; the times of the data are each an integer of 64 bits\n  give a text, e.g. "42"',
    );
    await wrong({ from: 2 }, { ...bars, time }).toThrow("E541 from is 2, a number;");
    await wrong({ from: null }).toThrow(UsageError);
  });

  test("options that are not known are refused", async () => {
    const program = compile("x = volume");
    const wrong = { form: "1970-01-03" } as EvaluateOptions;
    const message = "unknown option form of";
    await expect(engine.evaluate(program, bars, wrong)).rejects.toThrow(
      `E527 ${message} evaluate\n  did you mean from?`,
    );
    await expect(engine.evaluate(program, bars, wrong)).rejects.toThrow(`E527 ${message} evaluate`);
    await expect(engine.stream(program, bars, wrong).next()).rejects.toThrow(`E527 ${message} stream`);
    await expect(engine.openStream(program, panelSource(bars), wrong)).rejects.toThrow(
      `E527 ${message} stream`,
    );
    await expect(Engine.start({ thread: 1 } as EngineOptions)).rejects.toThrow(
      "E527 unknown option thread of Engine.start\n  did you mean threads?",
    );
  });

  test("infinities become null unless they are kept", async () => {
    expect((await evaluate("x = close / (volume - 5)")).x).toEqual([
      null,
      null,
      2,
      null,
      2,
      15,
      8 / 3,
      20 / 3,
    ]);
    expect((await evaluate("x = close / (volume - 5)", { keepInfinite: true })).x?.slice(0, 2)).toEqual([
      Infinity,
      Infinity,
    ]);
  });

  test("groups that change over time are taken as of each row", async () => {
    const { x } = await evaluate("x = group_neutralize(volume + close, sector)");
    expect(x).toEqual([-4.5, 4.5, 0, null, 0, 0, 0, null]);
  });

  test("a window longer than the history is null throughout", async () => {
    expect((await evaluate("x = ts_mean(volume, 60000)")).x).toEqual(new Array(8).fill(null));
  });

  test("one lane, one row, and a panel without rows", async () => {
    const single = panelOf({ close: [[7]] });
    expect((await evaluate("x = rank(close)\ny = ts_std(close, 2)", {}, single)).x).toEqual([1]);
    const empty = panelOf({ close: [] });
    expect((await evaluate("x = rank(close) + ts_mean(close, 3)", {}, empty)).x).toEqual([]);
  });
});

describe("conditions and params", () => {
  const text = `
    param session = "open"
    param minute = 0
    always = close
    when session == "close" { closing = rank(close) }
    when minute % 5 == 0 && session != "auction" {
      five = ts_mean(close, 2)
      when minute > 5 { late = five * 2 }
    }`;

  test.each([
    [{}, ["closing", "late"]],
    [{ session: "close", minute: 3 }, ["five", "late"]],
    [{ session: "auction", minute: 10 }, ["closing", "five", "late"]],
    [{ session: "close", minute: 10 }, []],
  ])("params %j leave out %j", async (params, unwanted) => {
    const program = compile(text, { fields: ["close"], groups: [] });
    const { table, report } = await engine.evaluate(program, bars, { params });
    expect(report.unwantedFactors).toEqual(unwanted);
    for (const name of ["always", "closing", "five", "late"]) {
      const isNull = [...(table.getChild(name) ?? [])].every((cell) => cell === null);
      expect(isNull, name).toBe(unwanted.includes(name));
    }
  });

  test("what no wanted factor needs is not computed, nor are its columns asked for", async () => {
    const program = compile("param p = 0\na = close\nwhen p == 1 { b = rank(open) }", {
      fields: ["close", "open"],
    });
    const { report } = await engine.evaluate(program, bars);
    expect(report.prunedTaskCount).toBe(1);
    await expect(engine.evaluate(program, bars, { params: { p: 1 } })).rejects.toThrow(DataError);
  });

  test("unknown params, missing values and wrong types are errors", async () => {
    const program = compile('param k\nparam s = "x"\na = close * k', { fields: ["close"] });
    await expect(engine.evaluate(program, bars)).rejects.toThrow("E555 param k has no value");
    await expect(engine.evaluate(program, bars, { params: { kk: 1 } })).rejects.toThrow("did you mean k?");
    await expect(engine.evaluate(program, bars, { params: { k: "two" } })).rejects.toThrow("got the text");
    await expect(engine.evaluate(program, bars, { params: { k: 1, s: 2 } })).rejects.toThrow(UsageError);
  });
});

describe("calls", () => {
  test("select keeps the named factors and computes nothing else", async () => {
    const program = compile("a = close\nb = rank(close)\nc = ts_mean(b, 2)", { fields: ["close"] });
    const { table, report } = await engine.evaluate(program, bars, { select: ["b"] });
    expect(table.schema.names).toEqual(["date", "symbol", "b"]);
    expect(report.prunedTaskCount).toBe(1);
    await expect(engine.evaluate(program, bars, { select: ["bb"] })).rejects.toThrow("did you mean b?");
  });

  test("overlapping calls give what they give alone", async () => {
    const texts = ["x = ts_std(volume, 2)", "x = rank(close)", "x = close * volume", "x = ts_sum(close, 2)"];
    const alone = [];
    for (const text of texts) alone.push(await evaluate(text));
    expect(await Promise.all(texts.map((text) => evaluate(text)))).toEqual(alone);
  });

  test("an aborted call rejects with its reason and leaves the engine usable", async () => {
    await expect(evaluate("x = close", { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow(
      "enough",
    );
    expect((await evaluate("x = volume")).x?.[0]).toBe(5);
  });

  test("a memory limit that is too small is refused before the start, with need and limit", async () => {
    await using tight = await Engine.start({ threads: 1, memoryLimit: "100 B" });
    const program = compile("x = rank(close) + rank(volume)", { fields: ["close", "volume"] });
    await expect(tight.evaluate(program, bars)).rejects.toThrow(ResourceError);
    await expect(Engine.start({ memoryLimit: "lots" })).rejects.toThrow("is not a size of memory");
  });

  test("a column that the panel lacks is named with those that it has", async () => {
    const program = compile("x = open\ny = group_neutralize(close, industry)");
    await expect(engine.evaluate(program, bars)).rejects.toThrow(
      "the panel has no field open\n  it has close, volume;",
    );
    await expect(engine.evaluate(program, bars, { select: ["y"] })).rejects.toThrow(
      "the panel has no group column industry\n  it has sector",
    );
  });

  test("the bits do not depend on threads or on passes", async () => {
    const text =
      "a = ts_std(volume * close, 2) + rank(close * volume)\nb = correlation(volume, close, 3) - a";
    const tables = [];
    for (const threads of [1, 3]) {
      await using other = await Engine.start({ threads });
      for (const disabledPasses of [
        [],
        ["canonical_order"],
        ["share_subexpressions"],
        ["canonical_order", "share_subexpressions"],
      ]) {
        const { table } = await other.evaluate(
          compile(text, { fields: ["close", "volume"], disabledPasses }),
          bars,
        );
        tables.push(JSON.stringify(table.toArray()));
      }
    }
    expect(new Set(tables).size).toBe(1);
  });
});
