import type { EngineHost, Evaluation } from "../evaluation/evaluation.ts";
import type { BlockRows } from "../execution/open_plan.ts";
import type { Panel } from "../panel.ts";
import { measureHistory } from "./history.ts";
import { type Formulas, openFormulas } from "./open_formulas.ts";
import { type Measured, median } from "./result.ts";
import { runBlocks } from "./run_blocks.ts";

/**
 * How fast the node of each factor is, by the time that executors measured of it: neither bringing the input
 * counts, nor do nodes that it reads from.
 */
export async function measureNodes(
  host: EngineHost,
  formulas: Formulas,
  panel: Panel,
  blockRows: number | undefined,
): Promise<Measured> {
  const onProgress = () => {};
  const history = await measureHistory(host, formulas, panel, { blockRows, runs: 1, onProgress });
  await using opened = await openFormulas(host, formulas, panel, { blockRows, keepsResults: false });
  const { evaluation } = opened;
  // The first round over the panel warms up: memory is touched, windows fill.
  await runBlocks(evaluation, panel);
  const nsPerCell = await nsOfBlocks(evaluation, panel);
  const parts = evaluation.plan.outputs.map(({ name }, output) => {
    const ns = median(nsPerCell.map((ofBlock) => ofBlock[output] as number));
    return { name, nsPerCell: ns, gigaCellsPerSecond: 1 / ns };
  });
  return { ...history, parts };
}

/** For each block of the panel, ns per cell of the node of each output, summed over its parts. */
async function nsOfBlocks(evaluation: Evaluation, panel: Panel): Promise<number[][]> {
  const { plan, openPlan } = evaluation;
  const nodes = plan.outputs.map((_, output) =>
    plan.nodes.findIndex(({ outputs }) => outputs.includes(output)),
  );
  const nsPerCell: number[][] = [];
  let before = nodes.map((node) => openPlan.nodeNs[node]!);
  const onBlock = ({ rowCount }: BlockRows) => {
    const after = nodes.map((node) => openPlan.nodeNs[node]!);
    nsPerCell.push(after.map((ns, output) => (ns - before[output]!) / (rowCount * panel.laneCount)));
    before = after;
  };
  await runBlocks(evaluation, panel, { overlap: 1, onBlock });
  return nsPerCell;
}
