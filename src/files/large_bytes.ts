/** Bytes of any number: reads of the system take fewer than 2 GiB at once. */
import { open } from "node:fs/promises";

const BYTES_AT_ONCE = 2 ** 30;

/** All bytes of a file, or the first `most`. @throws the system's error */
export async function readFully(
  path: string,
  most = Number.POSITIVE_INFINITY,
): Promise<Uint8Array<ArrayBuffer>> {
  await using file = await open(path);
  const bytes = new Uint8Array(Math.min(most, (await file.stat()).size));
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at, Math.min(BYTES_AT_ONCE, bytes.length - at));
    if (bytesRead === 0) return bytes.subarray(0, at);
    at += bytesRead;
  }
  return bytes;
}
