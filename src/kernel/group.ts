import { InternalError } from "../errors.ts";
import type { CrossSectionDefinition } from "../operator/definition.ts";
import type { GroupColumn } from "../panel.ts";
import type { PartJob } from "./columns.ts";
import { RowKernel } from "./row_kernel.ts";

/**
 * Runs a group operator over the rows of one part: a cross-section within each group of the row.
 *
 * Lanes with a null argument or a null group become null.
 *
 * @throws InternalError if the job has no group column.
 */
export function runGroup(operator: CrossSectionDefinition, job: PartJob): void {
  if (!job.group) throw new InternalError(`group operator ${operator.name} without a group column`);
  const kernel = new RowKernel(operator, job);
  const sorter = new GroupSorter(job.group, job.laneCount);
  for (let row = job.range.rowStart; row < job.range.rowEnd; row++) {
    const base = row * job.laneCount;
    sorter.sort(base, kernel, job.output);
    let start = 0;
    for (const end of sorter.ends) {
      if (end > start) kernel.run(base, sorter.lanes, start, end);
      start = end;
    }
  }
}

/** Sorts the lanes of a row by group, in lane order within a group, by counting; allocates nothing per row. */
class GroupSorter {
  /** Lanes with a value and a group, group by group. */
  readonly lanes: Int32Array;
  /** Where each group's lanes end in `lanes`. */
  readonly ends: Int32Array;
  readonly #group: GroupColumn;
  readonly #laneCount: number;
  /** Group of each lane of this row, -1 for lanes that stay null. */
  readonly #codes: Int32Array;

  constructor(group: GroupColumn, laneCount: number) {
    this.#group = group;
    this.#laneCount = laneCount;
    this.lanes = new Int32Array(laneCount);
    this.ends = new Int32Array(group.labels.length);
    this.#codes = new Int32Array(laneCount);
  }

  sort(base: number, kernel: RowKernel, output: Float64Array): void {
    const { ends, lanes } = this;
    const codes = this.#codes;
    const codeBase = this.#group.changesOverTime ? base : 0;
    ends.fill(0);
    for (let lane = 0; lane < this.#laneCount; lane++) {
      const code = kernel.isValid(base + lane) ? this.#group.codes[codeBase + lane]! : -1;
      codes[lane] = code;
      if (code >= 0) ends[code]!++;
      else output[base + lane] = Number.NaN;
    }
    let count = 0;
    for (let code = 0; code < ends.length; code++) {
      const size = ends[code]!;
      ends[code] = count;
      count += size;
    }
    for (let lane = 0; lane < this.#laneCount; lane++) {
      const code = codes[lane]!;
      if (code >= 0) lanes[ends[code]!++] = lane;
    }
  }
}
