import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compile, Engine, type Panel, readPanel } from "../../../src/index.ts";
import { Seeded } from "../../support/seeded.ts";

const examples = join(import.meta.dirname, "../../../examples");
let engine: Engine;
let panel: Panel;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
  panel = await readPanel(join(examples, "data/sp100_daily.csv.gz"), {
    groups: join(examples, "data/sp100_sectors.csv"),
  });
});
afterAll(async () => await engine.close());

const dayOf = (row: number) =>
  new Date(Number(panel.time.values[row]!) * 86_400_000).toISOString().slice(0, 10);

test("the newest cells of a session have the explanations that the history gives", async () => {
  const file = "alpha101.factors";
  const program = compile(readFileSync(join(examples, file), "utf8"), {
    file,
    groups: [...panel.groups.keys()],
  });
  await using session = await engine.open(program, { warmup: panel, retainRows: 600 });
  const time = dayOf(panel.rowCount - 1);
  const random = new Seeded();
  for (let i = 0; i < 2; i++) {
    const { name: factor } = program.factors[random.below(program.factors.length)]!;
    const symbol = panel.symbols[random.below(panel.laneCount)]!;
    const what = `seed ${random.seed}: ${factor} of ${symbol}`;
    const wanted = await engine.why(program, panel, { factor, symbol, time });
    expect(await session.why(factor, symbol), what).toEqual(wanted);
  }
});

const bar = (time: number, ...close: (number | null)[]) => ({ time, fields: { close } });

test("rows that were revised, and symbols that were added", async () => {
  const program = compile("f = rank(ts_mean(close, 2))");
  const options = { symbols: ["B", "A"], spareSymbols: 1, revisable: true };
  await using session = await engine.open(program, options);
  await session.push(bar(1, 1, 2));
  await session.addSymbols(["0"]);
  await session.push(bar(2, 3, 4, 5));
  expect(await session.why("f", "B")).toMatchObject({ value: 0.5, cause: null });
  expect(await session.why("f", "0")).toMatchObject({ value: null, cause: "absent" });
  await session.revise(bar(2, 30, 4, null));
  expect(await session.why("f", "B")).toMatchObject({ value: 1 });
  await expect(session.why("f", "0")).rejects.toThrow("E346 0 has no row on 1970-01-01 00:00:00.002Z");
});

test("what the session has not kept is refused: rows, all rows of a recursion, rows with other params", async () => {
  const program = compile("param p = 1\nf = ts_mean(close, 3) * p\ng = ema(close, 3)");
  await using session = await engine.open(program, { symbols: ["A"], retainRows: 4 });
  await expect(session.why("f", "A")).rejects.toThrow("E568 f depends on 3 rows, the session has 0");
  for (let time = 1; time <= 4; time++) await session.push(bar(time, time));
  expect(await session.why("g", "A")).toMatchObject({ cause: null });
  await session.push(bar(5, 5));
  expect(await session.why("f", "A")).toMatchObject({ value: 4 });
  await expect(session.why("g", "A")).rejects.toThrow("E568 g depends on all rows, the session has 4");
  await expect(session.why("f", "B")).rejects.toThrow("E345 the data have no symbol B");
  await session.push(bar(6, 6), { params: { p: 2 } });
  await expect(session.why("f", "A")).rejects.toThrow("E568 f depends on 3 rows");
  await expect(session.why("h", "A")).rejects.toThrow("E506 no factor h");
});
