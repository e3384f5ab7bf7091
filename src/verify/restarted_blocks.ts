import type { Program } from "../compile.ts";
import type { FactorBlock } from "../data/factors/factor_batches.ts";
import type { PanelSource } from "../data/panel/panel_source.ts";
import type { EngineHost } from "../evaluation/evaluation.ts";
import { FactorStream } from "../evaluation/factor_stream.ts";
import type { EvaluateOptions } from "../evaluation/options.ts";
import { joinPieces } from "../files/large_bytes.ts";
import type { Registry } from "../operator/registry.ts";

/**
 * Evaluates as if the process had restarted: before the restart row the stream is closed, and another one goes on from its
 * state. Blocks are views of buffers that the next block overwrites.
 */
export async function* restartedBlocks(
  host: EngineHost,
  registry: Registry,
  program: Program,
  source: PanelSource,
  options: EvaluateOptions & { readonly restartRow: number },
): AsyncGenerator<FactorBlock, void, void> {
  const { restartRow, ...call } = options;
  let stream = await FactorStream.open(host, registry, program, source, call);
  try {
    const { end } = stream.range;
    yield* stream.rows({ start: 0, first: 0, end: Math.min(restartRow, end) });
    if (restartRow >= end) return;
    const state = joinPieces(stream.saveState());
    await stream.close();
    stream = await FactorStream.open(host, registry, program, source, call);
    stream.restoreState(state);
    yield* stream.rows({ start: null, first: restartRow, end });
  } finally {
    await stream.close();
  }
}
