import { type FileHandle, open } from "node:fs/promises";
import { type PendingFile, pendingFile } from "../../files/pending_file.ts";
import { writing } from "../../files/writing.ts";
import type { ChromeEvent } from "./chrome_trace.ts";

const HEAD = '{"displayTimeUnit":"ns","traceEvents":[\n';
const END = "\n]}\n";

/** A file of Chrome trace events. It is written as events come and renamed when it is complete. */
export class TraceFile {
  readonly #path: string;
  readonly #file: PendingFile;
  readonly #handle: FileHandle;
  #separator = HEAD;
  /** The last write; each waits for the one before. */
  #written: Promise<void> = Promise.resolve();

  /** @throws ResourceError E442 if the file cannot be created. */
  static async open(path: string): Promise<TraceFile> {
    const file = await pendingFile(path);
    return new TraceFile(path, file, await writing(path, () => open(file.temporaryPath, "w")));
  }

  private constructor(path: string, file: PendingFile, handle: FileHandle) {
    this.#path = path;
    this.#file = file;
    this.#handle = handle;
  }

  /** Appends events. After a failure nothing more is written. @throws ResourceError E442. */
  write(events: readonly ChromeEvent[]): Promise<void> {
    if (events.length === 0) return this.#written;
    const text = this.#separator + events.map((event) => JSON.stringify(event)).join(",\n");
    this.#separator = ",\n";
    this.#written = this.#written.then(() => writing(this.#path, () => this.#handle.writeFile(text)));
    // Later writes, and `close`, throw the failure too.
    this.#written.catch(() => {});
    return this.#written;
  }

  /** Ends the list of events and renames the file. @throws ResourceError E442; no file is left then. */
  async close(): Promise<void> {
    try {
      await this.#written;
      await writing(this.#path, async () => {
        await this.#handle.writeFile(END);
        await this.#handle.close();
        await this.#file.commit();
      });
    } catch (error) {
      await this.#handle.close();
      await this.#file.abort();
      throw error;
    }
  }
}
