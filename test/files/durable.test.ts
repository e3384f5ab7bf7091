import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeDurableFolder } from "../../src/files/durable.ts";

test("a folder is made with its parents, or the system says why not", async () => {
  const folder = mkdtempSync(join(tmpdir(), "factorloom-test-"));
  try {
    const path = join(folder, "a/b/c");
    await makeDurableFolder(path);
    await makeDurableFolder(path);
    expect(existsSync(path)).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.runIf(process.platform === "linux")("where no folder can be made, nothing hangs", async () => {
  await expect(makeDurableFolder("/proc/factorloom/journal")).rejects.toMatchObject({ code: "ENOENT" });
});
