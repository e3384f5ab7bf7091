import type { EngineHost } from "../evaluation/evaluation.ts";
import type { Panel } from "../panel.ts";
import { FactorDigests } from "./factor_digests.ts";
import { type Formulas, openFormulas } from "./open_formulas.ts";
import { runBlocks } from "./run_blocks.ts";

export interface DigestedRows {
  readonly blockRows: number | undefined;
  /** Rows to run; after the panel's last one its first one follows again. */
  readonly rows: number;
}

/** Digests of a run of its own, one block after the other, since the next one overwrites its results. */
export async function digestRun(
  host: EngineHost,
  formulas: Formulas,
  panel: Panel,
  { blockRows, rows }: DigestedRows,
  onRows: (done: number) => void,
): Promise<Record<string, string>> {
  await using opened = await openFormulas(host, formulas, panel, { blockRows, keepsResults: true });
  const { plan, buffers } = opened.evaluation;
  const digests = new FactorDigests(plan);
  let done = 0;
  await runBlocks(opened.evaluation, panel, {
    rows,
    overlap: 1,
    onBlock: ({ rowCount }) => {
      digests.add(buffers.results, done, rowCount);
      done += rowCount;
      onRows(done);
    },
  });
  return digests.byName();
}
