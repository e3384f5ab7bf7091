import { describe, expect, test } from "vitest";
import { parseByteSize } from "../../src/text/byte_size.ts";

describe("parseByteSize", () => {
  test.each([
    ["1048576", 1_048_576],
    ["1B", 1],
    ["500 MB", 500e6],
    ["4GiB", 4 * 2 ** 30],
    ["4gib", 4 * 2 ** 30],
    [" 1.5 kB ", 1500],
    ["0.5KiB", 512],
    ["2TiB", 2 * 2 ** 40],
    ["1TB", 1e12],
  ])("%j is %d bytes", (text, bytes) => {
    expect(parseByteSize(text)).toBe(bytes);
  });

  test.each([
    "",
    "GiB",
    "4 apples",
    "-1GB",
    "1e3",
    "4GiB extra",
    "constructor",
    "1,5GB",
    "Infinity",
  ])("%j is no size", (text) => {
    expect(() => parseByteSize(text)).toThrow(
      `E528 ${JSON.stringify(text)} is not a size of memory\n  write e.g. 4GiB or 500MB`,
    );
  });
});
