import { closeSync, openSync } from "node:fs";
import { tileMissing } from "../protocol/errors.ts";
import { readFully } from "../protocol/file_seal.ts";

const OPEN_MAX = 256;

/**
 * Keeps files of tiles open for the next task: every task of rows reads a piece of every shard. A deleted file takes space
 * until it is closed.
 */
export class OpenTiles {
  /** By path, in order of use. */
  readonly #files = new Map<string, { readonly fd: number; readonly slab: number }>();

  /** Fills the target from a position of a tile. @throws ResourceError E610 if the file is missing or too short. */
  read(path: string, slab: number, target: Uint8Array, position: number): void {
    const wasOpen = this.#files.has(path);
    try {
      readWhole(path, this.#fdOf(path, slab), target, position);
    } catch (error) {
      this.#close(path);
      if (!wasOpen) throw error;
      // The file may have been replaced since it was opened.
      readWhole(path, this.#fdOf(path, slab), target, position);
    }
  }

  /** Closes the files of slabs up to this one. */
  closeUpTo(slab: number): void {
    for (const [path, file] of this.#files) if (file.slab <= slab) this.#close(path);
  }

  closeAll(): void {
    this.closeUpTo(Number.POSITIVE_INFINITY);
  }

  #fdOf(path: string, slab: number): number {
    let file = this.#files.get(path);
    if (file) this.#files.delete(path);
    else {
      if (this.#files.size === OPEN_MAX) this.#close(this.#files.keys().next().value!);
      file = { fd: openFile(path), slab };
    }
    this.#files.set(path, file);
    return file.fd;
  }

  #close(path: string): void {
    const file = this.#files.get(path);
    this.#files.delete(path);
    if (file) closeSync(file.fd);
  }
}

/** @throws ResourceError E610 if the file is too short. */
export function readWhole(path: string, fd: number, target: Uint8Array, position: number): void {
  if (!readFully(fd, target, position)) throw tileMissing(path);
}

/** @throws ResourceError E610 if the file is missing. */
export function openFile(path: string): number {
  try {
    return openSync(path, "r");
  } catch (cause) {
    throw Object.assign(tileMissing(path), { cause });
  }
}
