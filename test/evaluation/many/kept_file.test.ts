import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { KeptFile } from "../../../src/evaluation/many/kept_file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "factorloom-test-"));
  vi.stubEnv("TMPDIR", folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

async function back(file: KeptFile, start: number, length: number): Promise<Uint8Array> {
  const target = new Uint8Array(length);
  await file.read(target, start);
  return target;
}

describe("the file of kept results", () => {
  test("gives the bytes of overlapping writes back, in any order, also those of shared memory", async () => {
    const shared = new Uint8Array(new SharedArrayBuffer(5)).fill(9);
    const large = Uint8Array.from({ length: 3_000_001 }, (_, i) => i * 31);
    const groups = [[Uint8Array.of(1, 2), Uint8Array.of(3)], [large], [new Uint8Array(0)], [shared]];
    const file = await KeptFile.open();
    const places = await Promise.all(groups.map((parts) => file.write(parts)));
    for (const i of [3, 1, 0, 2]) {
      const bytes = Buffer.concat(groups[i]!);
      expect(bytes.equals(await back(file, places[i]!, bytes.length)), `write ${i}`).toBe(true);
    }
    await file.close();
  });

  test("has no name, not even while it is open", async () => {
    const file = await KeptFile.open();
    const place = await file.write([Uint8Array.of(1, 2)]);
    expect(readdirSync(folder)).toEqual([]);
    expect([...(await back(file, place, 2))]).toEqual([1, 2]);
    await file.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("says which folder it could not write", async () => {
    const blocked = join(folder, "a_file");
    writeFileSync(blocked, "");
    vi.stubEnv("TMPDIR", blocked);
    await expect(KeptFile.open()).rejects.toThrow(`E444 results that wait do not fit in memory`);
    await expect(KeptFile.open()).rejects.toThrow(`cannot be kept in ${blocked} (ENOTDIR)`);
  });

  test("gives later bytes back after some that were written halfway", async () => {
    const file = await KeptFile.open();
    const first = await file.write([Uint8Array.of(1, 2)]);
    const handle = await open(join(folder, "other"), "w");
    const prototype = Object.getPrototypeOf(handle) as FileHandle;
    const { writev } = prototype;
    vi.spyOn(prototype, "writev").mockImplementationOnce(async function (this: FileHandle, parts, place) {
      const [part] = parts as [Uint8Array];
      await writev.call(this, [part.subarray(0, part.length >> 1)], place);
      throw Object.assign(new Error("no space left on device"), { code: "ENOSPC", syscall: "write" });
    });
    await expect(file.write([Uint8Array.of(3, 4)])).rejects.toThrow("E444");
    const last = await file.write([Uint8Array.of(5, 6)]);
    expect([...(await back(file, first, 2)), ...(await back(file, last, 2))]).toEqual([1, 2, 5, 6]);
    await handle.close();
    await file.close();
  });

  test("that is closed refuses what comes later", async () => {
    const file = await KeptFile.open();
    await file.close();
    await file.close();
    await expect(file.write([Uint8Array.of(1)])).rejects.toThrow("E444");
  });
});
