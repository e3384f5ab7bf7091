/** Bytes of any number: hashes and reads of the system take fewer than 2 GiB at once. */
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";

const BYTES_AT_ONCE = 2 ** 30;

/** The SHA-256 digest of pieces, one after the other. */
export function digestOf(...pieces: readonly Uint8Array[]): Buffer {
  const hash = createHash("sha256");
  for (const piece of pieces)
    for (let at = 0; at < piece.length; at += BYTES_AT_ONCE)
      hash.update(piece.subarray(at, at + BYTES_AT_ONCE));
  return hash.digest();
}

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
