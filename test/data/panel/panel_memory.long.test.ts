import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { runSql, scratchPath } from "../scratch.ts";

/** Peak memory and a sum over all values, from a process of its own. */
function streamThrough(...paths: string[]): { peakMib: number; sum: number; rowCount: number } {
  const script = resolve(import.meta.dirname, "../stream_through.ts");
  return JSON.parse(execFileSync(process.execPath, [script, ...paths], { encoding: "utf8" }));
}
const rowCount = 5000;
const laneCount = 1000;
const fields = Array.from({ length: 8 }, (_, index) => `(r.range * ${index} + l.range)::DOUBLE AS f${index}`);

test("a large panel streams from file to file in the memory of a few blocks", async () => {
  const [parquet, arrow] = [scratchPath("minutes.parquet"), scratchPath("minutes.arrow")];
  await runSql(
    `COPY (SELECT r.range AS time, 'S' || l.range AS symbol, ${fields.join(", ")}
       FROM range(${rowCount}) r, range(${laneCount}) l ORDER BY time, symbol)
     TO '${parquet}' (FORMAT parquet)`,
  );
  const sumOf = (fieldCount: number, factorSum: number) =>
    rowCount * laneCount * ((factorSum * (rowCount - 1)) / 2 + (fieldCount * (laneCount - 1)) / 2);
  const first = streamThrough(parquet, arrow);
  expect([first.rowCount, first.sum]).toEqual([rowCount, sumOf(8, 28)]);
  expect(first.peakMib).toBeLessThan(480); // it is 336; reading the panel whole takes 617
  const second = streamThrough(arrow);
  expect([second.rowCount, second.sum]).toEqual([rowCount, sumOf(2, 1)]);
  expect(second.peakMib).toBeLessThan(480);
});
