import { compile, finalDag } from "../compile.ts";
import { InternalError } from "../errors.ts";
import type { EngineHost, Evaluation } from "../evaluation/evaluation.ts";
import type { Panel } from "../panel.ts";
import { CONDITION_COUNT, conditionalText, holding, PARAM_VALUES } from "./conditional_formulas.ts";
import { FactorDigests } from "./factor_digests.ts";
import type { LiveOptions } from "./live.ts";
import { openDag } from "./open_formulas.ts";
import { type Measured, msPerRow, sum } from "./result.ts";
import { runRow, sizesOf } from "./run_blocks.ts";

/** Calls under one pair of conditions, before others come in. */
const CALLS_PER_PAIR = 10;

/**
 * Live calls of 1,000 formulas under 50 conditions: first with all of them, then with two of them, which change from
 * time to time. The rows of both are the same, and so must be the values of the factors that are wanted.
 */
export async function measureConditions(
  host: EngineHost,
  panel: Panel,
  { calls, onProgress }: Omit<LiveOptions, "warmUpRowsMin">,
): Promise<Measured> {
  const opening = performance.now();
  await using whole = await openProgram(host, panel);
  await using part = await openProgram(host, panel);
  const { evaluation: full, lookbackRows, conditions: conditionOf } = whole;
  const pruned = part.evaluation;
  let readyMs = performance.now() - opening;
  const warmUpRows = lookbackRows + 1;
  const digests = new FactorDigests(full.plan);
  const callFull = async (row: number) => {
    const ms = await runRow(full, panel, row, ALL);
    digests.add(full.buffers.results, row, 1);
    return ms;
  };
  for (let row = 0; row < warmUpRows; row++) {
    readyMs += await callFull(row);
    // Every pair once, so that none is cold code.
    readyMs += await runRow(pruned, panel, row, ALL);
  }
  const fullMs: number[] = [];
  const prunedMs: number[] = [];
  const returnMs: number[] = [];
  for (let index = 0; index < calls; index++) {
    const pair = Math.floor(index / CALLS_PER_PAIR);
    const conditions = holding(pair % PARAM_VALUES, (3 * pair + 1) % PARAM_VALUES);
    fullMs.push(await callFull(warmUpRows + index));
    const ms = await runRow(pruned, panel, warmUpRows + index, conditions);
    (index % CALLS_PER_PAIR === 0 ? returnMs : prunedMs).push(ms);
    const wanted = conditionOf.map((condition) => conditions[condition]!);
    expectEqual(full, pruned, wanted);
    onProgress(index + 1, calls);
  }
  const figures = (name: string, ms: readonly number[]) => {
    const { mean, p50, p99, max } = msPerRow(sum(ms), ms.length, ms);
    return { name, count: ms.length, mean, p50, p99, max };
  };
  return {
    ...sizesOf(full),
    wallMs: sum(prunedMs) + sum(returnMs),
    msPerRow: msPerRow(sum(prunedMs), prunedMs.length, prunedMs),
    cellsPerSecond: null,
    readyMs,
    factorDigests: digests.byName(),
    warmUpRows,
    parts: [
      figures("all conditions", fullMs),
      figures("2 of 50", prunedMs),
      figures("2 of 50, the first under them", returnMs),
    ],
  };
}

const ALL = new Array<boolean>(CONDITION_COUNT).fill(true);

/** The file, open for one row a call, and the condition of each output. */
async function openProgram(host: EngineHost, panel: Panel) {
  const names = { fields: [...panel.fields.keys()], groups: [...panel.groups.keys()] };
  const program = compile(conditionalText(), { file: "conditions", ...names });
  const dag = finalDag(program);
  const { disabledPasses } = program;
  const opened = await openDag(host, dag, panel, { blockRows: 1, keepsResults: true, disabledPasses });
  return { ...opened, conditions: dag.outputs.map(({ condition }) => condition!) };
}

/** @throws InternalError if a wanted output has other bits in the one than in the other. */
function expectEqual(
  { plan, buffers }: Evaluation,
  { buffers: others }: Evaluation,
  isWanted: readonly boolean[],
): void {
  for (const [output, { name }] of plan.outputs.entries()) {
    const [expected, found] = [buffers, others].map(({ results }) => bytesOf(results[output]!));
    if (isWanted[output] && Buffer.compare(expected!, found!) !== 0)
      throw new InternalError(`${name} differs where others are left out`);
  }
}

function bytesOf(values: Float64Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}
