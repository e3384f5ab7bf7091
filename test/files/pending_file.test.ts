import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { pendingFile } from "../../src/files/pending_file.ts";
import { scratchPath } from "../data/scratch.ts";

const MODULE = pathToFileURL(join(import.meta.dirname, "../../src/files/pending_file.ts")).href;

/** A process of its own that has begun a file for the path and does not end. */
async function beginElsewhere(path: string): Promise<{ begun: string; kill: () => Promise<void> }> {
  const code = `
    import { writeFileSync } from "node:fs";
    import { pendingFile } from ${JSON.stringify(MODULE)};
    const { temporaryPath } = await pendingFile(${JSON.stringify(path)});
    writeFileSync(temporaryPath, "half of");
    process.stdout.write(temporaryPath);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  onTestFinished(kill);
  const [begun] = await once(child.stdout, "data");
  return { begun: String(begun), kill };
}

function folderOf(name: string): string {
  mkdirSync(scratchPath(name));
  return scratchPath(name);
}

test("what a killed process had begun goes when the same file is begun again", async () => {
  const folder = folderOf("killed");
  const path = join(folder, "out.csv");
  const { begun, kill } = await beginElsewhere(path);
  expect(readdirSync(folder).sort()).toEqual([basename(begun)]);
  await kill();
  const file = await pendingFile(path);
  expect(readdirSync(folder)).toEqual([]);
  writeFileSync(file.temporaryPath, "all");
  await file.commit();
  expect(readdirSync(folder)).toEqual(["out.csv"]);
  expect(readFileSync(path, "utf8")).toBe("all");
});

test("what is not known to be left over stays", async () => {
  const folder = folderOf("kept");
  const path = join(folder, "out.csv");
  const other = await beginElsewhere(join(folder, "out.csv.csv"));
  await other.kill();
  const living = await beginElsewhere(path);
  const own = await pendingFile(path);
  writeFileSync(own.temporaryPath, "");
  const tail = basename(own.temporaryPath).slice(".out.csv.".length);
  const elsewhere = `.out.csv.${"0".repeat(8)}${tail.slice(8)}`;
  for (const name of [elsewhere, ".out.csv.tmp", ".out.csv.notes.tmp"]) writeFileSync(join(folder, name), "");
  const before = readdirSync(folder).sort();
  expect(before).toContain(basename(living.begun));
  expect(before).toContain(basename(other.begun));
  await pendingFile(path);
  expect(readdirSync(folder).sort()).toEqual(before);
});

test("a long name may be written", async () => {
  const path = join(folderOf("long"), `${"n".repeat(200)}.csv`);
  const file = await pendingFile(path);
  writeFileSync(file.temporaryPath, "all");
  await file.commit();
  expect(readFileSync(path, "utf8")).toBe("all");
});

test("giving up a file that cannot be removed hides no other reason", async () => {
  const file = await pendingFile(scratchPath(`${"n".repeat(250)}.csv`));
  await expect(file.abort()).resolves.toBeUndefined();
});

test("a folder that is not there is left to who writes", async () => {
  await expect(pendingFile(scratchPath("none/out.csv"))).resolves.toMatchObject({});
});
