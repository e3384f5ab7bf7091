import type { Code } from "../../emit/code.ts";
import { Expression, parameter } from "../../emit/expressions.ts";
import type { Library } from "../../emit/library.ts";
import { takes } from "../../emit/module.ts";
import { GroupLayout } from "../groups/group_layout.ts";
import { emitGroupRanks } from "../groups/group_ranks.ts";
import { rowParameters } from "../layout/row_parameters.ts";
import type { RowScratch } from "../layout/row_scratch.ts";
import { LaneSort } from "../sort/sort_lanes.ts";
import { emitDoubledRanks, emitQuotients } from "../statistics/rank.ts";
import { emitList } from "./share_lists.ts";
import { stepParameters } from "./step_function.ts";

/**
 * Emits the ranks of a share: of the values in a range. Equal values are in one share, and those of the shares before it
 * are below: so it sorts its lanes alone, and nothing is merged.
 */
export function emitShareRanks(code: Code, library: Library, laneCount: number, scratch: RowScratch): void {
  const { input } = stepParameters(code);
  emitList(code, library, laneCount, scratch, input, ({ values, lanes, total, below, results }) => {
    const sort = new LaneSort(code, library, laneCount, scratch, lanes);
    const doubled = emitDoubledRanks(sort, values);
    emitQuotients(sort, doubled, results, { total, below });
    return null;
  });
}

/** Emits the ranks within the groups of a share: those with codes in a range. */
export function emitShareGroupRanks(
  code: Code,
  library: Library,
  laneCount: number,
  scratch: RowScratch,
  group: number,
): void {
  const key = `ranks of some lanes in groups of ${group}`;
  const ofSelected = library.helper(key, { ...takes(5), results: ["i32"] }, (selected) => {
    const lanes = parameter(selected, 1);
    const layout = new GroupLayout(laneCount, group, rowParameters(selected).codes, scratch, lanes);
    layout.emit();
    emitGroupRanks(selected, library, laneCount, layout, scratch, lanes);
    selected.i32(0);
  });
  const { codes } = stepParameters(code);
  emitList(code, library, laneCount, scratch, codes, ({ values, keys, lanes, results }) => {
    // As a row function has them: values, lanes, codes, results, and a node, which it does not use.
    return new Expression(code, "i32", () => {
      for (const address of [values, lanes, keys, results]) address.push();
      return code.i32(0).call(ofSelected);
    });
  });
}
