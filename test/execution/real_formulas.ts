import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import { builtInRegistry } from "../../operators/index.ts";
import { readPanel } from "../../src/data/source/read_panel.ts";
import type { EngineHost } from "../../src/evaluation/evaluation.ts";
import { MemoryBudget } from "../../src/evaluation/memory/memory_budget.ts";
import { ExecutorPool } from "../../src/execution/executor_pool.ts";
import { compile, type Panel, type Program } from "../../src/index.ts";
import { DEFAULT_COSTS } from "../../src/plan/cost_model.ts";
import { callText, exampleSettings } from "../conformance/applications.ts";

/** Real bars and two programs over them, to be evaluated under disturbance. */
export interface RealFormulas {
  readonly panel: Panel;
  /** The 101 formulas, and one formula per operator: recurrences, windows of all kinds, cross-sections, groups. */
  readonly programs: readonly Program[];
}

const example = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));

export async function realFormulas(): Promise<RealFormulas> {
  const panel = await readPanel(example("data/sp100_daily.csv.gz"), {
    groups: example("data/sp100_sectors.csv"),
  });
  const names = { fields: [...panel.fields.keys()], groups: [...panel.groups.keys()] };
  const texts = [readFileSync(example("alpha101.factors"), "utf8"), oneFormulaPerOperator()];
  return { panel, programs: texts.map((text) => compile(text, names)) };
}

/** Over values of other nodes, so that windows and recurrences read columns. */
function oneFormulaPerOperator(): string {
  const series = ["moved", "volume", "high - low", "open", "close"];
  const lines = builtInRegistry.operators.map((operator) => {
    let used = 0;
    const columns = operator.parameters.flatMap(({ kind }) => {
      if (kind === "group") return ["sector"];
      if (kind === "condition") return ["close > open"];
      return kind === "series" ? [series[used++ % series.length]!] : [];
    });
    const [settings = {}] = exampleSettings(operator);
    return `of_${operator.name} = ${callText(operator, { settings, columns })}`;
  });
  return ["let moved = close - 0.5 * ema(close, 7)", ...lines].join("\n");
}

/** Every other number of threads with a core for the scheduler, which then wakes executors one by one. */
export async function startHost(threads: number): Promise<EngineHost> {
  const cores = threads % 2 === 1 ? threads + 1 : threads;
  const pool = await ExecutorPool.start({ threads, cores });
  return { pool, budget: new MemoryBudget(totalmem() / 4), threads, costs: DEFAULT_COSTS };
}

interface Columns {
  getChild(name: string): Iterable<number | null> | null;
}

/** A digest of the bits of a factor's column; the bits of nulls do not count. */
export function digestOf(table: Columns, name: string): string {
  const cells = Float64Array.from(table.getChild(name)!, (cell) => cell ?? Number.NaN);
  return createHash("sha256").update(cells).digest("hex");
}
