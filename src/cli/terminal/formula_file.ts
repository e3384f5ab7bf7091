import { readFile, stat } from "node:fs/promises";
import { UsageError } from "../../errors.ts";
import { SOURCE_BYTES_MAX } from "../../limits.ts";
import { noSuchFile } from "../../text/no_such_file.ts";

/**
 * Reads a formula file. Bytes that are not UTF-8 become U+FFFD, which `compile` refuses with its position.
 *
 * @throws UsageError E508 if the file does not exist, E556 if it is too large.
 */
export async function readFormulaFile(path: string): Promise<string> {
  const status = await stat(path).catch(() => null);
  if (!status) throw noSuchFile(`${path}: no such file`, "give the path of a formula file");
  if (!status.isFile()) throw noSuchFile(`${path} is not a file`, "give the path of a formula file");
  if (status.size > SOURCE_BYTES_MAX) {
    const message = `${path} has ${status.size} bytes, a formula file has at most ${SOURCE_BYTES_MAX}`;
    throw new UsageError("E556", message, "split it into several files");
  }
  return await readFile(path, "utf8");
}

/** `a,b` -> `["a", "b"]`. */
export function parseNames(text: string): string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
