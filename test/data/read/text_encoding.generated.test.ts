import { isUtf8 } from "node:buffer";
import { expect, test } from "vitest";
import { otherEncoding } from "../../../src/data/read/text_encoding.ts";
import { Seeded } from "../../support/seeded.ts";
import { trials } from "../../support/trials.ts";

const LETTERS = "abcdefghijklmnopqrstuvwxyz_0123456789";
const ACCENTED = "àâçèéêëîïôùûüäößñ";

test("the encoding of drawn headers is found, and UTF-8 is never taken for another one", () => {
  const seeded = new Seeded();
  const drawn = (count: number, one: () => string) => Array.from({ length: count }, one).join("");
  const letter = () => LETTERS[seeded.below(LETTERS.length)]!;
  // The first level of GB2312: characters in common use.
  const chinese = () => Buffer.from([0xb0 + seeded.below(0x28), 0xa1 + seeded.below(94)]);
  for (let trial = 0; trial < trials(200, 5000); trial++) {
    const cells = Array.from({ length: 2 + seeded.below(4) }, () => drawn(1 + seeded.below(6), letter));
    const header = `${cells.join(",")},`;
    const hanzi = Buffer.concat(Array.from({ length: 1 + seeded.below(8) }, chinese));
    const accented = drawn(1 + seeded.below(3), () => ACCENTED[seeded.below(ACCENTED.length)]! + letter());
    const found = {
      ascii: otherEncoding(Buffer.from(header)),
      chinese: otherEncoding(Buffer.concat([Buffer.from(header), hanzi, Buffer.from(",x")])),
      accented: otherEncoding(Buffer.from(header + accented, "latin1")),
      little: otherEncoding(Buffer.from(header, "utf16le")),
      utf8: otherEncoding(Buffer.from(header + accented + new TextDecoder("gb18030").decode(hanzi))),
    };
    expect(found, `SEED=${seeded.seed}`).toEqual({
      ascii: null,
      // A few pairs of characters are UTF-8 as well.
      chinese: isUtf8(hanzi) ? null : "GB18030",
      accented: "WINDOWS-1252",
      little: "UTF-16LE",
      utf8: null,
    });
  }
});
