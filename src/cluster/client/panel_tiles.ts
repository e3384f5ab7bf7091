import type { PanelSource } from "../../data/panel/panel_source.ts";
import { broughtFields } from "../../evaluation/has_row.ts";
import type { Bridge } from "../bridge/bridge.ts";
import { panelKey } from "../cut/task_graph.ts";
import { HeldTile } from "../exchange/held_pieces.ts";
import { TileStore } from "../exchange/tile_store.ts";
import { addPanel } from "../executor/panel_task.ts";
import type { ClusterJob } from "../protocol/protocol.ts";
import { ReusedBuffer } from "../protocol/reused_buffer.ts";
import { blockCount, PANEL_STAGE, rowsOfBlock, slabCount } from "../protocol/tiles.ts";

/**
 * Brings the tiles of a panel that workers cannot read: as files to the store, or as values to the workers. The client
 * holds one block at a time.
 *
 * @throws what the source throws; ResourceError E609; the signal's reason when aborted.
 */
export async function bringPanel(
  source: PanelSource,
  job: ClusterJob,
  prefix: string,
  bridge: Pick<Bridge, "put">,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { partition } = job;
  const { fields, groups } = job.source;
  const places = Array.from({ length: slabCount(partition) }, (_, slab) =>
    Array.from({ length: blockCount(partition, slab) }, (_, block) => [slab, block] as const),
  ).flat();
  const store = job.folder === null ? null : new TileStore(job, job.folder);
  const codes = new ReusedBuffer();
  const pieceBuffers: ReusedBuffer[] = [];
  let index = 0;
  const request = { fields: broughtFields(fields), groups };
  for await (const block of source.blocks({ ...request, blockRows: partition.blockRows, signal })) {
    const place = places[index++];
    // Rows after the last output row.
    if (place === undefined) return;
    const [slab, part] = place;
    const { first, end } = rowsOfBlock(partition, slab, part);
    const tile = store?.create(PANEL_STAGE, slab, part) ?? new HeldTile(pieceBuffers);
    try {
      addPanel(job, { ...block, rowCount: end - first }, codes, tile);
      const buffers = tile.finish();
      if (store === null) await bridge.put([{ key: panelKey(prefix, slab, part), buffers }]);
    } finally {
      tile.abort();
    }
  }
}
