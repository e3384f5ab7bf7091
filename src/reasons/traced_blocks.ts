import { withOperators } from "../compile.ts";
import type { PanelBlock, PanelSource } from "../data/panel/panel_source.ts";
import { type PanelPart, partOfSource } from "../data/panel/part_of_source.ts";
import type { EngineHost } from "../evaluation/evaluation.ts";
import { FactorStream } from "../evaluation/factor_stream.ts";
import { BLOCK_ROWS_BEST } from "../evaluation/fit_plan.ts";
import type { EvaluateOptions } from "../evaluation/options.ts";
import { NullOrigins } from "./null_origins.ts";
import { readsRow, type TracedBlock } from "./row_blame.ts";
import type { TracedProgram } from "./traced_program.ts";

/** Bytes of the values and origins of all sub-expressions in a block: rows of a block are as many as fit. */
const BLOCK_BYTES = 96 * 2 ** 20;
/** Values of two blocks, for one is computed while the other is read, and origins of one. */
const BYTES_PER_CELL = 2 * Float64Array.BYTES_PER_ELEMENT + Int32Array.BYTES_PER_ELEMENT;

/**
 * Computes all sub-expressions block by block and finds the origins of their nulls. What is yielded is valid until the next
 * block is asked for; `origins` is always the same, and keeps all rows of a lane that is wanted alone.
 *
 * @param part the rows of the call and the lanes whose origins are wanted; other lanes are read where operators across the row need them
 */
export async function* tracedBlocks(
  host: EngineHost,
  { program, tasks }: TracedProgram,
  source: PanelSource,
  { lane, rows }: PanelPart,
  { select: _, from: __, to: ___, ...options }: EvaluateOptions,
): AsyncGenerator<{ readonly block: TracedBlock; readonly origins: NullOrigins }, void, void> {
  const isAlone = lane !== null && !tasks.some(readsRow);
  const part = partOfSource(source, { rows, lane: isAlone ? lane : null });
  const { rowCount, laneCount } = part;
  const fitting = Math.floor(BLOCK_BYTES / (tasks.length * Math.max(1, laneCount) * BYTES_PER_CELL));
  const wanted = options.blockRows ?? Math.min(fitting, BLOCK_ROWS_BEST);
  const blockRows = Math.max(1, Math.min(wanted, rowCount));
  const size = { laneCount, blockRows, lane: isAlone ? 0 : lane, rowCount };
  const groups: TracedBlock["groups"][] = [];
  // A stream reads ahead of its results.
  const noting: PanelSource = {
    ...part,
    blocks: async function* (request) {
      for await (const block of part.blocks(request)) {
        groups.push(keptGroups(block));
        yield block;
      }
    },
  };
  const reader = () => ({ bytes: { origins: NullOrigins.bytesOf(tasks, size) } });
  const registry = withOperators(program.operators);
  const stream = await FactorStream.open(host, registry, program, noting, {
    ...options,
    blockRows,
    reader,
  });
  try {
    const origins = new NullOrigins(tasks, size, stream.restartRows);
    for await (const results of stream.blocks()) {
      const block = { results, laneCount, groups: groups.shift()! };
      origins.take(block);
      yield { block, origins };
    }
  } finally {
    await stream.close();
  }
}

/** Codes that change over time are copied: the arrays of a block are used again. */
function keptGroups({ groups }: PanelBlock): TracedBlock["groups"] {
  return new Map(
    [...groups].map(([name, { codes, changesOverTime }]) => [
      name,
      { codes: changesOverTime ? codes.slice() : codes, changesOverTime },
    ]),
  );
}
