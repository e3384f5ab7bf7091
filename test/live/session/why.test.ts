import { afterAll, beforeAll, expect, test } from "vitest";
import { compile, Engine } from "../../../src/index.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
});
afterAll(() => engine.close());

const bar = (time: number, ...close: (number | null)[]) => ({ time, fields: { close } });

test("rows that were revised, and symbols that were added", async () => {
  const program = compile("f = rank(ts_mean(close, 2))");
  const options = { symbols: ["B", "A"], spareSymbols: 1, revisable: true };
  await using session = await engine.openSession(program, options);
  await session.push(bar(1, 1, 2));
  await session.addSymbols(["0"]);
  await session.push(bar(2, 3, 4, 5));
  expect(await session.why("f", "B")).toMatchObject({ value: 0.5, cause: null });
  expect(await session.why("f", "0")).toMatchObject({ value: null, cause: "absent" });
  await session.revise(bar(2, 30, 4, null));
  expect(await session.why("f", "B")).toMatchObject({ value: 1 });
  await expect(session.why("f", "0")).rejects.toThrow("E344 0 has no row on 1970-01-01 00:00:00.002Z");
});

test("what the session has not kept is refused: rows, all rows of a recursion, rows with other params", async () => {
  const program = compile("param p = 1\nf = ts_mean(close, 3) * p\ng = ema(close, 3)");
  await using session = await engine.openSession(program, { symbols: ["A"], retainRows: 4 });
  await expect(session.why("f", "A")).rejects.toThrow("E551 f depends on 3 rows, the session has 0");
  for (let time = 1; time <= 4; time++) await session.push(bar(time, time));
  expect(await session.why("g", "A")).toMatchObject({ cause: null });
  await session.push(bar(5, 5));
  expect(await session.why("f", "A")).toMatchObject({ value: 4 });
  await expect(session.why("g", "A")).rejects.toThrow("E551 g depends on all rows, the session has 4");
  await expect(session.why("f", "B")).rejects.toThrow("E344 the data have no symbol B");
  await session.push(bar(6, 6), { params: { p: 2 } });
  await expect(session.why("f", "A")).rejects.toThrow("E551 f depends on 3 rows");
  await expect(session.why("h", "A")).rejects.toThrow("E506 no factor h");
});
