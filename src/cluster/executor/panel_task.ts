import { HAS_ROW } from "../../dag/row_members.ts";
import type { PanelBlock } from "../../data/panel/panel_source.ts";
import { fillHasRow } from "../../evaluation/has_row.ts";
import type { TimeColumn } from "../../panel.ts";
import { oneStrip } from "../protocol/column_rows.ts";
import { lanesOfShard, type TileOutput } from "../protocol/pieces.ts";
import type { ClusterJob, JobSource } from "../protocol/protocol.ts";
import type { ReusedBuffer } from "../protocol/reused_buffer.ts";
import type { Rows } from "../protocol/tiles.ts";

/** Reads rows of a panel in any order: `PanelRows` of `src/data`. */
export interface RowReader {
  read(rows: Rows, fields: readonly string[], groups: readonly string[]): Promise<PanelBlock>;
  close(): Promise<void>;
}

export type OpenRows = (
  path: string,
  options: JobSource["options"],
  shape: { readonly time: TimeColumn; readonly symbols: readonly string[] },
) => Promise<RowReader>;

/** Splits rows of the panel into the pieces of a tile: fields, then groups as codes, then presence. */
export function addPanel(
  job: ClusterJob,
  block: PanelBlock,
  scratch: ReusedBuffer,
  output: TileOutput,
): void {
  const { laneCount, shardLanes, shardCount } = job.partition;
  const { fields, groups } = job.source;
  const { rowCount, present } = block;
  const cells = rowCount * laneCount;
  const codes = scratch.doubles((groups.length + 1) * cells);
  const hasRow = codes.subarray(groups.length * cells);
  const columns = [
    ...fields.map((name) => fieldOf(block, name, hasRow)),
    ...groups.map((name, index) =>
      fillCodes(codes.subarray(index * cells, (index + 1) * cells), block, name),
    ),
  ];
  const rows = columns.map((column) => oneStrip(column.subarray(0, cells), laneCount));
  const shape = { seriesCount: columns.length, rowCount, laneCount: shardLanes };
  for (let shard = 0; shard < shardCount; shard++) {
    output.addPiece(shape).write(0, rows, lanesOfShard(job.partition, shard));
  }
  output.addPresence(present.subarray(0, cells));
}

/** A field of a block `[rows x lanes]`; `HAS_ROW` is written to `target`. */
export function fieldOf(
  { fields, present }: Pick<PanelBlock, "fields" | "present">,
  name: string,
  target: Float64Array,
): Float64Array {
  if (name !== HAS_ROW) return fields.get(name)!;
  fillHasRow(target, present);
  return target;
}

/** The codes of a group column as numbers `[rows x lanes]`, NaN for null. */
export function fillCodes(
  target: Float64Array,
  { rowCount, groups }: Pick<PanelBlock, "rowCount" | "groups">,
  name: string,
): Float64Array {
  const { codes, changesOverTime } = groups.get(name)!;
  const laneCount = target.length / rowCount;
  for (let cell = 0; cell < target.length; cell++) {
    const code = codes[changesOverTime ? cell : cell % laneCount]!;
    target[cell] = code < 0 ? Number.NaN : code;
  }
  return target;
}
