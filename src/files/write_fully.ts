import type { FileHandle } from "node:fs/promises";

/** Linux accepts at most 1024 parts and 2 GiB at once. */
const PARTS_MAX = 512;
const PART_BYTES_MAX = 2 ** 20;

/**
 * Writes all bytes of all parts; `write` may stop early, and `writeFile` makes a call for every half MiB. Without `start`,
 * continues at the end of earlier writes, also of failed ones.
 */
export async function writeFully(
  handle: FileHandle,
  parts: readonly Uint8Array[],
  start: number | null = null,
): Promise<void> {
  const pieces = parts.flatMap(split);
  let position = start;
  for (let done = 0; done < pieces.length; ) {
    const group = pieces.slice(done, done + PARTS_MAX);
    let { bytesWritten } = await handle.writev(group, position ?? undefined);
    if (position !== null) position += bytesWritten;
    for (const piece of group) {
      if (bytesWritten < piece.length) {
        pieces[done] = piece.subarray(bytesWritten);
        break;
      }
      bytesWritten -= piece.length;
      done += 1;
    }
  }
}

function split(part: Uint8Array): Uint8Array[] {
  if (part.length <= PART_BYTES_MAX) return [part];
  const count = Math.ceil(part.length / PART_BYTES_MAX);
  return Array.from({ length: count }, (_, index) =>
    part.subarray(index * PART_BYTES_MAX, (index + 1) * PART_BYTES_MAX),
  );
}
