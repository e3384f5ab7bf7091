import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { JournalLock, lockHolder } from "../../../src/jobs/ledger/journal_lock.ts";
import { fileFolder } from "../../support/file_folder.ts";
import { canUnshare, inNamespace } from "../../support/namespaces.ts";

const root = fileFolder();

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
  const module = join(import.meta.dirname, "../../../src/jobs/ledger/journal_lock.ts");
  const script = `const { JournalLock } = await import(${JSON.stringify(module)});
    const lock = await JournalLock.take(${JSON.stringify(folder)}).catch((error) => error);
    console.log(lock.code ?? "held");
    // A lock that nothing refers to is collected, and free.
    setInterval(() => lock, 1000);`;
  const [command, ...rest] = [...under, process.execPath, "--input-type=module", "-e", script];
  return spawn(command!, rest, { stdio: ["ignore", "pipe", "inherit"] });
}
