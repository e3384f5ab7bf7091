import { expect, test } from "vitest";
import { NodeMarks } from "../../../src/execution/shared/node_marks.ts";
import { Seeded } from "../../support/seeded.ts";

/** Around the bits of a word, and as many parts as an engine has threads at most. */
const PART_COUNTS = [1, 2, 31, 32, 33, 64, 65, 200, 256];
const nodes = PART_COUNTS.map((partCount) => ({ partCount }));

function shuffled(count: number, random: Seeded): number[] {
  const left = Array.from({ length: count }, (_, index) => index);
  return Array.from({ length: count }, () => left.splice(random.below(left.length), 1)[0]!);
}

// Numbers wrap around.
test.each([
  0,
  2 ** 31 - 3,
])("a node has ended with the last of its parts, in any order, from block %i on", (first) => {
  const random = new Seeded();
  const marks = NodeMarks.create(nodes, first);
  const elsewhere = new NodeMarks(nodes, marks.words);
  for (let count = 0; count < 9; count++) {
    const block = (first + count) | 0;
    marks.clear(block);
    for (const [node, partCount] of PART_COUNTS.entries()) {
      const parts = shuffled(partCount, random);
      for (const [at, part] of parts.entries()) {
        expect(elsewhere.isEnded(block, node)).toBe(false);
        expect(elsewhere.isMarked(block, node, part)).toBe(false);
        expect(marks.mark(block, node, part)).toBe(at === partCount - 1);
        expect(elsewhere.isMarked(block, node, part)).toBe(true);
        // To mark it again changes nothing.
        if (at < partCount - 1) expect(elsewhere.mark(block, node, part)).toBe(false);
      }
      expect(elsewhere.isEnded(block, node)).toBe(true);
      expect(elsewhere.isEnded((block + 1) | 0, node)).toBe(false);
    }
  }
});

test("blocks under way together have marks of their own", () => {
  const marks = NodeMarks.create(nodes, 0);
  for (const block of [0, 1, 2]) marks.clear(block);
  for (let part = 0; part < 33; part++) marks.mark(0, 4, part);
  for (let part = 0; part < 32; part++) marks.mark(1, 4, part);
  expect([0, 1, 2].map((block) => marks.isEnded(block, 4))).toEqual([true, false, false]);
  expect([0, 1, 2].map((block) => marks.isMarked(block, 4, 32))).toEqual([true, false, false]);
  expect([0, 1, 2].map((block) => marks.isMarked(block, 4, 31))).toEqual([true, true, false]);
});
