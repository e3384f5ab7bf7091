import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type PanelBlock, type PanelSource, panelSource } from "../../src/data/panel/panel_source.ts";
import { compile, Engine, type EvaluateOptions, type Panel } from "../../src/index.ts";
import { panelOf } from "../panels.ts";
import { MANAGED_ONLY } from "../support/managed_only.ts";
import { until } from "../support/until.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
});
afterAll(() => engine.close());

const ROWS = 23;
const wave = (row: number, lane: number) =>
  (7 * row + 3 * lane) % 17 === 0 ? null : Math.sin(row * 1.7 + lane) * 10;
const cells = <T>(cell: (row: number, lane: number) => T) =>
  Array.from({ length: ROWS }, (_, row) => [0, 1, 2].map((lane) => cell(row, lane)));
const bars = panelOf({
  close: cells(wave),
  volume: cells((row, lane) => 1 + ((row * (lane + 2)) % 5)),
  sector: cells((row, lane) => ["a", "b", "c"][(row + lane * lane) % 3] as string),
});

const TEXT = `
  param k = 2
  param session = "open"
  mean = ts_mean(close, 4) * k
  ranked = rank(ts_std(volume, 3)) + ema(volume, 3)
  neutral = group_neutralize(close, sector)
  raw = close
  when session == "close" { closing = delay(close, 2) }`;
const program = compile(TEXT, { fields: ["close", "volume"], groups: ["sector"] });

type Row = Readonly<Record<string, unknown>>;

async function streamed(options: EvaluateOptions, panel: Panel = bars): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const batch of engine.stream(program, panel, options)) {
    rows.push(...batch.toArray().map((row) => row?.toJSON() as Row));
  }
  return rows;
}

async function evaluated(options: EvaluateOptions, panel = bars): Promise<Row[]> {
  return (await engine.evaluate(program, panel, options)).table.toArray().map((row) => row?.toJSON() as Row);
}

describe("a stream", () => {
  test.each([1, 2, 7, 22, 23, 64])("in blocks of %i rows gives the rows of evaluate", async (blockRows) => {
    expect(await streamed({ blockRows })).toEqual(await evaluated({}));
    expect(await evaluated({ blockRows })).toEqual(await evaluated({}));
  });

  test("by the references gives the same bits", async () => {
    expect(await streamed({ blockRows: 5, kernel: "reference" })).toEqual(await evaluated({}));
  });

  test.each([
    { from: "1970-01-08" },
    { to: "1970-01-08" },
    { from: "1970-01-05", to: "1970-01-06" },
    { select: ["neutral", "mean"] },
    { params: { k: -1, session: "close" } },
    { keepInfinite: true, params: { k: Infinity } },
  ])("with %j, too", async (options) => {
    expect(await streamed({ ...options, blockRows: 3 })).toEqual(await evaluated(options));
  });

  test("takes params by time", async () => {
    const folder = mkdtempSync(join(tmpdir(), "factorloom-stream-"));
    const paramsByTime = join(folder, "params.csv");
    writeFileSync(paramsByTime, "date,k,session\n1970-01-03,5,close\n1970-01-04,,close\n1970-01-09,0.5,\n");
    const options = { paramsByTime, blockRows: 4 };
    expect(await streamed(options)).toEqual(await evaluated({ paramsByTime }));
    const closing = (await streamed(options)).map(({ closing: value }) => value);
    expect(closing.flatMap((value, i) => (value === null ? [] : [Math.floor(i / 3)]))).toEqual([
      2, 2, 3, 3, 3,
    ]);
    rmSync(folder, { recursive: true });
  });

  test("leaves out what the input lacks", async () => {
    const present = bars.present.map((_, cell) => (cell < 12 || cell % 5 === 0 ? 0 : 1));
    const rows = await streamed({ blockRows: 2 }, { ...bars, present });
    expect(rows).toHaveLength(present.reduce((sum, one) => sum + one, 0));
    expect(rows).toEqual(await evaluated({}, { ...bars, present }));
  });

  test("where no factor is wanted gives nulls, and reads no column", async () => {
    const rows = await streamed({ select: ["closing"], blockRows: 10 }, { ...bars, fields: new Map() });
    expect(rows.map(({ closing }) => closing)).toEqual(new Array(3 * ROWS).fill(null));
  });

  test("of a panel without rows, or lanes, is empty", async () => {
    const fields = new Map([...bars.fields].map(([name, column]) => [name, column.subarray(0, 0)]));
    const time = { ...bars.time, values: new BigInt64Array(0) };
    const groups = new Map(
      [...bars.groups].map(([name, group]) => {
        return [name, { ...group, changesOverTime: true, codes: group.codes.subarray(0, 0) }] as const;
      }),
    );
    const empty = { ...bars, fields, groups, time, present: new Uint8Array(0) };
    expect(await streamed({}, { ...empty, rowCount: 0 })).toEqual([]);
    expect(await streamed({}, { ...empty, rowCount: 0, laneCount: 0, symbols: [] })).toEqual([]);
  });

  test("tells how far it has come, in rows", async () => {
    const reports: string[] = [];
    const onProgress = (done: number, count: number) => reports.push(`${done}/${count}`);
    await streamed({ blockRows: 10, onProgress });
    expect(reports).toEqual(["10/23", "20/23", "23/23"]);
    reports.length = 0;
    await evaluated({ blockRows: 10, onProgress, to: "1970-01-12" });
    expect(reports).toEqual(["10/12", "12/12"]);
  });

  test("has the batches of evaluate's table, and they stay as they are", async () => {
    const rowCount = 3000;
    const long = panelOf({ x: Array.from({ length: rowCount }, (_, row) => new Array(40).fill(row)) });
    const one = compile("y = ts_sum(x, 2)", { fields: ["x"] });
    const { batches } = (await engine.evaluate(one, long)).table;
    const streamedBatches = await Array.fromAsync(engine.stream(one, long, { blockRows: 100 }));
    expect(batches.length).toBeGreaterThan(1);
    expect(streamedBatches.map(({ numRows }) => numRows)).toEqual(batches.map(({ numRows }) => numRows));
    streamedBatches.forEach((batch, i) => {
      expect(batch.getChild("y")?.toArray()).toEqual(batches[i]?.getChild("y")?.toArray());
    });
  });

  test("of a range without rows is empty and has the columns, as the table of evaluate", async () => {
    const empty = { from: "1980-01-01" };
    const batches = await Array.fromAsync(engine.stream(program, bars, empty));
    const { table, report } = await engine.evaluate(program, bars, empty);
    expect(batches.map(({ numRows }) => numRows)).toEqual([0]);
    expect(table.numRows).toBe(0);
    expect(table.schema.names).toEqual(batches[0]!.schema.names);
    expect(Object.values(report.nullCounts)).toEqual(program.factors.map(() => 0));
  });

  test("has a report of what is done so far", async () => {
    const stream = engine.stream(program, bars);
    expect(stream.report).toBe(null);
    for await (const _ of stream);
    const { report } = await engine.evaluate(program, bars);
    const { planMs: _, computeMs: __, tableMs: ___, kernelMs: ____, ...facts } = report;
    expect(stream.report).toMatchObject(facts);
  });

  test("refuses what evaluate refuses", async () => {
    await expect(streamed({ select: ["man"] })).rejects.toThrow("did you mean mean?");
    await expect(streamed({}, { ...bars, fields: new Map() })).rejects.toThrow("E350");
    await expect(streamed({ params: { q: 1 } })).rejects.toThrow("E506 unknown param q");
    for (const blockRows of [0, 1.5, 1e9]) await expect(streamed({ blockRows })).rejects.toThrow("E528");
    await expect(streamed({ kernel: "quick" as "compiled" })).rejects.toThrow('E506 unknown kernel "quick"');
  });
});

describe("a stream that is left", () => {
  test("closes its source and its plan, and the engine stays usable", async () => {
    const { source, isLeft } = watched(bars);
    for await (const block of (await engine.openStream(program, source, { blockRows: 2 })).blocks()) {
      expect(block.rowCount).toBe(2);
      break;
    }
    expect(isLeft()).toBe(true);
    expect(await streamed({})).toHaveLength(3 * ROWS);
  });

  test("by its signal rejects with the signal's reason", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const { source, isLeft } = watched(bars);
    const taken = async () => {
      const stream = await engine.openStream(program, source, { blockRows: 2, signal });
      for await (const _ of stream.blocks()) controller.abort(new Error("enough"));
    };
    await expect(taken()).rejects.toThrow("enough");
    expect(isLeft()).toBe(true);
    await expect(streamed({ signal: AbortSignal.abort(new Error("before")) })).rejects.toThrow("before");
  });

  test("because its source fails rejects with the source's error, even while it is not asked for more", async () => {
    const failing: PanelSource = {
      ...panelSource(bars),
      async *blocks(request) {
        let count = 0;
        for await (const block of panelSource(bars).blocks(request)) {
          if (count++ === 3) throw new Error("the disk is gone");
          yield block;
        }
      },
    };
    const blocks = (await engine.openStream(program, failing, { blockRows: 2 })).blocks();
    expect((await blocks.next()).done).toBe(false);
    await delay(20);
    await expect(blocks.next()).rejects.toThrow("the disk is gone");
    expect((await blocks.next()).done).toBe(true);
    await expect(Array.fromAsync(engine.stream(program, failing, { blockRows: 2 }))).rejects.toThrow("disk");
  });
});

describe("memory", () => {
  test("of a stream does not grow with the panel: what evaluate refuses, a stream computes", async () => {
    const rowCount = 20_000;
    const long = panelOf({
      close: Array.from({ length: rowCount }, (_, row) => [row % 7, row % 11, row % 13]),
    });
    const text = Array.from({ length: 8 }, (_, i) => `f${i} = ts_mean(close, ${i + 2})`).join("\n");
    const wide = compile(text, { fields: ["close"] });
    await using tight = await Engine.start({
      threads: 1,
      memoryLimit: "2MiB",
      memoryThresholds: MANAGED_ONLY,
    });
    const refused = tight.evaluate(wide, long);
    await expect(refused).rejects.toThrow(
      /^E401 the evaluation needs .* MiB .*table 3.7 MiB.*limit is 2.0 MiB\n/,
    );
    await expect(refused).rejects.toThrow(/engine\.stream, or --out/);
    let rows = 0;
    for await (const batch of tight.stream(wide, long)) rows += batch.numRows;
    expect(rows).toBe(3 * rowCount);
  });

  test("short of memory blocks become smaller before a call is refused", async () => {
    const { report } = await engine.evaluate(program, bars);
    expect(report.blockRows).toBe(ROWS);
    const wide = panelOf({ close: Array.from({ length: 64 }, (_, row) => new Array(1000).fill(row)) });
    const one = compile("a = rank(close)\nb = rank(close * 2)", { fields: ["close"] });
    const ample = await engine.evaluate(one, wide);
    expect(ample.report.blockRows).toBe(64);
    await using tight = await Engine.start({
      threads: 1,
      memoryLimit: "3.4MiB",
      memoryThresholds: MANAGED_ONLY,
    });
    const { table, report: tightReport } = await tight.evaluate(one, wide);
    expect(tightReport.blockRows).toBeLessThan(64);
    expect(table.getChild("b")?.toArray()).toEqual(ample.table.getChild("b")?.toArray());
    await expect(tight.evaluate(one, wide, { blockRows: 64 })).rejects.toThrow("E401");
  });

  test("is counted for all calls of an engine together, and given back", async () => {
    const text = "f = ts_mean(close, 3)";
    const wide = panelOf({ close: Array.from({ length: 50 }, () => new Array(1000).fill(1)) });
    const one = compile(text, { fields: ["close"] });
    await using tight = await Engine.start({
      threads: 1,
      memoryLimit: "1.5MiB",
      memoryThresholds: MANAGED_ONLY,
    });
    await tight.evaluate(one, wide, { blockRows: 1 });
    const open = (await tight.openStream(one, panelSource(wide), { blockRows: 20 })).blocks();
    await open.next();
    const waiting = tight.evaluate(one, wide, { blockRows: 1 });
    await until(() => tight.memory.waitingCount === 1);
    await open.return();
    await waiting;
    expect(tight.memory.managedBytes).toBe(0);
  });

  test("is waited for while a source reads, however long", async () => {
    const one = compile("f = ts_mean(close, 3)", { fields: ["close"] });
    const source = panelSource(panelOf({ close: Array.from({ length: 50 }, () => new Array(1000).fill(1)) }));
    const { promise: mayRead, resolve: read } = Promise.withResolvers<void>();
    const slow: PanelSource = {
      ...source,
      async *blocks(reading) {
        await mayRead;
        yield* source.blocks(reading);
      },
    };
    await using tight = await Engine.start({
      threads: 1,
      memoryLimit: "1.5MiB",
      memoryThresholds: MANAGED_ONLY,
    });
    const readAll = async (from: PanelSource) => {
      for await (const _ of (await tight.openStream(one, from, { blockRows: 20 })).blocks());
    };
    vi.useFakeTimers({ toFake: ["performance"] });
    try {
      const first = readAll(slow);
      await until(() => tight.memory.managedBytes > 0);
      const second = readAll(source);
      await until(() => tight.memory.waitingCount === 1);
      vi.advanceTimersByTime(60_000);
      // The calls that wait look every 50 ms.
      await delay(200);
      read();
      await Promise.all([first, second]);
    } finally {
      vi.useRealTimers();
    }
  });

  test("of a stream that is aborted comes back, though nobody asks for the next block", async () => {
    const one = compile("f = ts_mean(close, 3)", { fields: ["close"] });
    const wide = panelOf({ close: Array.from({ length: 50 }, () => new Array(100).fill(1)) });
    const controller = new AbortController();
    const { signal } = controller;
    const stream = await engine.openStream(one, panelSource(wide), { blockRows: 5, signal });
    const blocks = stream.blocks();
    await blocks.next();
    expect(engine.memory.managedBytes).toBeGreaterThan(0);
    controller.abort(new Error("enough"));
    await until(() => engine.memory.managedBytes === 0);
    await expect(blocks.next()).rejects.toThrow("enough");
  });

  test("is held until the table is made", async () => {
    const wide = panelOf({ close: Array.from({ length: 500 }, () => new Array(1000).fill(1)) });
    const text = Array.from({ length: 20 }, (_, i) => `f${i} = close * ${i}`).join("\n");
    const many = compile(text, { fields: ["close"] });
    let [isComputed, isMade, least] = [false, false, Number.POSITIVE_INFINITY];
    const onProgress = (done: number, total: number) => {
      isComputed ||= done === total;
    };
    const evaluating = engine.evaluate(many, wide, { onProgress }).finally(() => {
      isMade = true;
    });
    while (!isMade) {
      if (isComputed) least = Math.min(least, engine.memory.managedBytes);
      await nextTurn();
    }
    await evaluating;
    expect(least).toBeGreaterThan(20 * 500 * 1000 * 8);
    expect(engine.memory.managedBytes).toBe(0);
  });
});

/** A source that tells whether its reading was left. */
function watched(panel: Panel): { source: PanelSource; isLeft: () => boolean } {
  let isLeft = false;
  const inner = panelSource(panel);
  const source: PanelSource = {
    ...inner,
    async *blocks(request): AsyncGenerator<PanelBlock> {
      try {
        yield* inner.blocks(request);
      } finally {
        isLeft = true;
      }
    },
  };
  return { source, isLeft: () => isLeft };
}
