import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { JobHistory } from "../../src/jobs/history.ts";
import { formatRecord, Journal, readJournal } from "../../src/jobs/journal.ts";
import { JournalLock, lockHolder } from "../../src/jobs/journal_lock.ts";
import type { JournalRecord } from "../../src/jobs/records.ts";

const root = mkdtempSync(join(tmpdir(), "factorloom-journal-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const skipped = (path: string): JournalRecord => ({
  kind: "skipped",
  path,
  sha256: "0",
  reason: 'a "reason"\n',
});

describe("records", () => {
  test("a torn last line is as if it had never been begun, wherever it was cut", async () => {
    const path = join(root, "torn.jsonl");
    const lines = ["a", "ü"].map((name) => formatRecord(skipped(name)));
    const whole = Buffer.from(lines.join(""));
    for (let length = 0; length <= whole.length; length += 1) {
      writeFileSync(path, whole.subarray(0, length));
      const count = length === whole.length ? 2 : length >= Buffer.byteLength(lines[0]!) ? 1 : 0;
      expect((await readJournal(path)).records, `cut at ${length}`).toHaveLength(count);
    }
  });

  test("a journal goes on behind its last whole line", async () => {
    const path = join(root, "goes_on.jsonl");
    writeFileSync(path, formatRecord(skipped("a")) + formatRecord(skipped("b")).slice(0, 30));
    const { journal, records } = await Journal.open(path);
    expect(records).toEqual([skipped("a")]);
    await journal.append(skipped("c"));
    await journal.close();
    expect(readFileSync(path, "utf8")).toBe(formatRecord(skipped("a")) + formatRecord(skipped("c")));
  });

  test("a wrong line before the end is damage", async () => {
    const path = join(root, "damaged.jsonl");
    writeFileSync(path, formatRecord(skipped("a")).replace("skipped", "skippex"));
    appendFileSync(path, formatRecord(skipped("b")));
    await expect(readJournal(path)).rejects.toThrow("E360");
    await expect(readJournal(path)).rejects.toThrow("line 1 does not agree with its checksum");
  });

  test("what is prepared counts, and is pending until it is committed", () => {
    const input = {
      path: "p",
      bytes: 1,
      modifiedMs: 2,
      sha256: "s",
      rowCount: 3,
      firstTime: "4",
      lastTime: "5",
    };
    const prepared: JournalRecord = {
      kind: "prepared",
      sequence: 1,
      input,
      rows: 6,
      outputs: [],
      checkpoint: { file: "c", sha256: "d" },
    };
    const history = new JobHistory([prepared]);
    expect([history.sequence, history.lastTime, history.rows, history.isPending]).toEqual([1, 5n, 6, true]);
    history.add({ kind: "committed", sequence: 1 });
    expect(history.isPending).toBe(false);
    expect(history.inputAt("p")).toBe(input);
  });
});

/** The file that the next process creates after those before it, the last of which holds the text. */
const successorOf = (place: number, text: string) =>
  `.lock.${createHash("sha256").update(`${place} ${text}`).digest("hex")}`;

describe("the lock", () => {
  test("is one process's", async () => {
    const folder = join(root, "held");
    const lock = await JournalLock.take(folder);
    expect(await lockHolder(folder)).toBe(process.pid);
    await expect(JournalLock.take(folder)).rejects.toThrow(`E450 ${folder}: process ${process.pid} runs`);
    await lock.release();
    expect(await lockHolder(folder)).toBeNull();
    await (await JournalLock.take(folder)).release();
  });

  test("of a process that was killed is stale", async () => {
    const folder = join(root, "stale");
    const module = join(import.meta.dirname, "../../src/jobs/journal_lock.ts");
    const script = `const { JournalLock } = await import(${JSON.stringify(module)});
      await JournalLock.take(${JSON.stringify(folder)}); console.log("held"); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      await once(child.stdout, "data");
      await expect(JournalLock.take(folder)).rejects.toThrow(`process ${child.pid}`);
    } finally {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    await (await JournalLock.take(folder)).release();
  });

  test("of an earlier process with the same id is stale", async () => {
    const folder = join(root, "reused");
    await (await JournalLock.take(folder)).release();
    writeFileSync(join(folder, ".lock"), JSON.stringify({ pid: process.pid, startedAt: "1", token: "t" }));
    await (await JournalLock.take(folder)).release();
  });

  test("many that find a stale lock do not all get it", async () => {
    const folder = join(root, "many");
    await mkdir(folder);
    for (let time = 0; time < 50; time++) {
      writeFileSync(
        join(folder, ".lock"),
        JSON.stringify({ pid: process.pid, startedAt: "1", token: `${time}` }),
      );
      const taken = await Promise.allSettled(Array.from({ length: 8 }, () => JournalLock.take(folder)));
      const locks = taken.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      expect(locks).toHaveLength(1);
      expect(await lockHolder(folder)).toBe(process.pid);
      expect(await readdir(folder)).toEqual([".lock"]);
      await locks[0]!.release();
      expect(await readdir(folder)).toEqual([]);
    }
  });

  test("whose process was killed while it took over a stale one is stale", async () => {
    const folder = join(root, "chain");
    await mkdir(folder);
    const stale = (token: string) => JSON.stringify({ pid: process.pid, startedAt: "1", token });
    writeFileSync(join(folder, ".lock"), stale("first"));
    writeFileSync(join(folder, successorOf(1, stale("first"))), stale("second"));
    expect(await lockHolder(folder)).toBeNull();
    const lock = await JournalLock.take(folder);
    expect(await readdir(folder)).toEqual([".lock"]);
    await lock.release();
  });

  test("that is damaged is stale, and so is its successor", async () => {
    const folder = join(root, "damaged");
    await mkdir(folder);
    writeFileSync(join(folder, ".lock"), "");
    writeFileSync(join(folder, successorOf(1, "")), "");
    const lock = await JournalLock.take(folder);
    expect(await lockHolder(folder)).toBe(process.pid);
    await lock.release();
  });
});
