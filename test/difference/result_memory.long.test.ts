import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ResultDifference } from "../../src/index.ts";
import { runSql, scratchPath } from "../data/scratch.ts";

const ROWS = 16_000;
const LANES = 1000;
const MIB = 2 ** 20;

/** The difference of two files and the peak memory of a process that does nothing else. */
function diffFiles(a: string, b: string): { readonly found: ResultDifference; readonly peakMib: number } {
  const script = join(import.meta.dirname, "fixtures/diff_files.ts");
  return JSON.parse(execFileSync(process.execPath, [script, a, b], { encoding: "utf8" }));
}

test("two results are compared in less memory than they have, rows in any order", async () => {
  const [old, changed, shuffled] = ["old", "changed", "shuffled"].map((name) =>
    scratchPath(`${name}.parquet`),
  );
  const factors = ["f", "g", "h", "i"].map((name) => `random() AS ${name}`);
  await runSql(
    `COPY (SELECT r.range AS time, 'S' || l.range AS symbol, ${factors.join(", ")}
       FROM range(${ROWS}) r, range(${LANES}) l ORDER BY time, symbol)
     TO '${old}' (FORMAT parquet)`,
  );
  await runSql(
    `COPY (SELECT * REPLACE (CASE WHEN time = 9000 AND symbol = 'S7' THEN NULL ELSE g END AS g)
       FROM '${old}') TO '${changed}' (FORMAT parquet)`,
  );
  await runSql(`COPY (SELECT * FROM '${old}' ORDER BY hash(f)) TO '${shuffled}' (FORMAT parquet)`);
  const filesMib = (statSync(old!).size + statSync(changed!).size) / MIB;
  const inOrder = diffFiles(old!, changed!);
  const [{ name, cellCount, first } = expect.fail()] = inOrder.found.differences;
  expect(inOrder.found.differences).toHaveLength(1);
  expect([name, cellCount, first.time, first.symbol, first.b]).toEqual(["g", 1, "9000", "S7", null]);
  const outOfOrder = diffFiles(old!, shuffled!);
  expect([outOfOrder.found.isSame, outOfOrder.found.rowCount]).toEqual([true, ROWS * LANES]);
  expect(inOrder.peakMib).toBeLessThan(0.55 * filesMib); // it is 360 of 982
  expect(outOfOrder.peakMib).toBeLessThan(0.7 * filesMib); // it is 496
});
