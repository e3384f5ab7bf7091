import { writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { writing } from "../../src/files/writing.ts";
import { fileFolder } from "../support/file_folder.ts";

const folder = fileFolder();
beforeAll(() => {
  writeFileSync(join(folder, "taken"), "");
});

describe("an error while a file is written", () => {
  const path = () => join(folder, "taken", "out.csv");

  test("of the system is E442", async () => {
    await expect(writing("out.csv", () => writeFile(path(), ""))).rejects.toThrow(
      "E442 out.csv: cannot be written (ENOTDIR: not a directory",
    );
  });

  test("and a mistake in code is what it is", async () => {
    const mistake = new TypeError("x is not a function");
    await expect(writing("out.csv", () => Promise.reject(mistake))).rejects.toBe(mistake);
  });
});
