import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DecidedWindows, REMEMBERED_VALUES_MAX } from "../../src/kernel/fallback/decided_windows.ts";

const wordsOf = (values: readonly number[]) => new Int32Array(Float64Array.from(values).buffer);

describe("DecidedWindows", () => {
  test("a window that was just remembered is recalled, any other one with its own value or not at all", () => {
    const window = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 });
    const cell = fc.record({ task: fc.nat(2), window, value: fc.double() });
    fc.assert(
      fc.property(fc.array(cell, { minLength: 1, maxLength: 300 }), (cells) => {
        const decided = new DecidedWindows();
        const values = new Map<string, number>();
        for (const { task, window: given, value } of cells) {
          // The length of a task's windows is always the same.
          const words = wordsOf([...given, ...new Array<number>(6).fill(0)].slice(0, 2 * task + 2));
          const key = `${task} ${words.join()}`;
          const known = decided.recall(task, words);
          const own = values.get(key) ?? value;
          if (known !== undefined) expect(known).toBe(own);
          decided.remember(task, words, own);
          values.set(key, own);
          expect(decided.recall(task, words)).toBe(own);
        }
      }),
    );
  });

  test("of thousands of windows of small whole numbers most are recalled", () => {
    const decided = new DecidedWindows();
    const windows = Array.from({ length: 2048 }, (_, index) =>
      wordsOf(Array.from({ length: REMEMBERED_VALUES_MAX }, (_, place) => 1 + ((index >> (place % 11)) & 1))),
    );
    for (const [index, window] of windows.entries()) decided.remember(0, window, index);
    const recalled = windows.filter((window, index) => decided.recall(0, window) === index);
    expect(recalled.length).toBeGreaterThan(1500);
  });
});
