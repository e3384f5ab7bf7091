import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DateDay, Float64, Table, Utf8, vectorFromArray } from "apache-arrow";
import { afterAll, beforeAll, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { type CutChoice, prepareJob } from "../../src/cluster/cut/cluster_job.ts";
import { buildTaskGraph } from "../../src/cluster/cut/task_graph.ts";
import { compile, type Program } from "../../src/compile.ts";
import { openPanelSource } from "../../src/data/source/open_panel_source.ts";
import { readPanel } from "../../src/data/source/read_panel.ts";
import { writeTable } from "../../src/data/write/write_table.ts";
import { Engine } from "../../src/engine.ts";
import type { Panel } from "../../src/panel.ts";
import { DEFAULT_COSTS } from "../../src/plan/cost_model.ts";
import { FIELDS, GROUPS } from "../conformance/awkward_panels.ts";
import { panelWithGaps, prefixOf, SERIES } from "../evaluation/panels_with_gaps.ts";
import { fileFolder } from "../support/file_folder.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { differenceOf } from "./support/difference.ts";
import { runGraph } from "./support/run_graph.ts";

/** On a cluster, too, no instrument counts before its first row: slabs, stages with tiles as files and as values. */

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
const folder = fileFolder();
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
});
afterAll(async () => {
  await engine.close();
});

const day = (row: number) => new Date(row * 86_400_000);

/** Bars as a long table, and their series as a table of its own. */
async function written(panel: Panel, name: string): Promise<{ path: string; series: string }> {
  const { laneCount, present, symbols } = panel;
  const cells = [...present.keys()].filter((cell) => present[cell] === 1);
  const fields = FIELDS.filter((field) => field !== SERIES).map((field) => {
    return [
      field,
      vectorFromArray(
        cells.map((cell) => panel.fields.get(field)![cell]!),
        new Float64(),
      ),
    ] as const;
  });
  const groups = GROUPS.map((group) => {
    const { labels, codes, changesOverTime } = panel.groups.get(group)!;
    const texts = cells.map((cell) => labels[codes[changesOverTime ? cell : cell % laneCount]!] ?? null);
    return [group, vectorFromArray(texts, new Utf8())] as const;
  });
  const table = new Table({
    date: vectorFromArray(
      cells.map((cell) => day(Math.floor(cell / laneCount))),
      new DateDay(),
    ),
    symbol: vectorFromArray(
      cells.map((cell) => symbols[cell % laneCount]!),
      new Utf8(),
    ),
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

async function onGraph(
  program: Program,
  file: { path: string; series: string },
  cut: CutChoice,
  isStored: boolean,
) {
  const sourceOptions = { series: file.series };
  const source = await openPanelSource(file.path, sourceOptions);
  try {
    const prepared = await prepareJob({
      program,
      registry: builtInRegistry,
      source,
      path: file.path,
      sourceOptions,
      options: { keepInfinite },
      costs: DEFAULT_COSTS,
      threadCount: 2,
      folder: isStored ? mkdtempSync(join(folder, "tiles-")) : null,
      dataset: null,
      cut,
      partition: { shardLanes: 8, slabRows: 7, blockRows: 4 },
    });
    const graph = buildTaskGraph(prepared.job, { prefix: "run", costNs: () => 1e6 });
    return await runGraph(prepared, graph, "run", source, { keepInfinite });
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
    const whole = await engine.evaluate(
      program,
      await readPanel(wholeFile.path, { series: wholeFile.series }),
      {
        keepInfinite,
      },
    );
    for (const [choice, isStored] of [
      ["slabs", true],
      ["stages", true],
      ["stages", false],
    ] as const) {
      const prefix = await onGraph(program, prefixFile, choice, isStored);
      expect(prefix.numRows).toBeGreaterThan(0);
      expect(differenceOf(prefix, whole.slice(0, prefix.numRows)), `${choice}, trial ${trial}`).toBe(null);
    }
  }
});
