import type { Program } from "../compile.ts";
import type { FactorBlock } from "../data/factors/factor_batches.ts";
import { panelSource } from "../data/panel/panel_source.ts";
import { PanelInput } from "../evaluation/block_input.ts";
import { type EngineHost, Evaluation, type PlanBuffers } from "../evaluation/evaluation.ts";
import type { EvaluateOptions } from "../evaluation/options.ts";
import { type PreparedCall, prepareCall } from "../evaluation/prepared_call.ts";
import { sharedColumn } from "../evaluation/shared_columns.ts";
import type { Registry } from "../operator/registry.ts";
import type { Panel } from "../panel.ts";

export interface RestartOptions extends EvaluateOptions {
  /** The first row that the second plan computes. */
  readonly restartRow: number;
}

/**
 * Evaluates a panel from its first row on as if the process had restarted: before the restart row the plan is closed, and
 * a new plan continues from its checkpoint. Blocks are views of buffers that the next block overwrites.
 */
export async function* restartedBlocks(
  host: EngineHost,
  registry: Registry,
  program: Program,
  panel: Panel,
  options: RestartOptions,
): AsyncGenerator<FactorBlock, void, void> {
  const { restartRow, onProgress } = options;
  const call = await prepareCall(registry, program, panelSource(panel), options);
  const { end } = call.range;
  let evaluation = await open(host, registry, program, panel, call);
  try {
    for (let row = 0; row < end; ) {
      if (row === restartRow) {
        const checkpoint = evaluation.openPlan.checkpoint();
        await evaluation.close();
        evaluation = await open(host, registry, program, panel, call);
        evaluation.openPlan.restore(checkpoint);
      }
      const rowsLeft = (row < restartRow ? restartRow : end) - row;
      const rowCount = Math.min(evaluation.plan.blockRows, rowsLeft);
      await evaluation.run({ rowCount, inputRow: row, outputRow: 0 });
      yield blockOf(panel, call, row, rowCount, evaluation.buffers.results);
      row += rowCount;
      onProgress?.(row, end);
    }
  } finally {
    await evaluation.close();
  }
}

/** Opens the plan with buffers for one block of results. */
async function open(
  host: EngineHost,
  registry: Registry,
  { operators }: Program,
  panel: Panel,
  call: PreparedCall,
): Promise<Evaluation> {
  const { dag } = call.wanted;
  const { laneCount } = panel;
  return await Evaluation.open<PlanBuffers>(host, {
    dag,
    laneCount,
    rowCount: call.range.end,
    registry,
    operators,
    memoryNeed: (rows) => ({
      bytes: { results: dag.outputs.length * rows * laneCount * Float64Array.BYTES_PER_ELEMENT },
      held: [],
      remedy: "raise the memory limit",
    }),
    allocate: (rows) => ({
      ...new PanelInput(panel, call).buffers,
      results: dag.outputs.map(() => sharedColumn(rows * laneCount)),
    }),
  });
}

function blockOf(
  { time, present, laneCount }: Panel,
  { wanted, params, sets }: PreparedCall,
  row: number,
  rowCount: number,
  results: PlanBuffers["results"],
): FactorBlock {
  const end = row + rowCount;
  const columns = wanted.factors.map(({ name, condition, output }) => {
    const values = output === null ? null : (results[output]?.subarray(0, rowCount * laneCount) ?? null);
    if (values) params.nullInactive(values, condition, sets.subarray(row, end));
    return [name, values] as const;
  });
  return {
    rowCount,
    times: time.values.subarray(row, end),
    present: present.subarray(row * laneCount, end * laneCount),
    columns: new Map(columns),
  };
}
