import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FolderClaim } from "../../../src/cluster/results/folder_claim.ts";
import { fileFolder } from "../../support/file_folder.ts";
import { canUnshare, inNamespace } from "../../support/namespaces.ts";

const root = fileFolder();

/** A process that says whether it got the folder, and keeps it. */
function taker(folder: string, under: readonly string[]): ChildProcess {
  const module = join(import.meta.dirname, "../../../src/cluster/results/folder_claim.ts");
  const script = `const { FolderClaim } = await import(${JSON.stringify(module)});
    setInterval(() => {}, 1000);
    console.log((await FolderClaim.take(${JSON.stringify(folder)}, "other")) !== null);`;
  const [command, ...rest] = [...under, process.execPath, "--input-type=module", "-e", script];
  return spawn(command!, rest, { stdio: ["ignore", "pipe", "inherit"] });
}

async function takes(child: ChildProcess): Promise<string> {
  return String((await once(child.stdout!, "data"))[0]).trim();
}

async function end(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

test.runIf(canUnshare())(
  "a client of another namespace of processes, where no process has the owner's id, does not get the folder",
  async () => {
    const folder = mkdtempSync(join(root, "claim-"));
    const claim = await FolderClaim.take(folder, "own");
    const child = taker(folder, inNamespace("--pid"));
    const answer = await takes(child).finally(() => end(child));
    expect(answer).toBe("false");
    expect(await claim?.isOurs()).toBe(true);
    await claim?.release();
  },
);

test("the folder of a client that was killed is free", async () => {
  const folder = mkdtempSync(join(root, "claim-"));
  const child = taker(folder, []);
  const [answer, refused] = await takes(child)
    .then(async (text) => [text, await FolderClaim.take(folder, "own")])
    .finally(() => end(child));
  expect([answer, refused]).toEqual(["true", null]);
  const claim = await FolderClaim.take(folder, "own");
  expect(await claim?.isOurs()).toBe(true);
  await claim?.release();
});
