import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { SpillFile } from "../../../src/data/write/spill_file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "factorloom-test-"));
  vi.stubEnv("TMPDIR", folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const bytesOf = (values: Float64Array) => Buffer.from(values.buffer, values.byteOffset, values.byteLength);

describe("a spill file", () => {
  test("gives columns back with the same bits, in any order", async () => {
    const columns = [
      Float64Array.of(1.5, Number.NaN, -0, 0, Infinity, -Infinity, 5e-324, Number.MAX_VALUE, 0.1),
      Float64Array.of(-0),
      Float64Array.from({ length: 300_001 }, (_, i) => Math.sin(i) * 1e9),
      new Float64Array(0),
      Float64Array.of(7, 8, 9).subarray(1),
    ];
    const file = await SpillFile.open();
    const places = await Promise.all(columns.map((column) => file.write(column)));
    for (const i of [4, 0, 2, 1, 3, 0]) {
      const back = await file.read(places[i]!);
      expect(bytesOf(back).equals(bytesOf(columns[i]!)), `column ${i}`).toBe(true);
    }
    await file.close();
  });

  test("leaves nothing in the folder for temporary files, not even while it is open", async () => {
    const file = await SpillFile.open();
    const place = await file.write(Float64Array.of(1, 2));
    expect(readdirSync(folder)).toEqual([]);
    expect([...(await file.read(place))]).toEqual([1, 2]);
    await file.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("says which folder it could not write", async () => {
    const blocked = join(folder, "a_file");
    writeFileSync(blocked, "");
    vi.stubEnv("TMPDIR", blocked);
    await expect(SpillFile.open()).rejects.toThrow(`E444 results that wait do not fit in memory`);
    await expect(SpillFile.open()).rejects.toThrow(`cannot be kept in ${blocked} (ENOTDIR)`);
  });

  test("gives later columns back after one that was written halfway", async () => {
    const file = await SpillFile.open();
    const first = await file.write(Float64Array.of(1, 2));
    const handle = await open(join(folder, "other"), "w");
    const prototype = Object.getPrototypeOf(handle) as FileHandle;
    const { writev } = prototype;
    vi.spyOn(prototype, "writev").mockImplementationOnce(async function (this: FileHandle, parts, place) {
      const [part] = parts as [Uint8Array];
      await writev.call(this, [part.subarray(0, part.length >> 1)], place);
      throw Object.assign(new Error("no space left on device"), { code: "ENOSPC", syscall: "write" });
    });
    await expect(file.write(Float64Array.of(3, 4))).rejects.toThrow("E444");
    const last = await file.write(Float64Array.of(5, 6));
    expect([...(await file.read(first)), ...(await file.read(last))]).toEqual([1, 2, 5, 6]);
    await handle.close();
    await file.close();
  });

  test("that is closed refuses what comes later", async () => {
    const file = await SpillFile.open();
    await file.close();
    await file.close();
    await expect(file.write(Float64Array.of(1))).rejects.toThrow("E444");
  });
});
