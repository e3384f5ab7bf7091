import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { Cluster } from "../../src/cluster/client/cluster.ts";
import { openStore } from "../../src/cluster/exchange/open_store.ts";
import { DatasetFolder } from "../../src/cluster/results/dataset_folder.ts";
import { makeFolders } from "../../src/files/folders.ts";
import { fileFolder } from "../support/file_folder.ts";

/** Folders that are not there or cannot be made. */
describe("a store", () => {
  const folder = fileFolder();
  beforeAll(() => {
    writeFileSync(join(folder, "file"), "");
  });

  test.runIf(process.platform === "linux")("in /proc is refused, or cannot be made", async () => {
    const connected = Cluster.connect({ scheduler: "tcp://127.0.0.1:1", store: "/proc/x/y" });
    await expect(connected).rejects.toThrow(
      /^E630 the store \/proc\/x\/y does not exist or is not a folder; the nearest folder is \/proc\n.*--create-store/,
    );
    const made = Cluster.connect({ scheduler: "tcp://127.0.0.1:1", store: "/proc/x/y", createStore: true });
    await expect(made).rejects.toThrow(/^E609 the client cannot write \/proc\/x\/y: ENOENT/);
    const result = DatasetFolder.open("/proc/x", { run: "run", token: "token", isNew: false });
    await expect(result).rejects.toThrow(/^E609 the client cannot write \/proc\/x: ENOENT/);
  });

  test("below a file, or a file itself, is refused or cannot be made", async () => {
    for (const path of [join(folder, "file"), join(folder, "file", "below")]) {
      await expect(openStore(path, false)).rejects.toThrow(`the nearest folder is ${folder}`);
      await expect(openStore(path, true)).rejects.toThrow(
        /^E609 the client cannot write .*: E(EXIST|NOTDIR)/,
      );
    }
  });

  test("of a result is not looked through any further once a run is aborted", async () => {
    const result = await DatasetFolder.open(join(folder, "out"), { run: "run", token: "token", isNew: true });
    try {
      const part = { name: "part-000000-0000-run.parquet", rows: 1, bytes: 1 };
      writeFileSync(join(folder, "out", part.name), "x");
      const reason = new Error("no longer");
      await expect(result.complete([part], AbortSignal.abort(reason))).rejects.toBe(reason);
    } finally {
      await result.release();
    }
  });

  test("of a result may hold the claim of a client that ended while it set one aside, and no other file", async () => {
    const paths = ["_owner.json.x.tmp", "other.json"].map((name) => {
      const path = join(folder, `result-${name}`);
      mkdirSync(path);
      writeFileSync(join(path, name), "{}");
      return path;
    });
    const openings = paths.map((path) =>
      DatasetFolder.open(path, { run: "run", token: "token", isNew: false }),
    );
    const [aside, other] = await Promise.allSettled(openings);
    expect(other).toMatchObject({ status: "rejected", reason: { name: "UsageError", code: "E629" } });
    expect(aside).toMatchObject({ status: "fulfilled" });
    await (await openings[0]!).release();
  });

  test("is made with the folders above it where that is asked for", async () => {
    const path = join(folder, "a", "b", "c");
    await expect(openStore(path, false)).rejects.toMatchObject({ name: "UsageError", code: "E630" });
    expect(existsSync(join(folder, "a"))).toBe(false);
    await Promise.all([openStore(path, true), openStore(path, true), makeFolders(path)]);
    await openStore(path, false);
  });
});
