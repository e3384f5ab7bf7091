import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ReusedDatabases } from "../../../src/data/duckdb/database.ts";
import { layOutPanel } from "../../../src/data/panel/panel_layout.ts";
import { collectPanel } from "../../../src/data/panel/panel_source.ts";
import { openSourceAs } from "../../../src/data/source/open_panel_source.ts";
import { readPlainCsv } from "../../../src/data/source/plain_csv.ts";
import { DataError } from "../../../src/errors.ts";
import type { Panel } from "../../../src/panel.ts";
import { fileFolder } from "../../support/file_folder.ts";
import { Seeded } from "../../support/seeded.ts";
import { trials } from "../../support/trials.ts";

const TRIALS = trials(75, 2_000);
const seeded = new Seeded();
const folder = fileFolder();

const oneOf = <T>(choices: readonly T[]): T => choices[seeded.below(choices.length)]!;

const DATES = [
  "2024-01-02",
  "2024-02-29",
  "1999-12-31",
  "2023-02-29",
  "2024-13-01",
  "02.01.2024",
  "20240102",
];
const MOMENTS = [
  "2024-01-02 09:31:00",
  "2024-01-02 00:00:00",
  "2024-01-02 24:00:00",
  "2024-01-02T09:31:00",
  "2024-01-02 09:31:00.5",
  "2024-01-02 09:31:60",
];
const SYMBOLS = [
  "A",
  "B",
  "BRK.B",
  "600000",
  "000001",
  "a_b",
  "^GSPC",
  "",
  " A",
  "É",
  "NULL",
  "-1",
  "a,b",
  '"A"',
];
const NUMBERS = [
  "1",
  "0",
  "-0",
  "-0.0",
  "45.07",
  "0.1",
  "123456789012345.123456789012345",
  "7016.000000000001",
  "",
  "007",
  "1e5",
  "+3",
  ".5",
  "5.",
  "20_5",
  "nan",
  "inf",
  "true",
  "x",
  " 1",
  "1 ",
  "9999999999999999",
];
const HEADERS = ["open", "px_last", "Close", "close", "", "a b", "date", "é", '"q"'];

/** Mostly the first choice, so that most files have few oddities. */
const mostly = (choices: readonly string[], plain: number, oddity: number): string =>
  seeded.uniform() < oddity ? oneOf(choices) : choices[seeded.below(plain)]!;

function file(): string {
  const oddity = oneOf([0, 0, 0.02, 0.1]);
  const times = seeded.uniform() < 0.6 ? DATES : MOMENTS;
  const numbers = 1 + seeded.below(3);
  const header = ["date", "symbol", ...Array.from({ length: numbers }, (_, at) => `f${at}`)];
  if (seeded.uniform() < oddity) header[2] = oneOf(HEADERS);
  const lines = new Map<string, string>();
  for (let row = 0; row < 1 + seeded.below(12); row += 1) {
    const keys = [mostly(times, times === DATES ? 3 : 2, oddity), mostly(SYMBOLS, 6, oddity)];
    const cells = header.slice(2).map(() => mostly(NUMBERS, 9, oddity));
    if (seeded.uniform() < oddity) cells.push("1");
    // A key twice is an oddity as well.
    lines.set(seeded.uniform() < oddity ? String(row) : keys.join(), [...keys, ...cells].join(","));
  }
  const end = seeded.uniform() < oddity ? oneOf(["\r\n", "\n\n", "\r"]) : "\n";
  return [header.join(","), ...lines.values()].join(end) + oneOf(["", end]);
}

async function read(path: string, databases: ReusedDatabases): Promise<Panel> {
  const source = await openSourceAs(path, {}, layOutPanel, "whole", databases.open);
  try {
    return await collectPanel(source);
  } finally {
    await source.close();
  }
}

test(`what is read without DuckDB is what DuckDB reads: ${TRIALS} files`, async () => {
  using databases = new ReusedDatabases();
  const path = join(folder, "bars.csv");
  let plainCount = 0;
  for (let trial = 0; trial < TRIALS; trial += 1) {
    const text = file();
    writeFileSync(path, text);
    const plain = await readPlainCsv(path, undefined, undefined);
    if (plain === null) continue;
    plainCount += 1;
    const trialText = `SEED=${seeded.seed} trial ${trial}: ${JSON.stringify(text)}`;
    const panel = await read(path, databases).catch((error: unknown) => {
      expect(error, trialText).toBeInstanceOf(DataError);
      return error;
    });
    expect({ ...plain, seriesNames: undefined }, trialText).toEqual(panel);
  }
  expect(plainCount, `SEED=${seeded.seed}`).toBeGreaterThan(TRIALS / 4);
});
