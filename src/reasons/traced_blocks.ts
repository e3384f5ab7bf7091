import type { PanelBlock, PanelSource } from "../data/panel/panel_source.ts";
import type { EngineHost } from "../evaluation/evaluation.ts";
import { FactorStream, type StreamOptions } from "../evaluation/factor_stream.ts";
import type { Registry } from "../operator/registry.ts";
import type { GroupColumn } from "../panel.ts";
import type { TracedBlock } from "./row_cause.ts";
import type { TracedProgram } from "./traced_program.ts";

/** Computes all sub-expressions block by block; the columns of a block are valid until the next one is asked for. */
export async function* tracedBlocks(
  host: EngineHost,
  registry: Registry,
  { program }: TracedProgram,
  source: PanelSource,
  options: StreamOptions,
): AsyncGenerator<TracedBlock, void, void> {
  const groups = new NotedGroups(source);
  const stream = await FactorStream.open(host, registry, program, groups.source, options);
  try {
    const starts = [0, ...stream.restartRows];
    for (const [index, start] of starts.entries()) {
      let isStart = true;
      const rows = { start, first: start, end: starts[index + 1] ?? stream.range.end };
      for await (const results of stream.rows(rows)) {
        yield { results, laneCount: source.laneCount, groups: groups.next(), isStart };
        isStart = false;
      }
    }
  } finally {
    await stream.close();
  }
}

/** The group columns of each block that a source has given, in order: a stream reads ahead of its results. */
class NotedGroups {
  readonly source: PanelSource;
  readonly #blocks: ReadonlyMap<string, GroupColumn>[] = [];

  constructor(source: PanelSource) {
    const blocks = this.#blocks;
    this.source = {
      ...source,
      blocks: async function* (request) {
        for await (const block of source.blocks(request)) {
          blocks.push(keptGroups(block));
          yield block;
        }
      },
      close: async () => await source.close(),
    };
  }

  next(): ReadonlyMap<string, GroupColumn> {
    return this.#blocks.shift()!;
  }
}

/** Codes that change over time are copied: the arrays of a block are used again. */
function keptGroups({ groups }: PanelBlock): ReadonlyMap<string, GroupColumn> {
  return new Map(
    [...groups].map(([name, group]) => [
      name,
      group.changesOverTime ? { ...group, codes: copyOf(group) } : group,
    ]),
  );
}

function copyOf({ codes }: GroupColumn): GroupColumn["codes"] {
  const copy = new Int32Array(new SharedArrayBuffer(codes.byteLength));
  copy.set(codes);
  return copy;
}
