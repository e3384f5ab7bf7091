/**
 * Decoder of the LZ4 frame format, the default compression of Feather files from pandas and R; Node has none.
 * https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md and lz4_Block_format.md. Checksums are not verified.
 */

const MAGIC = 0x184d2204;
const UNCOMPRESSED_BLOCK = 0x80000000;
const MATCH_BYTES_MIN = 4;
/** A length of 15 in a token continues in the next bytes, up to the first that is not 255. */
const LENGTH_CONTINUES = 15;

/** Decoded bytes, in a buffer that doubles when it is full. */
class Output {
  bytes: Uint8Array<ArrayBuffer>;
  length = 0;

  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity);
  }

  private grow(byteCount: number): void {
    const need = this.length + byteCount;
    if (need <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(need, this.bytes.length * 2));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }

  append(source: Uint8Array): void {
    this.grow(source.length);
    this.bytes.set(source, this.length);
    this.length += source.length;
  }

  /** Repeats bytes from `offset` bytes back; they overlap when the match is longer than its offset. */
  repeat(offset: number, byteCount: number): void {
    if (offset === 0 || offset > this.length) throw new Error("LZ4 data points before its start");
    this.grow(byteCount);
    const { bytes, length } = this;
    if (offset >= byteCount) bytes.copyWithin(length, length - offset, length - offset + byteCount);
    else
      for (let index = length; index < length + byteCount; index += 1) bytes[index] = bytes[index - offset]!;
    this.length += byteCount;
  }
}

/**
 * The bytes that the frame holds.
 *
 * @throws Error if the input is not an LZ4 frame or is truncated.
 */
export function decodeLz4Frame(input: Uint8Array): Uint8Array<ArrayBuffer> {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  if (input.length < 7 || view.getUint32(0, true) !== MAGIC) throw new Error("no LZ4 frame");
  const flags = input[4]!;
  const hasBlockChecksum = (flags & 0x10) !== 0;
  const hasContentSize = (flags & 0x08) !== 0;
  const hasDictionaryId = (flags & 0x01) !== 0;
  let position = 7 + (hasContentSize ? 8 : 0) + (hasDictionaryId ? 4 : 0);
  const output = new Output(hasContentSize ? Number(view.getBigUint64(6, true)) : input.length * 4);
  for (;;) {
    const header = view.getUint32(position, true);
    position += 4;
    if (header === 0) return output.bytes.subarray(0, output.length);
    const end = position + (header & ~UNCOMPRESSED_BLOCK);
    if (end > input.length) throw new Error("LZ4 data is cut off");
    const block = input.subarray(position, end);
    if (header >= UNCOMPRESSED_BLOCK) output.append(block);
    else decodeBlock(block, output);
    position = end + (hasBlockChecksum ? 4 : 0);
  }
}

function decodeBlock(block: Uint8Array, output: Output): void {
  let position = 0;
  const readLength = (nibble: number): number => {
    let length = nibble;
    if (nibble !== LENGTH_CONTINUES) return length;
    let byte: number;
    do {
      byte = block[position++] ?? 0;
      length += byte;
    } while (byte === 255);
    return length;
  };
  while (position < block.length) {
    const token = block[position++]!;
    const literalBytes = readLength(token >> 4);
    output.append(block.subarray(position, position + literalBytes));
    position += literalBytes;
    if (position >= block.length) return; // the last sequence has no match
    const offset = block[position]! | ((block[position + 1] ?? 0) << 8);
    position += 2;
    output.repeat(offset, readLength(token & 15) + MATCH_BYTES_MIN);
  }
}
