import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tableToIPC } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Bar,
  compile,
  Engine,
  type LiveRow,
  type LiveSession,
  type OpenOptions,
  type Program,
  type PushOptions,
  readCheckpoint,
  writeCheckpoint,
} from "../../../src/index.ts";
import { panelOf } from "../../panels.ts";
import { fileFolder } from "../../support/file_folder.ts";
import { linesOf } from "../real_session.ts";

let engine: Engine;
const folder = fileFolder();
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
});
afterAll(async () => {
  await engine.close();
});

const time = { name: "minute", type: { kind: "integer", bits: 64 } } as const;
const symbols = ["MSFT", "AAPL", "IBM"];
const program = compile(
  `param k = 2
  scaled = ts_sum(close, 3) * k
  grouped = group_mean(close, sector)
  ranked = rank(close)`,
  { fields: ["close"], groups: ["sector"] },
);
const groups = { sector: { AAPL: "tech", MSFT: "tech", IBM: "old", NEW: "old" } };

const open = (options: OpenOptions = {}, of: Program = program) =>
  engine.openSession(of, { symbols, time, groups, revisable: true, ...options });
const bar = (minute: Bar["time"], close: readonly (number | null)[] = [3, 1, 2]): Bar => ({
  time: minute,
  fields: { close },
});

describe("a row", () => {
  test("is sorted by symbol, whatever the order of the session's symbols", async () => {
    await using session = await open();
    const { table, tags, timing, late } = await session.push(bar(1));
    expect(linesOf(table)).toEqual([
      "1 AAPL null 2 0.3333333333333333",
      "1 IBM null 2 0.6666666666666666",
      "1 MSFT null 2 1",
    ]);
    expect(table.schema.names).toEqual(["minute", "symbol", "scaled", "grouped", "ranked"]);
    expect(Object.values(tags)).toEqual(["on_time", "on_time", "on_time"]);
    expect(late).toBeNull();
    expect(timing.nodesRun).toBeGreaterThan(0);
    expect(timing.totalMs).toBeGreaterThanOrEqual(timing.stageMs.run);
  });

  test("is byte by byte the table that evaluate gives for a history of one row", async () => {
    const panel = panelOf({
      close: [[3, Number.POSITIVE_INFINITY, null]],
      sector: [["old", "tech", "tech"]],
    });
    const fields = { fields: ["close"], groups: ["sector"] };
    const formulas = compile(
      "doubled = close * 2\nranked = group_rank(close, sector)\nempty = delay(close, 1)",
      fields,
    );
    const { table: expected } = await engine.evaluate(formulas, panel);
    await using session = await engine.openSession(formulas, { symbols: panel.symbols, time: panel.time });
    const { table } = await session.push(panel);
    expect(Buffer.from(tableToIPC(table)).equals(Buffer.from(tableToIPC(expected)))).toBe(true);
  });

  test("has the symbols of its bar only; the others are null in it", async () => {
    await using session = await open();
    await session.push(bar(1));
    await session.push(bar(2));
    const some = await session.push({ time: 3, fields: { close: [5] }, symbols: ["IBM"] });
    expect(linesOf(some.table)).toEqual(["3 IBM 18 5 1"]);
    expect(linesOf((await session.push(bar(4))).table)).toEqual([
      "4 AAPL null 2 0.3333333333333333",
      "4 IBM 18 2 0.6666666666666666",
      "4 MSFT null 2 1",
    ]);
  });

  test("may come with several others, and with params of its own", async () => {
    await using session = await open({ params: { k: 10 } });
    const { table } = await session.push([bar(1), bar(2), bar(3)]);
    expect(table.numRows).toBe(9);
    expect([...table.getChild("scaled")!].slice(6)).toEqual([30, 60, 90]);
    const next = await session.push(bar(4), { params: { k: 1 } });
    expect([...next.table.getChild("scaled")!]).toEqual([3, 6, 9]);
    expect([...(await session.push(bar(5))).table.getChild("scaled")!]).toEqual([30, 60, 90]);
  });

  test("may bring its groups, and more fields than are read", async () => {
    await using session = await open();
    const { table } = await session.push({
      time: 1,
      fields: { close: [3, 1, 2], volume: [1, 1, 1] },
      groups: { sector: ["x", "x", "x"] },
    });
    expect([...table.getChild("grouped")!]).toEqual([2, 2, 2]);
    expect([...(await session.push(bar(2))).table.getChild("grouped")!]).toEqual([2, 2, 2]);
  });
});

describe("a table", () => {
  test("is the caller's own: it keeps its values, may be written to and handed to another thread", async () => {
    await using session = await open();
    const first = await session.push(bar(1));
    const lines = linesOf(first.table);
    const second = await session.push(bar(2, [4, Number.POSITIVE_INFINITY, 6]));
    const secondLines = linesOf(second.table);
    await session.revise(bar(2, [4, 5, 6]));
    expect(linesOf(second.table)).toEqual(secondLines);
    for (const { values } of second.table.batches[0]!.data.children.slice(2)) values.fill(7);
    const buffers = first.table.batches[0]!.data.children.map(({ values }) => values.buffer);
    expect(linesOf(first.table)).toEqual(lines);
    structuredClone(buffers, { transfer: [...new Set(buffers)] });
    const { table } = await session.push(bar(3));
    expect(linesOf(table)).toEqual([
      "3 AAPL 14 2 0.3333333333333333",
      "3 IBM 20 2 0.6666666666666666",
      "3 MSFT 20 2 1",
    ]);
  });

  test("comes with tags that JSON shows", async () => {
    await using session = await open();
    const { tags } = await session.push(bar(1));
    expect(JSON.parse(JSON.stringify(tags))).toEqual({
      scaled: "on_time",
      grouped: "on_time",
      ranked: "on_time",
    });
  });
});

/** What is wrong with a bar, and how its error begins. */
const WRONG: readonly [string, unknown, string][] = [
  ["a repeated time", bar(7), "E371 a bar of 7 comes after one of 7"],
  ["a late time", bar(6), "E371 a bar of 6 comes after one of 7"],
  ["a time that is no number", bar(Number.NaN), "E372"],
  ["a time that is no whole number", bar(8.5), "E372"],
  ["a time that is a text", { ...bar(8), time: "8" }, "E372"],
  ["a date where times are integers", bar(new Date()), "E372"],
  ["an unknown symbol", { ...bar(8), symbols: ["MSFT", "AAPL", "IBMM"] }, "E373 the session has no symbol"],
  [
    "a symbol twice",
    { ...bar(8), symbols: ["MSFT", "AAPL", "AAPL"] },
    'E373 the symbol "AAPL" is given twice',
  ],
  ["a missing field", { time: 8, fields: { open: [1, 2, 3] } }, "E383 the bar has no field close"],
  ["too few values", bar(8, [1, 2]), "E383 close has 2 values"],
  ["a text among numbers", { time: 8, fields: { close: [1, "2", 3] } }, 'E383 close holds "2"'],
  ["a group column of a wrong length", { ...bar(8), groups: { sector: ["x"] } }, "E383 sector has 1 value"],
  ["several bars, the last of them late", [bar(8), bar(9), bar(9)], "E371 a bar of 9 comes after one of 9"],
  ["a panel with other times", panelOf({ close: [[1, 2, 3]] }), "E372"],
];

describe("errors leave the session as it was", () => {
  test.each(WRONG)("%s", async (_, wrong, says) => {
    await using session = await open();
    await using other = await open();
    for (const minute of [5, 6, 7])
      for (const one of [session, other]) await one.push(bar(minute, [minute, 1, 2]));
    await expect(session.push(wrong as Bar)).rejects.toThrow(says);
    if (!says.startsWith("E371")) await expect(session.revise(wrong as Bar)).rejects.toThrow(says);
    for (const one of [session, other]) await one.revise(bar(7, [4, 4, 4]));
    const [found, expected] = [await session.push(bar(8)), await other.push(bar(8))];
    expect(linesOf(found.table)).toEqual(linesOf(expected.table));
  });

  test("wrong params and options", async () => {
    await using session = await open();
    await expect(session.push(bar(1), { params: { kk: 1 } })).rejects.toThrow("E506 unknown param kk");
    await expect(session.push(bar(1), { params: { k: "1" } })).rejects.toThrow("E528 param k is");
    const misspelt = { budgetMS: 5 } as PushOptions;
    await expect(session.push(bar(1), misspelt)).rejects.toThrow(
      "E527 unknown option budgetMS of push\n  did you mean budgetMs?",
    );
    await expect(session.revise(bar(1), misspelt)).rejects.toThrow("E527 unknown option budgetMS of revise");
    await expect(session.push(bar(1), { budgetMs: 0 })).rejects.toThrow("E528 budgetMs is 0");
    await expect(session.push([bar(1), bar(2)], { budgetMs: 5 })).rejects.toThrow("E528 budgetMs is 5");
    await expect(session.push(bar(1), { late: "never" as "skip" })).rejects.toThrow("E528 late is");
    expect(session.lastTime).toBeNull();
    await session.push(bar(1));
  });

  test("a group column that neither the session nor the bar has", async () => {
    await using session = await open({ groups: {} });
    await expect(session.push(bar(1))).rejects.toThrow("E383 the bar has no group column sector");
  });

  test("no row is kept that could be revised after an update", async () => {
    await using session = await open({ retainRows: 0 });
    await session.push(bar(1));
    await session.update(compile("other = close", { fields: ["close"] }));
    await expect(session.revise(bar(1))).rejects.toThrow("E371 there is no bar to revise: no rows are kept");
  });

  test("there is nothing to revise", async () => {
    await using session = await open();
    await expect(session.revise(bar(1))).rejects.toThrow("E371 there is no bar to revise");
    await session.push([bar(1), bar(2)]);
    await expect(session.revise(bar(1))).rejects.toThrow(
      "E371 a bar of 1 cannot replace the newest one, of 2",
    );
    await session.revise(bar(2));
    await using fixed = await open({ revisable: false });
    await fixed.push(bar(1));
    await expect(fixed.revise(bar(1))).rejects.toThrow("E551 the session is not revisable");
  });

  test.each<[OpenOptions, string]>([
    [{ symbols: [], spareSymbols: 0 }, "E528 a session without symbols"],
    [{ spareSymbols: -1 }, "E528 spareSymbols is -1"],
    [{ priorities: { rankd: 1 } }, "E506 no factor rankd"],
    [{ select: ["rankd"] }, "E506 no factor rankd"],
    [{ priorities: { ranked: Number.NaN } }, "E528 the priority of ranked is NaN"],
    [{ symbols: ["A", "A"] }, 'E373 the symbol "A" is given twice'],
    [
      { symbols: ["A"], warmup: panelOf({ close: [[1, 2]] }), time: undefined },
      "E373 the session has no symbol",
    ],
    [
      { params: { kk: 1 }, warmup: { ...panelOf({ close: [[1, 2]] }) }, time: undefined, symbols: undefined },
      "E506 unknown param kk",
    ],
    [{ checkpoint: new Uint8Array(5) }, "E351"],
    [{ revisble: true } as OpenOptions, "E527"],
  ])("opening with wrong options, case %#", async (options, says) => {
    await expect(open(options)).rejects.toThrow(says);
  });
});

test("opening without options lacks the symbols", async () => {
  await expect(engine.openSession(program)).rejects.toThrow("E528 a session without symbols");
  await expect(engine.openSession(program, {})).rejects.toThrow("E528 a session without symbols");
});

describe("calls of a session", () => {
  test("run in order", async () => {
    await using session = await open();
    await using patient = await open();
    const pushes = [1, 2, 3, 4, 5].map(async (minute) =>
      linesOf((await session.push(bar(minute, [minute, 2, 3]))).table),
    );
    const found = await Promise.all(pushes);
    for (const [index, lines] of found.entries()) {
      const { table } = await patient.push(bar(index + 1, [index + 1, 2, 3]));
      expect(lines).toEqual(linesOf(table));
    }
  });

  test("is left out if it is aborted while it waits", async () => {
    await using session = await open();
    const controller = new AbortController();
    const first = session.push(bar(1));
    const second = session.push(bar(2), { signal: controller.signal });
    const third = session.push(bar(3));
    controller.abort(new Error("enough"));
    await expect(second).rejects.toMatchObject({ code: "E412", cause: { message: "enough" } });
    await Promise.all([first, third]);
    const signal = AbortSignal.abort(new Error("before"));
    await expect(session.push(bar(4), { signal })).rejects.toMatchObject({ cause: { message: "before" } });
    expect(session.lastTime).toBe(3n);
  });

  test("ends when it is closed", async () => {
    const session = await open();
    const waiting = [session.push(bar(1)), session.push(bar(2))].map((push) =>
      push.then(
        () => "done",
        ({ code }) => code,
      ),
    );
    await session.close();
    await session.close();
    expect(await Promise.all(waiting)).toContain("E404");
    await expect(session.push(bar(3))).rejects.toMatchObject({ code: "E404" });
  });
});

describe("symbols that are added", () => {
  test("have values after those of the others, and groups", async () => {
    await using session = await open({ spareSymbols: 1 });
    await session.push(bar(1));
    await session.addSymbols(["NEW"]);
    expect(session.symbols).toEqual([...symbols, "NEW"]);
    const { table } = await session.push(bar(2, [3, 1, 2, 6]));
    expect([...table.getChild("symbol")!]).toEqual(["AAPL", "IBM", "MSFT", "NEW"]);
    expect([...table.getChild("grouped")!]).toEqual([2, 4, 2, 4]);
    await expect(session.addSymbols(["MORE"])).rejects.toThrow("E551 1 symbol to add");
    await expect(session.addSymbols(["NEW"])).rejects.toThrow('E373 the symbol "NEW" is given twice');
    const checkpoint = await session.checkpoint();
    await using later = await open({ symbols: undefined, groups: undefined, checkpoint });
    expect(later.symbols).toEqual(session.symbols);
    expect(linesOf((await later.push(bar(3, [1, 2, 3, 4]))).table)).toEqual(
      linesOf((await session.push(bar(3, [1, 2, 3, 4]))).table),
    );
  });
});

test.each([
  [["C"], { sector: { C: 5 } }, "E383 sector holds 5"],
  [["C"], { sector: { D: "x" } }, "E373 the session has no symbol"],
  [["C"], { sectr: { C: "x" } }, "E373 the session has no group column sectr"],
  [["C", "C"], { sector: { C: "x" } }, 'E373 the symbol "C" is given twice'],
  [["C"], { sector: { C: "tech", AAPL: "other" } }, 'E373 "AAPL" is in the session already'],
])("symbols that cannot be added change nothing: %o, %o", async (added, wrong, says) => {
  await using session = await open();
  await using other = await open();
  const adding = session.addSymbols(added, wrong as unknown as NonNullable<OpenOptions["groups"]>);
  await expect(adding).rejects.toThrow(says);
  expect(linesOf((await session.push(bar(1))).table)).toEqual(linesOf((await other.push(bar(1))).table));
  for (const one of [session, other]) await one.addSymbols(["C"], { sector: { C: "tech" } });
  const [found, expected] = [
    await session.push(bar(2, [1, 2, 3, 4])),
    await other.push(bar(2, [1, 2, 3, 4])),
  ];
  expect(linesOf(found.table)).toEqual(linesOf(expected.table));
  expect(found.table.numRows).toBe(4);
});

test("a session continues with the groups of its checkpoint, and takes those of later symbols", async () => {
  await using session = await open();
  await session.push(bar(1));
  const checkpoint = await session.checkpoint();
  const other = { ...groups, sector: { ...groups.sector, AAPL: "other" } };
  await expect(open({ symbols: undefined, groups: other, checkpoint })).rejects.toMatchObject({
    code: "E352",
    message: expect.stringContaining("AAPL has another sector"),
  });
  const more = { ...groups, sector: { ...groups.sector, NEW: groups.sector.AAPL } };
  await using later = await open({ symbols: undefined, groups: more, checkpoint });
  await later.addSymbols(["NEW"]);
  await session.addSymbols(["NEW"], { sector: { NEW: groups.sector.AAPL } });
  const [found, expected] = [
    await later.push(bar(2, [3, 1, 2, 6])),
    await session.push(bar(2, [3, 1, 2, 6])),
  ];
  expect(linesOf(found.table)).toEqual(linesOf(expected.table));
});

describe("times", () => {
  const nanoseconds = 1_700_000_000_000_000_000n;

  test.each([nanoseconds, Number(nanoseconds), nanoseconds / 1000n])("of another unit: %s", async (wrong) => {
    await using session = await open({ time: undefined });
    const likely = BigInt(wrong) === nanoseconds ? "ns" : "us";
    await expect(session.push(bar(wrong))).rejects.toMatchObject({ code: "E372" });
    await expect(session.push(bar(wrong))).rejects.toThrow(`it is 2023-11-14 22:13:20Z in ${likely}`);
    await session.push(bar(1_700_000_000_000));
  });

  test.each([
    { kind: "timestamp", unit: "m", timezone: null },
    { kind: "timestamp", unit: "s", timezone: "Nowhere/City" },
    { kind: "integer", bits: 16 },
    { kind: "day" },
  ])("of an invalid type: %o", async (type) => {
    const wrong = { name: "t", type } as unknown as NonNullable<OpenOptions["time"]>;
    await expect(open({ time: wrong })).rejects.toMatchObject({ code: "E528" });
    const right = { name: "t", type: { kind: "timestamp", unit: "s", timezone: "Asia/Tokyo" } } as const;
    await using _session = await open({ time: right });
  });

  test("say whether a row missed its budget", async () => {
    await using session = await open();
    expect((await session.push(bar(1))).missedBudget).toBe(false);
    expect((await session.push(bar(2), { budgetMs: 60_000 })).missedBudget).toBe(false);
    expect((await session.push(bar(3), { budgetMs: 1e-6 })).missedBudget).toBe(true);
  });
});

describe("a checkpoint", () => {
  test("carries params that JSON lacks", async () => {
    await using session = await open({ params: { k: -0 } });
    await session.push(bar(1));
    await using later = await engine.openSession(program, { checkpoint: await session.checkpoint() });
    const { table } = await later.push([bar(2), bar(3)]);
    expect(Object.is([...table.getChild("scaled")!].at(-1), -0)).toBe(true);
  });

  test("is restored in place, and refused if it is damaged or of another session", async () => {
    await using session = await open();
    await session.push([bar(1), bar(2)]);
    const checkpoint = await session.checkpoint();
    const expected = linesOf((await session.push(bar(3, [5, 6, 7]))).table);
    const damaged = checkpoint.slice();
    damaged[200]! ^= 1;
    await expect(session.restore(damaged)).rejects.toMatchObject({ code: "E351" });
    await expect(session.restore(checkpoint.subarray(0, 30))).rejects.toMatchObject({ code: "E351" });
    await using wider: LiveSession = await open({ spareSymbols: 3 });
    await expect(wider.restore(checkpoint)).rejects.toMatchObject({ code: "E352" });
    await expect(open({ symbols: ["A", "B", "C"], checkpoint })).rejects.toMatchObject({ code: "E352" });
    expect(session.lastTime).toBe(3n);
    await session.restore(checkpoint);
    expect(session.lastTime).toBe(2n);
    expect(linesOf((await session.push(bar(3, [5, 6, 7]))).table)).toEqual(expected);
  });

  test("lies in a file that is whole or not there", async () => {
    const path = join(folder, "session.checkpoint");
    writeFileSync(path, "before");
    await writeCheckpoint(path, Uint8Array.of(1, 2, 3));
    expect([...(await readCheckpoint(path))]).toEqual([1, 2, 3]);
    expect(readdirSync(folder)).toEqual(["session.checkpoint"]);
    await expect(writeCheckpoint(join(folder, "no/where"), Uint8Array.of(1))).rejects.toMatchObject({
      code: "E442",
    });
    await expect(readCheckpoint(join(folder, "nothing"))).rejects.toMatchObject({ code: "E309" });
  });
});

describe("another call over the newest bar", () => {
  const TEXT = `param session = "open"
    param k = 2
    mean = ts_mean(close, 2) * k
    when session == "close" { total = cum_sum(close)\n slow = ts_mean(close, 2) + rank(close) }`;
  const conditional = compile(TEXT, { fields: ["close"] });
  const rowOf = ({ table }: LiveRow, name: string) => [...table.getChild(name)!];

  test("computes what its params want and runs nothing again, without a bar", async () => {
    await using session = await engine.openSession(conditional, { symbols: ["A", "B"] });
    for (let minute = 1; minute < 4; minute++) await session.push(bar(minute, [minute, 2]));
    const asked = { params: { session: "close" } };
    const [row, next] = await Promise.all([session.also(asked), session.push(bar(4, [4, 2]), asked)]);
    expect([rowOf(row, "mean"), rowOf(row, "total"), rowOf(row, "slow")]).toEqual([
      [5, 4],
      [6, 6],
      [3.5, 2.5],
    ]);
    expect(row.tags).toEqual({ mean: "on_time", total: "on_time", slow: "on_time" });
    expect([rowOf(next, "total"), rowOf(next, "slow")]).toEqual([
      [10, 8],
      [4.5, 2.5],
    ]);
    const again = await session.also(asked);
    expect([rowOf(again, "total"), again.timing.nodesRun]).toEqual([[10, 8], 0]);
    expect(session.lastTime).toBe(4n);
  });

  test("is refused before the first bar, with another value in formulas, and with an option of pushes", async () => {
    await using session = await engine.openSession(conditional, { symbols: ["A", "B"] });
    await expect(session.also()).rejects.toMatchObject({ code: "E371" });
    await session.push(bar(1, [1, 2]), { params: { k: 3 } });
    await expect(session.also()).rejects.toThrow("E528 the param k is 2, and the newest bar was run with 3");
    await expect(session.also({ signal: new AbortController().signal } as object)).rejects.toMatchObject({
      code: "E527",
    });
    expect(rowOf(await session.also({ params: { k: 3 } }), "mean")).toEqual([null, null]);
  });
});
