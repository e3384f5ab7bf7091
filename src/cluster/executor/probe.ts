import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, readSync, statfsSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { writeAll } from "../exchange/tile_file.ts";
import { removeLeftOver, writeFailure } from "../exchange/tile_store.ts";
import { folderNotShared } from "../protocol/errors.ts";

/** What `probe` tasks answer, as JSON. */
export interface ProbeAnswer {
  readonly writeBytesPerSecond: number;
  readonly readBytesPerSecond: number;
  /** Free space that this user may use. */
  readonly freeBytes: number;
  readonly host: string;
}

const PIECE_BYTES = 8 * 2 ** 20;

/**
 * Measures a folder: writes bytes to a file in it, reads them and removes the file.
 *
 * @throws UsageError E614 if this host does not see the folder; ResourceError E609 if it cannot be written.
 */
export function probeFolder(folder: string, bytes: number): ProbeAnswer {
  const host = hostname();
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw folderNotShared(folder, "it is not there");
  const path = join(folder, `.probe-${randomUUID()}.tmp`);
  const piece = new Uint8Array(Math.min(PIECE_BYTES, bytes)).fill(0x5a);
  const perSecond = (startedMs: number) => (1000 * bytes) / Math.max(performance.now() - startedMs, 1e-3);
  try {
    const startedWriting = performance.now();
    overPieces(path, "wx", bytes, (fd, count) => writeAll(fd, piece.subarray(0, count)));
    const writeBytesPerSecond = perSecond(startedWriting);
    const startedReading = performance.now();
    overPieces(path, "r", bytes, (fd, count) => readSync(fd, piece, 0, count, null));
    const readBytesPerSecond = perSecond(startedReading);
    const { bavail, bsize } = statfsSync(folder);
    return { writeBytesPerSecond, readBytesPerSecond, freeBytes: bavail * bsize, host };
  } catch (error) {
    throw writeFailure(path, error);
  } finally {
    removeLeftOver(path);
  }
}

function overPieces(
  path: string,
  mode: "wx" | "r",
  bytes: number,
  work: (fd: number, count: number) => void,
): void {
  const fd = openSync(path, mode);
  try {
    for (let done = 0; done < bytes; done += PIECE_BYTES) work(fd, Math.min(PIECE_BYTES, bytes - done));
    // Only bytes that have left the host are shared.
    if (mode === "wx") fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
