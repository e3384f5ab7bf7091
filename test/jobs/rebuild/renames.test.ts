import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { JobFolder, realBars, SECTORS } from "../job_folder.ts";

test("a symbol that is renamed goes on in one lane, also in results of before", async () => {
  const formulas = "a = ema(close, 5)\nb = ts_mean(rank(volume), 7)\nc = group_mean(close, sector)";
  using folder = new JobFolder({ formulas });
  const sectors = join(folder.path, "sectors.csv");
  const table = readFileSync(SECTORS, "utf8");
  writeFileSync(sectors, table);
  const [first, second] = realBars(2, 8) as [string, string];
  const day = second.split("\n")[1]!.split(",")[0]!;
  const renamed = second.replaceAll(",AAP,", ",ZZZ,");
  folder.configure({ formulas });
  folder.rewriteConfig((text) => text.replace(SECTORS, "sectors.csv"));
  folder.addBars(first);
  expect(await folder.run()).toBeNull();
  writeFileSync(join(folder.path, "renames.csv"), `old,new,from\nAAP,ZZZ,${day}\n`);
  writeFileSync(sectors, table.replace("\nAAP,", "\nZZZ,"));
  folder.rewriteConfig((text) => `${text}    renames: renames.csv\n`);
  expect(await folder.run()).toBeNull();
  // The bars under the last name alone, with its sector.
  const sector = /^AAP,(.*)$/m.exec(table)![1];
  const withSectors = [first.replaceAll(",AAP,", ",ZZZ,"), renamed].map((text) =>
    text
      .trim()
      .split("\n")
      .map((line, at) => {
        const symbol = line.split(",")[1]!;
        const own = symbol === "ZZZ" ? sector : new RegExp(`^${symbol},(.*)$`, "m").exec(table)?.[1];
        return `${line},${at === 0 ? "sector" : own}`;
      })
      .join("\n"),
  );
  expect(await folder.results()).toEqual(await folder.expected([withSectors[0]!], false));
  folder.addBars(renamed);
  expect(await folder.run()).toBeNull();
  expect(await folder.results()).toEqual(await folder.expected(withSectors, false));
});
