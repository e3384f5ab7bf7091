/** Writes a panel as one Arrow IPC file, which `openPanelFile` reads by rows. */
import { createHash } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { Field, Float64, Int32, makeData, RecordBatch, Schema, Struct, Uint8 } from "apache-arrow";
import { writeFully } from "../../files/write_fully.ts";
import type { GroupColumn } from "../../panel.ts";
import { arrowFileEncoder } from "../encoders/arrow_encoders.ts";
import {
  type BlockRequest,
  columnOf,
  type PanelBlock,
  type PanelSource,
  rowsOf,
} from "../panel/panel_source.ts";

/** A record batch takes at most this, or one row. */
const BATCH_BYTES = 8 * 2 ** 20;

/** The part of a source that is written. */
export type PanelFileContent = Pick<BlockRequest, "fields" | "groups" | "rows">;

/**
 * The columns of a panel file: one line for each cell of `[rows x lanes]`, also where the input has no row. Kinds are part
 * of the names, because a field and a group may have the same name. Nulls are values: NaN in fields, -1 in groups.
 */
export function panelFileColumns(fields: readonly string[], groups: readonly string[]): Field[] {
  return [
    ...fields.map((name) => new Field(`field ${name}`, new Float64(), false)),
    ...groups.map((name) => new Field(`group ${name}`, new Int32(), false)),
    new Field("present", new Uint8(), false),
  ];
}

/**
 * Writes rows of a source, with one block of them in memory at a time: `fields` bit for bit, codes of `groups` without their
 * labels, and `present`. A group that is the same on all rows is written for each row. All record batches have the same
 * number of rows, except that the last one may have fewer. After an error there is no file; one that was there before is
 * neither replaced nor removed.
 *
 * @returns the number of bytes, and their SHA-256 digest in hex
 * @throws Error of the system, for example if the disk is full or if the path exists; the errors of `blocks`; the signal's
 *   reason when aborted.
 */
export async function writePanelFile(
  source: PanelSource,
  content: PanelFileContent,
  path: string,
  signal?: AbortSignal,
): Promise<{ bytes: number; digest: string }> {
  const handle = await open(path, "wx");
  try {
    return await writeBatches(handle, source, content, signal).finally(() => handle.close());
  } catch (error) {
    await rm(path, { force: true }).catch(() => {}); // what failed first is reported
    throw error;
  }
}

async function writeBatches(
  handle: FileHandle,
  source: PanelSource,
  content: PanelFileContent,
  signal: AbortSignal | undefined,
): Promise<{ bytes: number; digest: string }> {
  const { laneCount } = source;
  const { fields, groups } = content;
  const rowBytes = laneCount * (8 * fields.length + 4 * groups.length + 1);
  const blockRows = Math.max(1, Math.floor(BATCH_BYTES / Math.max(1, rowBytes)));
  const rows = rowsOf(content, source.rowCount);
  const counts = { rows: rows.end - rows.first, lanes: laneCount, batchRows: blockRows };
  const metadata = new Map(Object.entries(counts).map(([name, count]) => [name, String(count)]));
  const schema = new Schema(panelFileColumns(fields, groups), metadata);
  const encoder = arrowFileEncoder(schema);
  const hash = createHash("sha256");
  let bytes = 0;
  const write = async (parts: readonly Uint8Array[]) => {
    const written = writeFully(handle, parts);
    for (const part of parts) {
      hash.update(part); // while the system writes
      bytes += part.byteLength;
    }
    await written;
  };
  await write(encoder.begin());
  if (laneCount > 0) {
    for await (const block of source.blocks({ fields, groups, rows, blockRows, signal })) {
      await write(encoder.encode([batchOf(block, schema, content, laneCount)]));
      signal?.throwIfAborted();
    }
  }
  await write(encoder.finish(schema));
  return { bytes, digest: hash.digest("hex") };
}

function batchOf(
  block: PanelBlock,
  schema: Schema,
  { fields, groups }: PanelFileContent,
  laneCount: number,
): RecordBatch {
  const length = block.rowCount * laneCount;
  const column = { length, nullCount: 0 };
  const children = [
    ...fields.map((name) => makeData({ ...column, type: new Float64(), data: columnOf(block.fields, name) })),
    ...groups.map((name) => {
      return makeData({ ...column, type: new Int32(), data: codesOf(columnOf(block.groups, name), length) });
    }),
    makeData({ ...column, type: new Uint8(), data: block.present }),
  ];
  return new RecordBatch(schema, makeData({ ...column, type: new Struct(schema.fields), children }));
}

/** The codes of a group for each cell. */
function codesOf({ codes, changesOverTime }: GroupColumn, cellCount: number): Int32Array {
  if (changesOverTime) return codes;
  const spread = new Int32Array(cellCount);
  for (let cell = 0; cell < cellCount; cell += codes.length) spread.set(codes, cell);
  return spread;
}
