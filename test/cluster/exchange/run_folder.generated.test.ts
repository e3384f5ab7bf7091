import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkClaim } from "../../../src/cluster/exchange/folder_claim.ts";
import { RunFolder } from "../../../src/cluster/exchange/run_folder.ts";
import { fileFolder } from "../../support/file_folder.ts";
import { trials } from "../../support/trials.ts";

const store = fileFolder();

const ID = "0123456789abcdef";

test("a run that has written nothing leaves no folder; one that has leaves its tiles for the next", async () => {
  const first = await RunFolder.open(store, ID, "first");
  await first.release(false);
  expect(readdirSync(store)).toEqual([]);
  const second = await RunFolder.open(store, ID, "second");
  writeFileSync(join(second.path, "tile"), "");
  writeFileSync(join(second.path, "tile.tmp"), "");
  await second.release(false);
  expect(readdirSync(second.path)).toEqual(["tile"]);
  const third = await RunFolder.open(store, ID, "third");
  expect(third.path).toBe(second.path);
  await third.release(true);
  expect(readdirSync(store)).toEqual([]);
});

test("runs of the same that begin while others end have a folder of their own until they end", async () => {
  async function client(name: string): Promise<void> {
    for (let round = 0; round < trials(40, 2000); round++) {
      const token = `${name}-${round}`;
      const folder = await RunFolder.open(store, ID, token);
      writeFileSync(join(folder.path, token), "");
      await Promise.resolve();
      checkClaim(folder.path, token);
      expect(existsSync(join(folder.path, token))).toBe(true);
      await folder.release(round % 3 > 0);
    }
  }
  await Promise.all(["a", "b", "c", "d"].map(client));
});
