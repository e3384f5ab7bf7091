import { expect, test, vi } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { LaneCode } from "../../src/kernel/emit/lane_code.ts";
import { expectCells } from "../conformance/same_cells.ts";
import { prepareSubject } from "../conformance/subject.ts";

/** The code for processors without fused instructions gives the same bits. */
vi.mock("../../src/kernel/emit/fused_multiply.ts", () => ({ hasFusedMultiply: () => false }));

let steps = 0;
LaneCode.prototype.fusedMultiplyAdd = function (a, b, c) {
  steps++;
  return this.add(this.mul(a, b), c);
};
LaneCode.prototype.fusedMultiplySubtract = function (a, b, c) {
  steps++;
  return this.sub(c, this.mul(a, b));
};

test.each(builtInRegistry.operators)("$name", (operator) => {
  const compiled = prepareSubject(operator, false);
  const reference = prepareSubject(operator, true);
  expect(compiled.applications.length).toBeGreaterThan(0);
  for (const [i, { panel, columns }] of compiled.results.entries()) {
    for (const [j, { formula }] of compiled.applications.entries()) {
      const [column, wanted] = [columns[j]!, reference.results[i]!.columns[j]!];
      expectCells({ label: formula, column, panel }, (row, lane) => wanted[row * panel.laneCount + lane]);
    }
  }
});

test("operators that take products in two steps are among them", () => {
  expect(steps).toBeGreaterThan(0);
});
