import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { JobHistory } from "../../../src/jobs/journal/history.ts";
import { formatRecord, Journal, readJournal } from "../../../src/jobs/journal/journal.ts";
import { JournalLock, lockHolder } from "../../../src/jobs/journal/journal_lock.ts";
import type { JournalRecord } from "../../../src/jobs/journal/records.ts";
import { fileFolder } from "../../support/file_folder.ts";
import { canUnshare, inNamespace } from "../../support/namespaces.ts";

const root = fileFolder();

const skipped = (path: string): JournalRecord => ({
  kind: "skipped",
  path,
  sha256: "0",
  reason: 'a "reason"\n',
});

/** The lines of a journal that skipped files. */
function linesOf(paths: readonly string[]): string[] {
  let before: string | undefined;
  return paths.map((path) => {
    const { line, sum } = formatRecord(skipped(path), before);
    before = sum;
    return line;
  });
}

async function recordsOf(path: string): Promise<JournalRecord[]> {
  const records: JournalRecord[] = [];
  await readJournal(path, (record) => records.push(record));
  return records;
}

describe("records", () => {
  test("a truncated last line is ignored, wherever it ends", async () => {
    const path = join(root, "torn.jsonl");
    const lines = linesOf(["a", "ü"]);
    const whole = Buffer.from(lines.join(""));
    for (let length = 0; length <= whole.length; length += 1) {
      writeFileSync(path, whole.subarray(0, length));
      const count = length === whole.length ? 2 : length >= Buffer.byteLength(lines[0]!) ? 1 : 0;
      expect(await recordsOf(path), `cut at ${length}`).toHaveLength(count);
    }
  });

  test("a journal continues after its last whole line", async () => {
    const path = join(root, "goes_on.jsonl");
    const [first, second] = linesOf(["a", "b"]) as [string, string];
    writeFileSync(path, first + second.slice(0, 30));
    const records: JournalRecord[] = [];
    const journal = await Journal.open(path, (record) => records.push(record));
    expect(records).toEqual([skipped("a")]);
    await journal.append(skipped("c"));
    await journal.close();
    expect(readFileSync(path, "utf8")).toBe(linesOf(["a", "c"]).join(""));
  });

  test("a line that another process adds is neither read as ours nor truncated", async () => {
    const path = join(root, "two_writers.jsonl");
    const [first, second] = [await Journal.open(path, () => {}), await Journal.open(path, () => {})];
    await first.append(skipped("a"));
    await expect(second.append(skipped("b"))).rejects.toThrow("E360");
    await first.append(skipped("c"));
    await Promise.all([first.close(), second.close()]);
    expect(readFileSync(path, "utf8")).toBe(linesOf(["a", "c"]).join(""));
  });

  test("a journal is read in pieces, wherever these end in its lines", async () => {
    const path = join(root, "pieces.jsonl");
    const pieceBytes = 65_536;
    // Letters of two bytes, in lines that are shorter and longer than a piece, and one that ends with it.
    const paths = [1, 2, 3, pieceBytes, 200_001, 7].map((length) => "ü".repeat(length));
    const [first] = linesOf([""]) as [string];
    paths.unshift("a".repeat(pieceBytes - first.length));
    const lines = linesOf(paths);
    expect(Buffer.byteLength(lines[0]!)).toBe(pieceBytes);
    writeFileSync(path, lines.join(""));
    expect(await recordsOf(path)).toEqual(paths.map(skipped));
    writeFileSync(path, `${lines.slice(0, -1).join("")}\n${lines.at(-1)}`);
    await expect(recordsOf(path)).rejects.toThrow("line 7 does not agree with its checksum");
  });

  test("a wrong line before the end is damage", async () => {
    const path = join(root, "damaged.jsonl");
    const [first, second] = linesOf(["a", "b"]) as [string, string];
    writeFileSync(path, first.replace("skipped", "skippex") + second);
    await expect(recordsOf(path)).rejects.toThrow("E360");
    await expect(recordsOf(path)).rejects.toThrow("line 1 does not agree with its checksum");
  });

  test("a line that is missing, doubled or exchanged with another is damage", async () => {
    const path = join(root, "order.jsonl");
    const [a, b, c] = linesOf(["a", "b", "c"]) as [string, string, string];
    for (const lines of [
      [b, c],
      [a, c, b],
      [a, a, b, c],
      [b, a, c],
    ]) {
      writeFileSync(path, lines.join(""));
      await expect(recordsOf(path), lines.join("")).rejects.toThrow("E360");
    }
  });

  test("a journal of version 0.1.0 is refused by name", async () => {
    const path = join(root, "older.jsonl");
    writeFileSync(path, formatRecord(skipped("a"), "").line);
    await expect(recordsOf(path)).rejects.toThrow("E531");
  });

  test("a prepared batch is pending until it is committed", () => {
    const input = (path: string, lastTime: string) => ({
      path,
      bytes: 1,
      modifiedMs: 2,
      sha256: "s",
      rowCount: 3,
      firstTime: "4",
      lastTime,
    });
    const inputs = [input("p", "5"), input("q", "7")];
    const prepared: JournalRecord = {
      kind: "prepared",
      sequence: 1,
      inputs,
      rows: 6,
      outputs: [],
      checkpoint: { file: "c", sha256: "d" },
    };
    const history = new JobHistory();
    history.add(prepared);
    expect([history.sequence, history.lastTime, history.isPending]).toEqual([1, 7n, true]);
    expect(history.committed).toEqual({ files: 0, rows: 0, lastTime: null });
    history.add({ kind: "committed", sequence: 1 });
    expect(history.isPending).toBe(false);
    expect(history.committed).toEqual({ files: 2, rows: 6, lastTime: 7n });
    expect(inputs.map(({ path }) => history.consumed.get(path))).toEqual(inputs);
  });
});

describe("the lock", () => {
  test("is one holder's", async () => {
    const folder = join(root, "held");
    const lock = await JournalLock.take(folder);
    expect(await lockHolder(folder)).toBe(process.pid);
    await expect(JournalLock.take(folder)).rejects.toThrow(`E450 ${folder}: process ${process.pid} runs`);
    expect(await lockHolder(folder)).toBe(process.pid);
    await lock.release();
    expect(await lockHolder(folder)).toBeNull();
    await (await JournalLock.take(folder)).release();
    expect(await lockHolder(join(root, "nothing"))).toBeNull();
  });

  test("of a process that was killed is free", async () => {
    const folder = join(root, "stale");
    const child = holder(folder, []);
    try {
      await once(child.stdout!, "data");
      await expect(JournalLock.take(folder)).rejects.toThrow(`process ${child.pid}`);
    } finally {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    await (await JournalLock.take(folder)).release();
  });

  test.runIf(canUnshare())(
    "holds in other namespaces of processes, where its holder has another id",
    async () => {
      const folder = join(root, "namespaces");
      const children = [1, 2, 3].map(() => holder(folder, inNamespace("--pid")));
      try {
        const outcomes = await Promise.all(children.map((child) => once(child.stdout!, "data")));
        const words = outcomes.map(([bytes]) => String(bytes).trim().slice(0, 4)).sort();
        expect(words).toEqual(["E450", "E450", "held"]);
        await expect(JournalLock.take(folder)).rejects.toThrow("E450");
      } finally {
        for (const child of children) child.kill("SIGKILL");
        await Promise.all(children.map((child) => child.exitCode ?? once(child, "exit")));
      }
      await expect.poll(() => lockHolder(folder), { timeout: 120_000 }).toBeNull();
      await (await JournalLock.take(folder)).release();
    },
  );

  test("is free if its holder could not be written", async () => {
    const folder = join(root, "not_noted");
    await mkdir(join(folder, ".lock.pid"), { recursive: true });
    await expect(JournalLock.take(folder)).rejects.toThrow("EISDIR");
    rmSync(join(folder, ".lock.pid"), { recursive: true });
    await (await JournalLock.take(folder)).release();
  });

  test("does not depend on what the file about its holder says", async () => {
    const folder = join(root, "claims");
    await mkdir(folder);
    for (const text of ["0", "-1", "", String(process.pid)]) {
      writeFileSync(join(folder, ".lock.pid"), text);
      await (await JournalLock.take(folder)).release();
    }
  });

  test("whose file is no database is refused by name, and free once that is removed", async () => {
    const folder = join(root, "no_database");
    await mkdir(folder);
    writeFileSync(join(folder, ".lock.sqlite"), "x".repeat(5_000));
    const refused = `E460 ${join(folder, ".lock.sqlite")}: the journal cannot be locked (file is not a database)`;
    await expect(JournalLock.take(folder)).rejects.toThrow(refused);
    await expect(lockHolder(folder)).rejects.toThrow("may be removed while no process runs these jobs");
    rmSync(join(folder, ".lock.sqlite"));
    await (await JournalLock.take(folder)).release();
  });
});

/** A process that takes the lock and keeps it, or says why it cannot. */
function holder(folder: string, under: readonly string[]): ChildProcess {
  const module = join(import.meta.dirname, "../../../src/jobs/journal/journal_lock.ts");
  const script = `const { JournalLock } = await import(${JSON.stringify(module)});
    const lock = await JournalLock.take(${JSON.stringify(folder)}).catch((error) => error);
    console.log(lock.code ?? "held");
    // A lock that nothing refers to is collected, and free.
    setInterval(() => lock, 1000);`;
  const [command, ...rest] = [...under, process.execPath, "--input-type=module", "-e", script];
  return spawn(command!, rest, { stdio: ["ignore", "pipe", "inherit"] });
}
