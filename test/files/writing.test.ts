import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDatabase } from "../../src/data/duckdb/database.ts";
import { writing } from "../../src/files/writing.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "factorloom-writing-"));
  writeFileSync(join(folder, "taken"), "");
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("an error while a file is written", () => {
  const path = () => join(folder, "taken", "out.csv");

  test("of the system is E442", async () => {
    await expect(writing("out.csv", () => writeFile(path(), ""))).rejects.toThrow(
      "E442 out.csv: cannot be written (ENOTDIR: not a directory",
    );
  });

  test("of DuckDB is E442", async () => {
    using database = await openDatabase();
    const copy = () => database.connection.run(`COPY (SELECT 1) TO '${path()}'`);
    await expect(writing("out.csv", copy)).rejects.toThrow(
      "E442 out.csv: cannot be written (Cannot open file",
    );
  });

  test("and a mistake in code is what it is", async () => {
    const mistake = new TypeError("x is not a function");
    await expect(writing("out.csv", () => Promise.reject(mistake))).rejects.toBe(mistake);
  });
});
