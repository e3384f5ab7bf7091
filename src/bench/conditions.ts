import { compile, finalDag } from "../compile.ts";
import type { Dag } from "../dag/dag.ts";
import { InternalError } from "../errors.ts";
import type { EngineHost, Evaluation } from "../evaluation/evaluation.ts";
import type { Panel } from "../panel.ts";
import { CONDITION_COUNT, conditionalText, holding, PARAM_VALUES } from "./conditional_formulas.ts";
import { FactorDigests } from "./factor_digests.ts";
import type { LiveOptions } from "./live.ts";
import { type OpenedFormulas, openDag } from "./open_formulas.ts";
import { type Measured, msPerRow, peakRssBytes, sum } from "./result.ts";

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
  const full = await OpenProgram.open(host, panel);
  const pruned = await OpenProgram.open(host, panel);
  let readyMs = performance.now() - opening;
  try {
    const warmUpRows = full.lookbackRows + 1;
    const digests = new FactorDigests(full.evaluation.plan);
    const callFull = async (row: number) => {
      const ms = await full.call(row, ALL);
      digests.add(full.evaluation.buffers.results, row, 1);
      return ms;
    };
    for (let row = 0; row < warmUpRows; row++) {
      readyMs += await callFull(row);
      // Every pair once, so that none is cold code.
      readyMs += await pruned.call(row, ALL);
    }
    const fullMs: number[] = [];
    const prunedMs: number[] = [];
    const returnMs: number[] = [];
    for (let index = 0; index < calls; index++) {
      const pair = Math.floor(index / CALLS_PER_PAIR);
      const conditions = holding(pair % PARAM_VALUES, (3 * pair + 1) % PARAM_VALUES);
      fullMs.push(await callFull(warmUpRows + index));
      const ms = await pruned.call(warmUpRows + index, conditions);
      (index % CALLS_PER_PAIR === 0 ? returnMs : prunedMs).push(ms);
      expectEqual(full, pruned, conditions);
      onProgress(index + 1, calls);
    }
    const part = (name: string, ms: readonly number[]) => {
      const { mean, p50, p99, max } = msPerRow(sum(ms), ms.length, ms);
      return { name, count: ms.length, mean, p50, p99, max };
    };
    const { plan, arenaBytes, stateBytes, kernelMs } = full.evaluation;
    return {
      blockRows: 1,
      factors: plan.outputs.length,
      wallMs: sum(prunedMs) + sum(returnMs),
      msPerRow: msPerRow(sum(prunedMs), prunedMs.length, prunedMs),
      cellsPerSecond: null,
      readyMs,
      kernelMs,
      arenaBytes,
      stateBytes,
      peakRssBytes: peakRssBytes(),
      factorDigests: digests.byName(),
      warmUpRows,
      parts: [
        part("all conditions", fullMs),
        part("2 of 50", prunedMs),
        part("2 of 50, the first under them", returnMs),
      ],
    };
  } finally {
    await full.evaluation.close();
    await pruned.evaluation.close();
  }
}

const ALL = new Array<boolean>(CONDITION_COUNT).fill(true);

/** The file, open for one row a call. */
class OpenProgram {
  readonly evaluation: Evaluation;
  readonly lookbackRows: number;
  /** The condition of each output. */
  readonly conditions: readonly number[];
  readonly #rowCount: number;

  static async open(host: EngineHost, panel: Panel): Promise<OpenProgram> {
    const names = { fields: [...panel.fields.keys()], groups: [...panel.groups.keys()] };
    const program = compile(conditionalText(), { file: "conditions", ...names });
    const dag = finalDag(program);
    const { disabledPasses } = program;
    const opened = await openDag(host, dag, panel, { blockRows: 1, keepsResults: true, disabledPasses });
    return new OpenProgram(opened, dag, panel.rowCount);
  }

  private constructor(
    { evaluation, lookbackRows }: Pick<OpenedFormulas, "evaluation" | "lookbackRows">,
    { outputs }: Dag,
    rowCount: number,
  ) {
    this.evaluation = evaluation;
    this.lookbackRows = lookbackRows;
    this.conditions = outputs.map(({ condition }) => condition!);
    this.#rowCount = rowCount;
  }

  /** Runs the next row; its wall time in ms. */
  async call(row: number, conditions: readonly boolean[]): Promise<number> {
    const started = performance.now();
    const block = { rowCount: 1, inputRow: row % this.#rowCount, outputRow: 0 };
    await this.evaluation.run(block, undefined, conditions);
    return performance.now() - started;
  }
}

/** @throws InternalError if a wanted factor has other bits in the one than in the other. */
function expectEqual(full: OpenProgram, pruned: OpenProgram, holds: readonly boolean[]): void {
  full.conditions.forEach((condition, output) => {
    if (!holds[condition]) return;
    const [expected, found] = [full, pruned].map(({ evaluation }) =>
      bytesOf(evaluation.buffers.results[output]!),
    );
    if (Buffer.compare(expected!, found!) !== 0)
      throw new InternalError(
        `${full.evaluation.plan.outputs[output]!.name} differs where others are left out`,
      );
  });
}

function bytesOf(values: Float64Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}
