import { builtInRegistry } from "../../operators/index.ts";
import { compile, finalDag } from "../compile.ts";
import { type Dag, DagBuilder } from "../dag/dag.ts";
import { PASS_NAMES } from "../dag/passes/order.ts";
import type { EngineHost, Evaluation } from "../evaluation/evaluation.ts";
import { BLOCK_ROWS_BEST } from "../evaluation/fit_plan.ts";
import { sharedColumn } from "../evaluation/shared_columns.ts";
import { type Calibration, machineName } from "../evaluation/stored_costs.ts";
import { isSeriesLike, type KernelOperator, kernelOperators, type Settings } from "../operator/definition.ts";
import type { Panel } from "../panel.ts";
import { DEFAULT_COSTS, type OperatorCost } from "../plan/cost_model.ts";
import { COLUMN_COST_NS } from "../plan/task_cost.ts";
import { openDag, openFormulas, openHost } from "./open_formulas.ts";
import { median, sum } from "./result.ts";
import { runRow } from "./run_blocks.ts";
import { syntheticPanel } from "./synthetic_panel.ts";

export interface CalibrateOptions {
  /** Default 4096. */
  readonly lanes?: number | undefined;
  /** Rows of a block; default 64. */
  readonly blockRows?: number;
  readonly onProgress?: (done: number, total: number) => void;
}

const LANES_DEFAULT = 4096;

/** Windows that are measured: a week, a month, a quarter and a year of days. */
const WINDOW_ROWS = [5, 20, 60, 240] as const;

/** Rows that are run before any is measured: memory is touched, windows fill. */
const WARM_UP_ROWS = 256;

/** Blocks that are measured, their median counts. */
const BLOCKS = 5;

/** No further block of an operator is measured after this time: one block of milliseconds stands out from noise. */
const PROBE_MS_MAX = 300;

/**
 * Operators that need no memory are also measured in a chain of this length, as what it costs more than one of them:
 * alone they wait for memory, in a chain for each other, and in formulas for neither; so the smaller figure counts.
 */
const CHAIN_LENGTH = 8;

/** Below, the clock tells nothing; every cost is above 0. */
const NS_PER_CELL_MIN = 0.02;

/** Series arguments in their order. The first is near 1, so that neither products nor powers of it leave what is usual. */
const SERIES = ["ratio", "close", "volume", "high", "low", "vwap"] as const;
const CONDITION = "rising";
const GROUP = "sector";

/** What is measured: an operator with settings. */
interface Probe {
  readonly operator: KernelOperator;
  readonly settings: Settings;
  readonly windowRows: number;
}

/**
 * Measures the compiled code of every built-in operator that has some, each in plans of its own, on one thread: ns per
 * cell, the median of some blocks, less what `task_cost.ts` counts for the column of the result. Reading arguments is
 * included, though tasks of one node share it: the sum of their costs is rather too high. Then what it takes to hand out
 * a part.
 */
export async function calibrate(options: CalibrateOptions = {}): Promise<Calibration> {
  const { lanes = LANES_DEFAULT, blockRows = BLOCK_ROWS_BEST, onProgress = () => {} } = options;
  const probes = kernelOperators(builtInRegistry.operators)
    .filter(({ lower }) => lower)
    .flatMap(probesOf);
  const panel = panelOf(lanes, WARM_UP_ROWS + BLOCKS * blockRows);
  await using host = await openHost({ threads: 1, costs: DEFAULT_COSTS });
  const best = new Map<string, Map<number, number>>();
  for (const [index, probe] of probes.entries()) {
    const nsPerCell = Math.max(NS_PER_CELL_MIN, await measure(host, panel, blockRows, probe));
    const points = best.get(probe.operator.name) ?? new Map<number, number>();
    best.set(probe.operator.name, points);
    // Of several settings the cheapest: with some the code has to leave many cells to the reference, few are used so.
    points.set(probe.windowRows, Math.min(nsPerCell, points.get(probe.windowRows) ?? nsPerCell));
    onProgress(index + 1, probes.length);
  }
  const handOutNs = Number((await measureHandOut()).toPrecision(2));
  const operators = Object.fromEntries([...best].map(([name, points]) => [name, costOf(points)]));
  return {
    machine: machineName(),
    node: process.version,
    measuredAt: new Date().toISOString(),
    lanes,
    operators,
    handOutNs,
  };
}

/** Rows of a handful of lanes, which take hardly longer than it takes to hand them out. */
const HAND_OUT = { nodes: 200, lanes: 8, warmUpCalls: 200, calls: 400 } as const;

/** ns that the scheduler's thread takes for a part, with as many executors as an engine has. */
async function measureHandOut(): Promise<number> {
  await using host = await openHost({ costs: DEFAULT_COSTS, notesTimes: true });
  const panel = syntheticPanel({ lanes: HAND_OUT.lanes, rows: 1, nullShare: 0 });
  const text = Array.from({ length: HAND_OUT.nodes }, (_, id) => `f${id} = rank(close + ${id})`).join("\n");
  const formulas = { name: "hand-out", text };
  await using opened = await openFormulas(host, formulas, panel, { blockRows: 1, keepsResults: false });
  const run = async (calls: number) => {
    for (let call = 0; call < calls; call++) await runRow(opened.evaluation, panel, 0);
    return host.pool.times!;
  };
  const before = await run(HAND_OUT.warmUpCalls);
  const after = await run(HAND_OUT.calls);
  return (1e6 * (after.handling - before.handling)) / (after.parts - before.parts);
}

function costOf(points: ReadonlyMap<number, number>): OperatorCost {
  const ascending = [...points].sort(([a], [b]) => a - b);
  return ascending.map(([windowRows, ns]) => ({ windowRows, nsPerCell: Number(ns.toPrecision(4)) }));
}

/** Rolling operators with some windows, all with the other settings of their worked examples. */
function probesOf(operator: KernelOperator): Probe[] {
  const lengths = operator.parameters.filter(({ kind }) => kind === "window" || kind === "delay");
  const isRolling = operator.axis === "rolling" && lengths.length > 0;
  const distinct = new Map<string, Probe>();
  for (const settings of exampleSettings(operator)) {
    for (const rows of isRolling ? WINDOW_ROWS : [1]) {
      const own = isRolling ? Object.fromEntries(lengths.map(({ name }) => [name, rows])) : {};
      const set = { ...settings, ...own };
      const windowRows = operator.axis === "rolling" ? operator.windowRows(set) : 1;
      distinct.set(JSON.stringify(set), { operator, settings: set, windowRows });
    }
  }
  return [...distinct.values()];
}

/** Settings that make sense to the operator. */
function exampleSettings(operator: KernelOperator): Settings[] {
  return operator.examples.flatMap(({ formula, inputs }) => {
    const isGroup = (name: string) => inputs[name]!.some((cell) => typeof cell === "string");
    const { true: groups = [], false: fields = [] } = Object.groupBy(
      Object.keys(inputs),
      (name) => `${isGroup(name)}`,
    );
    const program = compile(`example = ${formula}`, { fields, groups, disabledPasses: PASS_NAMES });
    const { tasks } = finalDag(program);
    return tasks.flatMap((task) =>
      task.kind === "call" && task.operator === operator ? [task.settings] : [],
    );
  });
}

/** Bars without nulls, the ratio of two prices, and a condition that holds for about half of the bars. */
function panelOf(lanes: number, rows: number): Panel {
  const panel = syntheticPanel({ lanes, rows, nullShare: 0 });
  const [ratio, rising] = [sharedColumn(rows * lanes), sharedColumn(rows * lanes)];
  const [open, close] = [panel.fields.get("open")!, panel.fields.get("close")!];
  for (let cell = 0; cell < ratio.length; cell++) {
    ratio[cell] = close[cell]! / open[cell]!;
    rising[cell] = ratio[cell]! > 1 ? 1 : 0;
  }
  return { ...panel, fields: new Map([...panel.fields, ["ratio", ratio], [CONDITION, rising]]) };
}

async function measure(host: EngineHost, panel: Panel, blockRows: number, probe: Probe): Promise<number> {
  const { axis } = probe.operator;
  const alone = await measureChain(host, panel, blockRows, probe, 1);
  const isOfCells = axis === "elementwise" || axis === "recursive";
  if (!isOfCells) return alone - COLUMN_COST_NS;
  const chain = await measureChain(host, panel, blockRows, probe, CHAIN_LENGTH);
  return Math.min(alone, (chain - alone) / (CHAIN_LENGTH - 1));
}

/** Median ns per cell of all nodes but that of the input. */
async function measureChain(
  host: EngineHost,
  panel: Panel,
  blockRows: number,
  probe: Probe,
  length: number,
): Promise<number> {
  const { rowCount, laneCount } = panel;
  const options = { blockRows, keepsResults: false };
  await using opened = await openDag(host, chainOf(probe, length), panel, options);
  const { evaluation } = opened;
  const perCell: number[] = [];
  let started = performance.now();
  for (let row = 0; row < rowCount; row += blockRows) {
    const before = nodesNs(evaluation);
    await evaluation.run({ rowCount: blockRows, inputRow: row, outputRow: 0 });
    if (row < WARM_UP_ROWS) started = performance.now();
    else perCell.push((nodesNs(evaluation) - before) / (blockRows * laneCount));
    if (performance.now() - started > PROBE_MS_MAX) break;
  }
  return median(perCell);
}

function nodesNs({ plan, openPlan }: Evaluation): number {
  return sum(plan.nodes.map(({ id, kind }) => (kind === "input" ? 0 : openPlan.nodeNs[id]!)));
}

/** The operator applied to fields, its result once more in place of the last argument, and so on. */
function chainOf({ operator, settings }: Probe, length: number): Dag {
  const builder = new DagBuilder(false);
  const series = operator.parameters.filter(({ kind }) => isSeriesLike(kind));
  const inputs = series.map(({ kind }, index) => {
    return builder.add({ kind: "field", name: kind === "condition" ? CONDITION : SERIES[index]! });
  });
  const group = operator.axis === "group" ? GROUP : null;
  let task = -1;
  for (let link = 0; link < length; link++) {
    const own = link === 0 ? inputs : [...inputs.slice(0, -1), task];
    task = builder.add({ kind: "call", operator, inputs: own, group, settings, minPeriods: null });
  }
  return {
    tasks: builder.tasks,
    outputs: [{ name: "probe", task, condition: null, priority: 0 }],
    params: [],
    conditions: [],
  };
}
