import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spillFailed } from "../../data/errors.ts";
import { isSystemError } from "../../files/system_error.ts";
import { writeFully } from "../../files/write_fully.ts";

/** Bytes on disk in a file without a name: they exist as long as it is open, however the process ends. */
export class KeptFile {
  readonly #handle: FileHandle;
  #byteCount = 0;

  /**
   * Opens a file in a new folder (mode 0700) in the system's folder for temporary files, and unlinks both at once.
   *
   * @throws ResourceError E444 if that folder cannot be written.
   */
  static async open(): Promise<KeptFile> {
    return await withPlace(async () => {
      const folder = await mkdtemp(join(tmpdir(), "factorloom-kept-"));
      try {
        return new KeptFile(await open(join(folder, "results"), "wx+", 0o600));
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
  }

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Appends the parts; several writes may overlap. Returns where they begin. @throws ResourceError E444 if the disk is full. */
  async write(parts: readonly Uint8Array[]): Promise<number> {
    const start = this.#byteCount;
    for (const { byteLength } of parts) this.#byteCount += byteLength;
    await withPlace(() => writeFully(this.#handle, parts, start));
    return start;
  }

  /** Fills the target with the bytes from there on. @throws ResourceError E444 if they cannot be read. */
  async read(target: Uint8Array, start: number): Promise<void> {
    await withPlace(async () => {
      for (let filled = 0; filled < target.length; ) {
        const { bytesRead } = await this.#handle.read(target, filled, target.length - filled, start + filled);
        if (bytesRead === 0) throw spillFailed(tmpdir(), "a file ends too early");
        filled += bytesRead;
      }
    });
  }

  /** Frees the disk; waits for current reads and writes. */
  async close(): Promise<void> {
    await this.#handle.close();
  }
}

/** @throws ResourceError E444 for an error of the system. */
async function withPlace<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw isSystemError(cause) ? spillFailed(tmpdir(), cause.code!, cause) : cause;
  }
}
