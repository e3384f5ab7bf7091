import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type DataType, DateDay, Float64, Table, Utf8, vectorFromArray } from "apache-arrow";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compile, type Program } from "../../src/compile.ts";
import { openPanelSource } from "../../src/data/source/open_panel_source.ts";
import { readPanel } from "../../src/data/source/read_panel.ts";
import { writeTable } from "../../src/data/write/write_table.ts";
import { Engine } from "../../src/engine.ts";
import type { EngineHost } from "../../src/evaluation/evaluation.ts";
import { startHost } from "../../src/evaluation/start_host.ts";
import type { Panel } from "../../src/panel.ts";
import { FIELDS, GROUPS } from "../conformance/awkward_panels.ts";
import { panelWithGaps, prefixOf, SERIES } from "../evaluation/panels_with_gaps.ts";
import { fileFolder } from "../support/file_folder.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { differenceOf } from "./support/difference.ts";
import { openInProcess, tableOfRun } from "./support/in_process_run.ts";

/** On a cluster, too, no instrument counts before its first row. */

const FORMULAS = [
  "rank(coalesce(x, 0))",
  "rank(delay(x, 2))",
  "group_count(1, h)",
  `rank(${SERIES})`,
  `group_count(${SERIES}, h)`,
  "group_mean(coalesce(ts_mean(y, 3, min_periods=1), 1), g)",
  "ts_sum(rank(is_null(x)), 3)",
  "zscore(x) + rank(y)",
];
const random = new Seeded();
const keepInfinite = true;

let engine: Engine;
let host: EngineHost;
const folder = fileFolder();
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
  host = await startHost({ threads: 1, cores: 1 });
});
afterAll(async () => {
  await engine.close();
  await host.pool.close();
});

const day = (row: number) => new Date(row * 86_400_000);

/** Bars as a long table, and their series as a table of its own. */
async function written(panel: Panel, name: string): Promise<{ path: string; series: string }> {
  const { laneCount, present, symbols } = panel;
  const cells = [...present.keys()].filter((cell) => present[cell] === 1);
  const column = <T>(of: (cell: number) => T, type: DataType) => vectorFromArray(cells.map(of), type);
  const labelOf = (group: string) => (cell: number) => {
    const { labels, codes, changesOverTime } = panel.groups.get(group)!;
    return labels[codes[changesOverTime ? cell : cell % laneCount]!] ?? null;
  };
  const fields = FIELDS.filter((field) => field !== SERIES).map((field) => {
    return [field, column((cell) => panel.fields.get(field)![cell]!, new Float64())] as const;
  });
  const groups = GROUPS.map((group) => [group, column(labelOf(group), new Utf8())] as const);
  const table = new Table({
    date: column((cell) => day(Math.floor(cell / laneCount)), new DateDay()),
    symbol: column((cell) => symbols[cell % laneCount]!, new Utf8()),
    ...Object.fromEntries([...fields, ...groups]),
  });
  const path = join(folder, `${name}.arrow`);
  await writeTable(table, path);
  const series = join(folder, `${name}.csv`);
  const lines = Array.from({ length: panel.rowCount }, (_, row) => {
    return `${day(row).toISOString().slice(0, 10)},${row % 3}`;
  });
  writeFileSync(series, `date,${SERIES}\n${lines.join("\n")}\n`);
  return { path, series };
}

/** Cut in slabs of 7 rows, where the workers read the file and where the client brings the bars. */
async function onTasks(
  program: Program,
  { path, series }: { path: string; series: string },
  isBrought: boolean,
) {
  const sourceOptions = { series };
  const source = await openPanelSource(path, sourceOptions);
  try {
    const given = { path: isBrought ? null : path, sourceOptions, options: { keepInfinite }, slabRows: 7 };
    const run = await openInProcess(host, { program, source, ...given });
    expect(run.job.cut.slabRows.length).toBe(1 + Math.ceil(source.rowCount / 7));
    return await tableOfRun(run, source, keepInfinite);
  } finally {
    await source.close();
  }
}

test(`results up to a row are those of the bars up to it, seed ${random.seed}`, {
  timeout: 600_000,
}, async () => {
  const text = FORMULAS.map((formula, index) => `f${index} = ${formula}`).join("\n");
  const program = compile(text, { fields: FIELDS, groups: GROUPS });
  for (let trial = 0; trial < trials(1, 15); trial++) {
    const panel = panelWithGaps(random, 24, 11);
    const cut = 1 + random.below(24);
    const wholeFile = await written(panel, `whole${trial}`);
    const prefixFile = await written(prefixOf(panel, cut), `prefix${trial}`);
    const wholePanel = await readPanel(wholeFile.path, { series: wholeFile.series });
    const { table: whole } = await engine.evaluate(program, wholePanel, { keepInfinite });
    for (const isBrought of [false, true]) {
      const prefix = await onTasks(program, prefixFile, isBrought);
      expect(prefix.numRows).toBeGreaterThan(0);
      expect(differenceOf(prefix, whole.slice(0, prefix.numRows)), `trial ${trial}, ${isBrought}`).toBe(null);
    }
  }
});
