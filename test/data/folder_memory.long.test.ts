import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { runSql, scratchPath } from "./scratch.ts";

test("a folder streams in the order of time in the memory of a few blocks", async () => {
  const folder = scratchPath("minutes");
  mkdirSync(folder);
  const fields = Array.from(
    { length: 8 },
    (_, index) => `(r.range * ${index} + l.range)::DOUBLE AS f${index}`,
  );
  for (let part = 0; part < 10; part++)
    await runSql(
      `COPY (SELECT r.range AS time, 'S' || l.range AS symbol, ${fields.join(", ")}
         FROM range(${part * 400}, ${part * 400 + 400}) r, range(1000) l ORDER BY time, symbol)
       TO '${folder}/part-${part}.parquet' (FORMAT parquet)`,
    );
  const script = resolve(import.meta.dirname, "stream_through.ts");
  const { peakMib, rowCount } = JSON.parse(
    execFileSync(process.execPath, [script, folder], { encoding: "utf8" }),
  );
  expect(rowCount).toBe(4000);
  expect(peakMib).toBeLessThan(350); // it is 211; the panel takes 244 more
});
