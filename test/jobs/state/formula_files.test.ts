import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { JobFolder, realBars } from "../job_folder.ts";

test("formula files with defaults of their own are one job; its params set those of every file", async () => {
  const bars = realBars(3, 6);
  const first = "param k = 2\nparam m = 1\na = ts_mean(close, 3) * k + m\n";
  const second = "param k = 3\nb = rank(close) * k\n";
  for (const params of ["", "params: { k: 5 }"]) {
    using folder = new JobFolder({ formulas: first, job: params });
    writeFileSync(join(folder.path, "b.factors"), second);
    folder.rewriteConfig((text) => text.replace("formulas: a.factors", "formulas: [a.factors, b.factors]"));
    const [k, own] = params === "" ? [2, 3] : [5, 5];
    using same = new JobFolder({ formulas: `a = ts_mean(close, 3) * ${k} + 1\nb = rank(close) * ${own}\n` });
    for (const each of [folder, same]) {
      each.addBars(bars[0]!);
      expect(await each.run()).toBeNull();
      for (const text of bars.slice(1)) each.addBars(text);
      expect(await each.run()).toBeNull();
    }
    expect(await folder.results()).toEqual(await same.results());
  }
});

test("a wrong formula of any file fails the job, with its file", async () => {
  using folder = new JobFolder({ formulas: "a = close\n" });
  writeFileSync(join(folder.path, "b.factors"), "b = ts_meen(close, 3)\n");
  folder.rewriteConfig((text) => text.replace("formulas: a.factors", "formulas: [a.factors, b.factors]"));
  folder.addBars(realBars(1, 3)[0]!);
  expect((await folder.run())?.message).toContain("b.factors:1:5");
  writeFileSync(join(folder.path, "b.factors"), "a = open\n");
  expect((await folder.run())?.message).toContain("E530");
});
