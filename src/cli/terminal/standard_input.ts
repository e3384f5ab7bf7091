import { createWriteStream } from "node:fs";
import { mkdtemp, open, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { interruptionSignal } from "./interruption.ts";

/** The argument that stands for stdin and stdout. */
export const STANDARD = "-";

/** The file that holds stdin while a command reads it. */
let spooledPath: string | null = null;

/** A message in which that file is called stdin. */
export function namingStdin(message: string): string {
  return spooledPath === null ? message : message.replaceAll(spooledPath, "stdin");
}

/** A file that is removed when it is disposed of. */
export interface DataFile extends AsyncDisposable {
  readonly path: string;
}

/** The file of a path, or all of stdin in a temporary file whose extension tells its format. */
export async function dataFile(path: string): Promise<DataFile> {
  if (path !== STANDARD) return { path, [Symbol.asyncDispose]: async () => {} };
  const folder = await mkdtemp(join(tmpdir(), "factorloom-stdin-"));
  const remove = async () => await rm(folder, { recursive: true, force: true });
  try {
    const spooled = join(folder, "spooled");
    await pipeline(process.stdin, createWriteStream(spooled), { signal: interruptionSignal() });
    const extension = await extensionOf(spooled);
    const named = join(folder, `stdin${extension ?? ".arrow"}`);
    if (extension === null) {
      const { arrowFileOfStream } = await import("../../data/arrow/arrow_stream.ts");
      await arrowFileOfStream(spooled, named);
    } else await rename(spooled, named);
    spooledPath = named;
    return { path: named, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** What a message of an Arrow stream begins with. */
const ARROW_MESSAGE = "\xff\xff\xff\xff";

/** The extension that the first bytes of a file ask for; text is CSV. Null for a stream of Arrow. */
async function extensionOf(path: string): Promise<string | null> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(6), 0, 6, 0);
    const first = buffer.toString("latin1", 0, bytesRead);
    if (first.startsWith("PAR1")) return ".parquet";
    if (first === "ARROW1") return ".arrow";
    if (first.startsWith(ARROW_MESSAGE)) return null;
    return first.startsWith("\x1f\x8b") ? ".csv.gz" : ".csv";
  } finally {
    await handle.close();
  }
}
