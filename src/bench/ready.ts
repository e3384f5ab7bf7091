import type { EngineHost, Evaluation } from "../evaluation/evaluation.ts";
import type { Panel } from "../panel.ts";
import { FactorDigests } from "./factor_digests.ts";
import { openFormulas, publishedText } from "./open_formulas.ts";
import { type Measured, peakRssBytes, sum } from "./result.ts";
import { runRow } from "./run_blocks.ts";

const SETS = ["alpha101", "alpha158", "alpha360", "gtja191"];

/**
 * From the text of the published sets to the first row evaluated, with threads that have started: parsing, passes,
 * plan, kernels by V8's optimising compiler, memory, one call. One set after the other, all of them open at the end.
 * It is measured once, in a process that has compiled nothing before: that is how a service starts.
 */
export async function measureReady(
  host: EngineHost,
  panel: Panel,
  onProgress: (done: number, total: number) => void,
): Promise<Measured> {
  const open: Evaluation[] = [];
  const parts = [];
  const digests: Record<string, string> = {};
  try {
    for (const name of SETS) {
      const text = publishedText(name);
      const started = performance.now();
      const opened = await openFormulas(host, { name, text }, panel, { blockRows: 1, keepsResults: true });
      const { evaluation, compileMs } = opened;
      open.push(evaluation);
      const firstCallMs = await runRow(evaluation, panel, 0);
      const readyMs = performance.now() - started;
      const ofSet = new FactorDigests(evaluation.plan);
      ofSet.add(evaluation.buffers.results, 0, 1);
      // Two sets have factors of one name.
      for (const [factor, digest] of Object.entries(ofSet.byName())) digests[`${name}.${factor}`] = digest;
      parts.push({
        name,
        factors: evaluation.plan.outputs.length,
        readyMs,
        compileMs,
        kernelMs: evaluation.kernelMs,
        firstCallMs,
      });
      onProgress(open.length, SETS.length);
    }
    const readyMs = sum(parts.map((part) => part.readyMs));
    return {
      blockRows: 1,
      factors: sum(parts.map(({ factors }) => factors)),
      wallMs: readyMs,
      msPerRow: null,
      cellsPerSecond: null,
      readyMs,
      kernelMs: sum(parts.map(({ kernelMs }) => kernelMs)),
      arenaBytes: sum(open.map(({ arenaBytes }) => arenaBytes)),
      stateBytes: sum(open.map(({ stateBytes }) => stateBytes)),
      peakRssBytes: peakRssBytes(),
      factorDigests: digests,
      parts,
    };
  } finally {
    for (const evaluation of open) await evaluation.close();
  }
}
