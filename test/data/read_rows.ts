import type { PanelBlock, PanelSource, RowRange } from "../../src/data/panel/panel_source.ts";

/** These rows of a source as one block. @throws as `PanelSource.blocks`. */
export async function readRows(
  source: PanelSource,
  rows: RowRange,
  fields: readonly string[],
  groups: readonly string[],
  signal?: AbortSignal,
): Promise<PanelBlock> {
  const request = { rows, fields, groups, blockRows: rows.end - rows.first, signal };
  for await (const block of source.blocks(request)) return block;
  throw new Error("a reading without blocks");
}
