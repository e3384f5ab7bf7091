import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { Ledger } from "../../../src/jobs/ledger/ledger.ts";
import { fileFolder } from "../../support/file_folder.ts";

test("the ledger of 500,000 files opens in 100 ms", async () => {
  const path = join(fileFolder(), "large.sqlite");
  const input = (file: number) => {
    return { path: `/bars/bars-${file}.csv`, bytes: 1, modifiedMs: 2, sha256: "s".repeat(64) };
  };
  const inputs = Array.from({ length: 500_000 }, (_, file) => input(file));
  {
    using ledger = await Ledger.open(path, "bars", "write");
    const bytes = new Uint8Array(16 * 8);
    const times = inputs.map(({ path }, file) => ({ time: BigInt(file), path, bytes }));
    const results = { outputs: [], rows: 1, checkpoint: { file: "c", sha256: "s" } };
    ledger.prepare({ inputs, times, digested: [], lastTime: "499999", ...results });
    ledger.commit();
  }
  for (const access of ["read", "write"] as const) {
    const started = performance.now();
    using ledger = await Ledger.open(path, "bars", access);
    expect(ledger.consumed.get("/bars/bars-77.csv")).toEqual(inputs[77]);
    expect([ledger.counts.files, performance.now() - started < 100]).toEqual([500_000, true]);
  }
});

test("a ledger that another program keeps locked is refused after a while", async () => {
  const path = join(fileFolder(), "locked.sqlite");
  using ledger = await Ledger.open(path, "bars", "write");
  const run = { startedAt: "a", endedAt: "b", outcome: "done", files: 0, rows: 0, error: null } as const;
  using other = new DatabaseSync(path);
  other.exec("BEGIN EXCLUSIVE");
  expect(() => ledger.endRun(run)).toThrow("E450");
  other.exec("COMMIT");
  ledger.endRun(run);
});
