import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compile, Engine, type EvaluateOptions } from "../../src/index.ts";
import { panelOf } from "../panels.ts";
import { fileFolder } from "../support/file_folder.ts";

const folder = fileFolder();
let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
});
afterAll(async () => {
  await engine.close();
});

const panel = panelOf({
  close: [
    [1, 10],
    [2, 20],
    [4, 5],
    [8, 2],
  ],
  inside: [
    [1, 1],
    [1, 0],
    [0, 1],
    [1, 1],
  ],
});

async function evaluate(text: string, options: EvaluateOptions = {}, universe?: string) {
  const program = compile(text, {
    fields: ["close", "inside"],
    groups: [],
    ...(universe ? { universe } : {}),
  });
  const { table } = await engine.evaluate(program, panel, options);
  return Object.fromEntries(
    table.schema.names.map((name) => [name, [...(table.getChild(String(name)) ?? [])]]),
  );
}

function paramsFile(text: string): string {
  const path = join(folder, "params.csv");
  writeFileSync(path, text);
  return path;
}

describe("params by time", () => {
  const text = `
    param session = "open"
    param k = 2
    scaled = close * k
    mean = ts_mean(close * k, 2)
    when session == "close" { closing = close }`;

  test("each row is computed with the params of its time", async () => {
    const paramsByTime = paramsFile(
      "date,session,k\n1970-01-01,close,1\n1970-01-02,open,\n1970-01-04,close,3\n",
    );
    const { scaled, mean, closing } = await evaluate(text, { paramsByTime });
    expect(scaled).toEqual([1, 10, 4, 40, 8, 10, 24, 6]);
    expect(mean).toEqual([null, null, 2.5, 25, 6, 25, 16, 8]);
    expect(closing).toEqual([1, 10, null, null, null, null, 8, 2]);
  });

  test("a table with the same params throughout gives what one call gives", async () => {
    const paramsByTime = paramsFile(
      "date,session,k\n1970-01-01,close,5\n1970-01-02,close,5\n1970-01-03,close,5\n1970-01-04,close,5\n",
    );
    expect(await evaluate(text, { paramsByTime })).toEqual(
      await evaluate(text, { params: { session: "close", k: 5 } }),
    );
  });

  test("sets that differ in an infinity or in the sign of a zero stay apart", async () => {
    const paramsByTime = paramsFile(
      "date,k\n1970-01-01,inf\n1970-01-02,-inf\n1970-01-03,0\n1970-01-04,-0.0\n",
    );
    const { y } = await evaluate("param k = 1\ny = 1 / k + k", { paramsByTime, keepInfinite: true });
    expect(y).toEqual([Infinity, Infinity, -Infinity, -Infinity, Infinity, Infinity, -Infinity, -Infinity]);
  });

  test("unknown params, wrong types and times of another kind are errors", async () => {
    const run = (csv: string) => evaluate(text, { paramsByTime: paramsFile(csv) });
    const file = join(folder, "params.csv");
    await expect(run("date,kk\n1970-01-01,1\n")).rejects.toThrow(
      `E506 ${file}: the column "kk" at 1970-01-01: unknown param kk\n  did you mean k?`,
    );
    await expect(run("date,k\n1970-01-01,\n1970-01-02,high\n")).rejects.toThrow(
      `E528 ${file}: the column "k" at 1970-01-02: param k is a number, got a text: "high"\n  give it a value like its default 2`,
    );
    await expect(run("date,k\n1,1\n")).rejects.toThrow("its times are of another kind");
  });
});

describe("params by time without a default", () => {
  const placeOf = (csv: string, text: string, options: EvaluateOptions = {}) =>
    evaluate(text, { ...options, paramsByTime: paramsFile(csv) }).then(
      () => "no error",
      (error: Error) => error.message.replace(`${folder}/`, ""),
    );

  test("a text that is used as a number is reported with its place", async () => {
    const csv = "date,k\n1970-01-01,high\n1970-01-02,low\n1970-01-03,low\n1970-01-04,low\n";
    expect(await placeOf(csv, "param k\ny = close * k", { select: ["y"] })).toBe(
      'E528 params.csv: the column "k" at 1970-01-01: param k is used as a number, got the text "high"\n  give it a number',
    );
  });

  test("a text that a condition needs as a number is reported with its place", async () => {
    const csv = "date,p,q\n1970-01-02,noon,5\n";
    const text = "param p\nparam q\ny = close when p > q";
    expect(await placeOf(csv, text, { params: { p: 1, q: 2 } })).toBe(
      'E528 params.csv: the columns "p", "q" at 1970-01-02: a condition cannot work out "noon" > 5\n' +
        "  texts can be compared with texts by == and !=",
    );
  });

  test("what the table does not give is not its mistake", async () => {
    const csv = "date,j\n1970-01-01,1\n1970-01-02,2\n1970-01-03,2\n1970-01-04,2\n";
    const text = "param j = 1\nparam k\ny = close * k + j";
    expect(await placeOf(csv, text)).toContain("E555 param k has no value");
    expect(await placeOf(csv, text, { params: { k: "high" } })).toContain("E528 param k is used as a number");
  });
});

describe("universe", () => {
  test("lanes outside are null across the row and keep their history", async () => {
    const { ranked, mean, both } = await evaluate(
      "ranked = rank(close)\nmean = ts_mean(close, 2)\nboth = ts_sum(rank(close), 2)",
      {},
      "inside",
    );
    expect(ranked).toEqual([0.5, 1, 1, null, null, 1, 1, 0.5]);
    expect(mean).toEqual([null, null, 1.5, 15, 3, 12.5, 6, 3.5]);
    expect(both).toEqual([null, null, 1.5, null, null, null, null, 1.5]);
  });
});
