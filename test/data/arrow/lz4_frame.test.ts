import { describe, expect, test } from "vitest";
import { decodeLz4Frame } from "../../../src/data/arrow/lz4_frame.ts";

/** Magic, flags (version 1, independent blocks), block size, header checksum. */
const HEADER = [0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82];
const END = [0, 0, 0, 0];

function textOf(bytes: number[]): string {
  return Buffer.from(decodeLz4Frame(Uint8Array.from(bytes))).toString("latin1");
}

function block(bytes: number[], isCompressed = true): number[] {
  return [bytes.length & 255, bytes.length >> 8, 0, isCompressed ? 0 : 0x80, ...bytes];
}

const codes = (text: string) => [...Buffer.from(text, "latin1")];

describe("decodeLz4Frame", () => {
  test("copies literals, matches and matches that overlap themselves", () => {
    // "abc", 6 bytes from 3 back, "x", 5 bytes from 1 back, "end"
    const sequences = [0x32, ...codes("abc"), 3, 0, 0x11, ...codes("x"), 1, 0, 0x30, ...codes("end")];
    expect(textOf([...HEADER, ...block(sequences), ...END])).toBe("abcabcabcxxxxxxend");
  });

  test("reads lengths that go on", () => {
    const literals = "0123456789".repeat(30); // 300 = 15 + 255 + 30
    const sequences = [0xff, 255, 30, ...codes(literals), 10, 0, 255, 27, 0x10, ...codes("!")]; // 301 = 15 + 255 + 27 + 4
    expect(textOf([...HEADER, ...block(sequences), ...END])).toBe(`${literals}${literals}0!`);
  });

  test("takes blocks that are not compressed, and matches into the block before", () => {
    const linked = [0x04, 0x22, 0x4d, 0x18, 0x40, 0x40, 0xc0];
    const frame = [
      ...linked,
      ...block(codes("hello "), false),
      ...block([0x02, 6, 0, 0x10, ...codes("!")]),
      ...END,
    ];
    expect(textOf(frame)).toBe("hello hello !");
  });

  test("skips content size, dictionary id and checksums of blocks", () => {
    const header = [0x04, 0x22, 0x4d, 0x18, 0x79, 0x40, 5, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0x11];
    expect(textOf([...header, ...block(codes("hello"), false), 9, 9, 9, 9, ...END])).toBe("hello");
  });

  test.each([
    ["no frame", codes("no frame at all")],
    ["a block that is cut off", [...HEADER, 9, 0, 0, 0, 0x30]],
    ["no end", [...HEADER, ...block([0x10, 65])]],
    ["a match before the start", [...HEADER, ...block([0x10, 65, 9, 0, 0x10, 66]), ...END]],
  ])("refuses %s", (_, bytes) => {
    expect(() => textOf(bytes)).toThrow();
  });
});
