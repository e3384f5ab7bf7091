import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { JobStore } from "../../../src/jobs/ledger/job_store.ts";
import { LedgerFile, LedgerTable } from "../../../src/jobs/ledger/ledger_table.ts";
import { fileFolder } from "../../support/file_folder.ts";

const root = fileFolder();
const pathOf = (job: string) => join(root, job, "ledger.sqlite");
const skipped = (path: string) => ({
  path,
  sha256: "0",
  reason: "is a folder",
  since: "2024-01-02T00:00:00.000Z",
});

/** Changes a ledger as another program may. */
function sql(job: string, statements: string): void {
  using database = new DatabaseSync(pathOf(job));
  database.exec(statements);
}

async function refused(job: string): Promise<string[]> {
  const messages = (["read", "write"] as const).map(async (access) => {
    return await JobStore.open(root, job, access).then(
      () => "opened",
      (error: Error) => error.message,
    );
  });
  return [...new Set(await Promise.all(messages))];
}

test("a ledger of a later version, of another job or of another program is refused by name", async () => {
  for (const [job, statements, message] of [
    [
      "later",
      "PRAGMA user_version = 2",
      "a later version of factorloom wrote this ledger\n  install that version",
    ],
    [
      "foreign",
      "PRAGMA application_id = 0",
      "the ledger is damaged: it is none of factorloom\n  restore ledger",
    ],
    ["bare", "DROP TABLE consumed", "the ledger is damaged: no such table: consumed\n  restore ledger"],
  ] as const) {
    (await JobStore.open(root, job))[Symbol.dispose]();
    sql(job, statements);
    const [found, ...others] = await refused(job);
    expect([found, others]).toEqual([expect.stringContaining(`E360 ${pathOf(job)}: ${message}`), []]);
  }
  using store = await JobStore.open(root, "first");
  store.ledger.passOver(skipped("a"));
  mkdirSync(join(root, "second"));
  sql("first", `VACUUM INTO '${pathOf("second")}'`);
  expect(await refused("second")).toEqual([
    `E360 ${pathOf("second")}: is the ledger of job first, and lies in the place of that of job second\n` +
      "  move it back, or give the job its former name",
  ]);
  mkdirSync(join(root, "older"));
  writeFileSync(join(root, "older/journal.jsonl"), "");
  const older = await refused("older");
  expect(older).toEqual([
    expect.stringContaining(`E531 ${join(root, "older/journal.jsonl")}: is a journal of an earlier`),
  ]);
});

test("a ledger that is not there is empty for a reader, who creates none", async () => {
  using store = await JobStore.open(root, "nobody", "read");
  expect([store.ledger.batch, store.ledger.consumed.size]).toEqual([null, 0]);
  expect(() => store.ledger.passOver(skipped("a"))).toThrow("E442");
  expect(() => mkdirSync(join(root, "nobody"))).not.toThrow();
});

test("a writer finds that another one has written, and readers and writers wait for each other", async () => {
  using first = await JobStore.open(root, "shared");
  using second = await JobStore.open(root, "shared");
  using reader = await JobStore.open(root, "shared", "read");
  first.ledger.passOver(skipped("a"));
  expect(() => second.ledger.passOver(skipped("b"))).toThrow(
    `E360 ${pathOf("shared")}: the ledger is damaged: another process has changed it meanwhile`,
  );
  const pages = reader.ledger.skipped.pages();
  expect(pages.next().value).toEqual([skipped("a")]);
  first.ledger.passOver(skipped("c"));
  expect(reader.ledger.skipped.getAll(["a", "b", "c"])).toEqual([skipped("a"), null, skipped("c")]);
  first.ledger.verify();
});

test("a full disk takes nothing of a transaction, and the next one goes on", () => {
  const path = join(root, "full.sqlite");
  const file = new LedgerFile(path, "rwc");
  const table = new LedgerTable<string>(file, "consumed", true);
  const putAll = () => {
    for (let key = 0; key < 100; key += 1) table.put(String(key), "x".repeat(1_000));
  };
  table.put("first", "kept");
  file.exec("PRAGMA max_page_count = 16");
  expect(() => file.transaction("IMMEDIATE", putAll)).toThrow(
    `E442 ${path}: cannot be used (database or disk is full)`,
  );
  expect([table.size, table.get("first")]).toEqual([1, "kept"]);
  file.exec("PRAGMA max_page_count = 1000");
  file.transaction("IMMEDIATE", putAll);
  expect(table.size).toBe(101);
  file.close();
});
