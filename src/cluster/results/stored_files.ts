import { readFile } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { replaceFile } from "../../files/pending_file.ts";
import { isSystemError } from "../../files/system_error.ts";
import { storeFailed } from "../protocol/errors.ts";

/** Runs work on a file. @throws ResourceError E442, which names the file, for an error of the system. */
export async function storing<T>(path: string, work: () => Promise<T>): Promise<T> {
  return await work().catch((error: unknown) => {
    throw isSystemError(error) ? Object.assign(storeFailed(path, error.message), { cause: error }) : error;
  });
}

const sumOf = (owner: string, text: string) => String(crc32(text, crc32(owner)));

/** Writes a record as JSON, then its CRC-32, which begins with the owner's name. @throws the system's error. */
export async function writeRecord(path: string, owner: string, record: object): Promise<void> {
  const text = JSON.stringify(record);
  await replaceFile(path, `${text}\n${sumOf(owner, text)}\n`);
}

/** Null if the record was changed, or is of another owner. @throws the system's error. */
export async function readRecord<T>(path: string, owner: string): Promise<T | null> {
  const [text = "", sum] = (await readFile(path, "utf8")).split("\n");
  return sum === sumOf(owner, text) ? (JSON.parse(text) as T) : null;
}
