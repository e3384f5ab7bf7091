import { randomUUID } from "node:crypto";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PanelSource } from "../../data/panel/panel_source.ts";
import { writePanelFile } from "../../data/panel_file/write_panel_file.ts";
import { isSystemError } from "../../files/system_error.ts";
import type { Bridge } from "../bridge/bridge.ts";
import { storeFailed } from "../protocol/errors.ts";
import type { BroughtPanel } from "../protocol/protocol.ts";
import { CLAIM_FILE } from "../results/folder_claim.ts";

/** Workers that do not see the client's file get it in pieces of this size, so that no process holds much of it. */
const PIECE_BYTES = 32 * 2 ** 20;

/**
 * Writes columns of a panel that the client brings, in the rows before `end`, to a file of its folder for temporary files.
 *
 * @throws what the source throws; ResourceError E442 for an error of the system; the signal's reason when aborted.
 */
export async function writeBroughtPanel(
  source: PanelSource,
  columns: { readonly fields: readonly string[]; readonly groups: readonly string[]; readonly end: number },
  signal: AbortSignal | undefined,
): Promise<BroughtPanel> {
  const place = join(tmpdir(), "factorloom-panel-");
  const folder = await mkdtemp(place).catch((error: Error) => {
    throw storeFailed(place, error.message);
  });
  try {
    const token = randomUUID();
    await writeFile(join(folder, CLAIM_FILE), JSON.stringify({ token }));
    const path = join(folder, "panel.arrow");
    const { fields, groups, end } = columns;
    const content = { fields, groups, rows: { first: 0, end } };
    const { bytes, digest } = await writePanelFile(source, content, path, signal);
    return { folder, path, token, digest, bytes, pieceBytes: PIECE_BYTES };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw isSystemError(error) ? storeFailed(folder, error.message) : error;
  }
}

/** Sends the file to workers, one piece after the other. @throws the signal's reason when aborted. */
export async function sendBroughtPanel(
  { path, bytes }: BroughtPanel,
  bridge: Bridge,
  signal: AbortSignal | undefined,
): Promise<void> {
  await using file = await open(path);
  for (let index = 0; index * PIECE_BYTES < bytes; index++) {
    signal?.throwIfAborted();
    const piece = new Uint8Array(Math.min(PIECE_BYTES, bytes - index * PIECE_BYTES));
    await file.read(piece, 0, piece.length, index * PIECE_BYTES);
    await bridge.put(index, piece);
  }
}

export async function removeBroughtPanel(panel: BroughtPanel | null): Promise<void> {
  if (panel !== null) await rm(panel.folder, { recursive: true, force: true });
}
