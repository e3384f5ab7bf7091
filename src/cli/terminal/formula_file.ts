import { readFile, stat } from "node:fs/promises";
import { UsageError } from "../../errors.ts";
import { SOURCE_BYTES_MAX } from "../../limits.ts";
import { noSuchFile } from "../../text/no_such_file.ts";
import { STANDARD } from "./standard_input.ts";

/**
 * Reads a formula file, or stdin for `-`. Bytes that are not UTF-8 become U+FFFD, which `compile` refuses with its position.
 *
 * @throws UsageError E508 if the file does not exist, if it is too large.
 */
export async function readFormulaFile(path: string): Promise<string> {
  if (path === STANDARD) return await readStandardInput();
  const status = await stat(path).catch(() => null);
  if (!status) throw noSuchFile(`${path}: no such file`, "give the path of a formula file");
  if (!status.isFile()) throw noSuchFile(`${path} is not a file`, "give the path of a formula file");
  if (status.size > SOURCE_BYTES_MAX) throw tooLarge(path, `${status.size}`);
  return await readFile(path, "utf8");
}

async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let byteCount = 0;
  for await (const chunk of process.stdin) {
    byteCount += (chunk as Buffer).length;
    if (byteCount > SOURCE_BYTES_MAX) throw tooLarge("stdin", `over ${SOURCE_BYTES_MAX}`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function tooLarge(what: string, bytes: string): UsageError {
  const message = `${what} has ${bytes} bytes, a formula file has at most ${SOURCE_BYTES_MAX}`;
  return new UsageError("E508", message, "split it into several files");
}
