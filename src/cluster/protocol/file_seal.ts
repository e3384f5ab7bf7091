/**
 * Seals of files that a later run may reuse: after its content a file has checksums and the owner. A file that was changed,
 * truncated, swapped or left by another run counts as missing.
 *
 *     content, then for each chunk, in the order of positions:
 *       bytes 0-7  position (Float64)    bytes 8-11  length    bytes 12-15  CRC-32
 *     then bytes 0-3  "FLSE"    bytes 4-7  number of chunks    bytes 8-27  SHA-1 of the owner's name
 *          bytes 28-31  CRC-32 of the table of chunks and of these bytes before it
 *
 * all little-endian. A chunk is what was written at a time, so that its bytes are in a cache. CRC-32 takes 0.2 ns a byte.
 */
import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";

const MAGIC = 0x45534c46;
const CHUNK_BYTES = 16;
const END_BYTES = 32;
const OWNER_BYTES = 20;
const READ_BYTES = 2 ** 20;

interface Chunk {
  readonly position: number;
  readonly length: number;
  readonly crc: number;
}

/** Collects the checksums of what is written to a file. */
export class FileSeal {
  readonly #chunks: Chunk[] = [];

  add(position: number, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#chunks.push({ position, length: bytes.length, crc: crc32(bytes) });
  }

  /** The bytes to write after the content. */
  bytes(owner: string): Uint8Array {
    const chunks = this.#chunks.sort((a, b) => a.position - b.position);
    const target = Buffer.alloc(chunks.length * CHUNK_BYTES + END_BYTES);
    chunks.forEach(({ position, length, crc }, index) => {
      target.writeDoubleLE(position, index * CHUNK_BYTES);
      target.writeUInt32LE(length, index * CHUNK_BYTES + 8);
      target.writeUInt32LE(crc, index * CHUNK_BYTES + 12);
    });
    const end = chunks.length * CHUNK_BYTES;
    target.writeUInt32LE(MAGIC, end);
    target.writeUInt32LE(chunks.length, end + 4);
    target.set(digestOf(owner), end + 8);
    target.writeUInt32LE(crc32(target.subarray(0, -4)), target.length - 4);
    return target;
  }
}

/** Content followed by its seal. */
export function sealed(content: Uint8Array, owner: string): Uint8Array {
  const seal = new FileSeal();
  seal.add(0, content);
  return Buffer.concat([content, seal.bytes(owner)]);
}

/** Length of the content of a sealed file; null if the file is missing, changed, or of another owner. */
export function sealedBytes(path: string, owner: string): number | null {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return null;
  }
  try {
    return contentBytes(fstatSync(fd).size, owner, (target, position) => readFully(fd, target, position));
  } finally {
    closeSync(fd);
  }
}

/** The content of the bytes of a sealed file; null as `sealedBytes`. */
export function unsealed(file: Uint8Array, owner: string): Uint8Array | null {
  const length = contentBytes(file.length, owner, (target, position) => {
    target.set(file.subarray(position, position + target.length));
    return true;
  });
  return length === null ? null : file.subarray(0, length);
}

function contentBytes(
  size: number,
  owner: string,
  read: (target: Uint8Array, position: number) => boolean,
): number | null {
  const end = Buffer.alloc(END_BYTES);
  if (size < END_BYTES || !read(end, size - END_BYTES) || end.readUInt32LE(0) !== MAGIC) return null;
  if (!end.subarray(8, 8 + OWNER_BYTES).equals(digestOf(owner))) return null;
  const table = end.readUInt32LE(4) * CHUNK_BYTES;
  const content = size - END_BYTES - table;
  if (content < 0) return null;
  const chunks = Buffer.alloc(table);
  if (!read(chunks, content)) return null;
  if (crc32(end.subarray(0, -4), crc32(chunks)) !== end.readUInt32LE(END_BYTES - 4)) return null;
  const buffer = Buffer.alloc(Math.min(READ_BYTES, content));
  let done = 0;
  for (let at = 0; at < table; at += CHUNK_BYTES) {
    if (chunks.readDoubleLE(at) !== done) return null;
    const next = done + chunks.readUInt32LE(at + 8);
    let crc = 0;
    while (done < next) {
      const part = buffer.subarray(0, Math.min(buffer.length, next - done));
      if (part.length === 0 || !read(part, done)) return null;
      crc = crc32(part, crc);
      done += part.length;
    }
    if (crc !== chunks.readUInt32LE(at + 12)) return null;
  }
  return done === content ? content : null;
}

/** Fills the target from a position of a file; false if the file ends before. */
export function readFully(fd: number, target: Uint8Array, position: number): boolean {
  for (let done = 0; done < target.length; ) {
    const count = readSync(fd, target, done, target.length - done, position + done);
    if (count === 0) return false;
    done += count;
  }
  return true;
}

const digestOf = (owner: string) => createHash("sha1").update(owner).digest();
