import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Table, tableFromIPC } from "apache-arrow";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compile, Engine, readPanel } from "../../src/index.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { JobFolder, ROOT, realBars, SILENT } from "./job_folder.ts";

/** The factors of each set that ask which instruments have a row: they are always tried, others by chance. */
const SETS = {
  alpha101: ["alpha036", "alpha045", "alpha083"],
  alpha158: [],
  alpha360: [],
  gtja191: ["gtja113", "gtja114"],
} as const;
const FACTORS = trials(12, 400);
const SECTORS = join(ROOT, "examples/data/sp100_sectors.csv");
const DAYS_PER_FILE = 8;

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
});
afterAll(async () => {
  await engine.close();
});

/** Rows without those of a symbol, and without the values of a day. */
function without(bars: string, symbol: string, day?: string): string {
  const [header, ...lines] = bars.trim().split("\n");
  const rows = lines
    .filter((line) => line.split(",")[1] !== symbol)
    .map((line) => (line.split(",")[0] === day ? line.replace(/(,[^,]+){5}$/, ",,,,,") : line));
  return `${[header, ...rows].join("\n")}\n`;
}

/** Bars in which `AAL` is listed with the second file, `AAP` is delisted with the third, which has a day without values. */
function changingBars(): string[] {
  const [first, second, third, fourth] = realBars(4, DAYS_PER_FILE, 4) as [string, string, string, string];
  const day = third.split("\n")[9]!.split(",")[0]!;
  return [without(first, "AAL"), second, without(third, "AAP", day), without(fourth, "AAP")];
}

/** The rows of tables one below the other, as texts: -0 differs from 0. */
function rowsOf(tables: readonly Table[]): string[] {
  return tables.flatMap((table) => {
    const columns = table.schema.fields.map(({ name }) => table.getChild(name)!);
    return Array.from({ length: table.numRows }, (_, row) =>
      columns
        .map((column) => column.get(row))
        .map((value) => (Object.is(value, -0) ? "-0" : String(value)))
        .join(),
    );
  });
}

test.each(
  Object.entries(SETS),
)("a listing, a delisting and a day without values: a job of %s gives the rows of one evaluation", async (set, readPresence) => {
  const random = new Seeded();
  const formulas = readFileSync(join(ROOT, "examples", `${set}.factors`), "utf8");
  const bars = changingBars();
  using folder = new JobFolder({ sink: "arrow", formulas });
  const all = join(folder.path, "all.csv");
  const [header] = bars[0]!.split("\n");
  writeFileSync(all, [header, ...bars.flatMap((text) => text.trim().split("\n").slice(1))].join("\n"));
  const panel = await readPanel(all, { groups: SECTORS });
  const program = compile(formulas, { fields: [...panel.fields.keys()], groups: [...panel.groups.keys()] });
  const select = program.factors
    .map(({ name }) => name)
    .filter(
      (name) =>
        (readPresence as readonly string[]).includes(name) ||
        random.uniform() < FACTORS / program.factors.length,
    );
  folder.configure({ job: `select: [${select.join(", ")}]` });
  folder.addBars(bars[0]!);
  expect(await folder.run()).toBeNull();
  for (const text of bars.slice(1)) folder.addBars(text);
  expect(await folder.run(SILENT, {}, { limits: { rows: 1, ms: 1e9 } })).toBeNull();
  const parts = bars.map((_, at) => join(folder.path, `out/part-0000000${at + 1}.arrow`));
  const rows = rowsOf(parts.map((path) => tableFromIPC(readFileSync(path))));
  expect(rows, `SEED=${random.seed}`).toEqual(
    rowsOf([(await engine.evaluate(program, panel, { select })).table]),
  );
});
