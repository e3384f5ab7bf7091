import { expect, test } from "vitest";
import { programDifferenceText } from "../../../src/cli/commands/diff_text.ts";
import type { ProgramDifference } from "../../../src/difference/program_difference.ts";
import { textWidth } from "../../../src/text/text_width.ts";
import { Seeded } from "../../support/seeded.ts";
import { trials } from "../../support/trials.ts";

/** A name and two formulas of twelve characters, with gaps. */
const LEAST_WIDTH = 12 + 2 * (2 + 12);

/** Two programs of which each factor differs in one number of its formula. */
function drawnDifference({ below, uniform }: Seeded): ProgramDifference {
  const compared = Array.from({ length: 1 + below(4) }, (_, i) => `${"momentum".repeat(1 + below(4))}${i}`);
  const differences = compared.map((name) => {
    const words = Array.from({ length: below(6) }, () => `ts_mean(close, ${below(200)})`).join(" + ");
    const formula = (window: number) => `rank(${words}${words && " + "}ts_std(volume, ${window}))`;
    const cells = {
      cellCount: below(1_000_000),
      nullCount: below(10_000),
      infiniteCount: 0,
      absoluteMax: uniform(),
      relativeMax: uniform(),
      ulpMax: 1e15 * uniform(),
      first: { time: "2024-01-02 09:30:00.000001", symbol: "BRK.B", a: uniform(), b: -uniform() },
    };
    const place = (window: number) => ({
      formula: formula(window),
      line: 1 + below(500),
      column: 1 + below(99),
    });
    return { name, ...cells, origins: [{ a: place(10 + below(5)), b: place(20 + below(5)), ...cells }] };
  });
  const names = { compared, onlyInA: [], onlyInB: [] };
  return { ...names, differences, rowCount: 9, rowsOnlyInA: 0, rowsOnlyInB: 0, isSame: false };
}

/** The lines of both tables. */
const tableLines = (text: string) =>
  text.split("\n").filter((line) => line !== "" && !/compared|smallest/.test(line));

test("the tables of a difference keep within any width, with names and formulas; a pipe has them whole", () => {
  const seeded = new Seeded();
  for (let trial = 0; trial < trials(20, 1000); trial++) {
    const difference = drawnDifference(seeded);
    const whole = programDifferenceText(difference, Number.POSITIVE_INFINITY);
    const wholeWidth = Math.max(...tableLines(whole).map(textWidth));
    expect(programDifferenceText(difference, wholeWidth)).toBe(whole);
    for (const { name, first } of difference.differences) {
      expect(whole).toContain(name);
      expect(whole).toContain(String(first.a));
    }
    for (const width of [LEAST_WIDTH, 60, 80, 120, LEAST_WIDTH + seeded.below(160)]) {
      const lines = tableLines(programDifferenceText(difference, width));
      expect(lines).toHaveLength(2 * (1 + difference.differences.length));
      expect(Math.max(...lines.map(textWidth)), `SEED=${seeded.seed}`).toBeLessThanOrEqual(width);
      // Of two formulas what differs is seen, in any width.
      for (const line of lines.slice(lines.length / 2 + 1)) expect(line).toMatch(/ 1[0-4]\).* 2[0-4]\)/);
    }
  }
});
