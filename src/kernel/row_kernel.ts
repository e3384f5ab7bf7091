import type { CrossSectionDefinition, Settings } from "../operator/definition.ts";
import type { PartJob, Values } from "./columns.ts";
import { SizedBuffers } from "./sized_buffers.ts";

/** Runs the reference of a row operator on chosen lanes of a row; buffers are reused from row to row. */
export class RowKernel {
  readonly #reference: CrossSectionDefinition["reference"];
  readonly #settings: Settings;
  readonly #operands: readonly Values[];
  readonly #output: Float64Array;
  readonly #columns: SizedBuffers;
  readonly #results: SizedBuffers;

  constructor(operator: CrossSectionDefinition, job: PartJob) {
    this.#reference = operator.reference;
    this.#settings = job.settings;
    this.#operands = job.operands;
    this.#output = job.output;
    this.#columns = new SizedBuffers(job.operands.map(() => new Float64Array(job.laneCount)));
    this.#results = new SizedBuffers([new Float64Array(job.laneCount)]);
  }

  /** True if every argument has a value in that cell. */
  isValid(cell: number): boolean {
    for (const operand of this.#operands) {
      if (Number.isNaN(typeof operand === "number" ? operand : operand[cell]!)) return false;
    }
    return true;
  }

  /** Runs the reference on `lanes[start...end - 1]` of the row whose first cell is `base`; there is at least one. */
  run(base: number, lanes: Int32Array, start: number, end: number): void {
    const columns = this.#columns.ofLength(end - start);
    for (let k = 0; k < columns.length; k++) gather(this.#operands[k]!, base, lanes, start, columns[k]!);
    const results = this.#results.ofLength(end - start)[0]!;
    // A lane that the reference leaves out must not show a value of an earlier row.
    results.fill(Number.NaN);
    this.#reference(columns, this.#settings, results);
    for (let i = start; i < end; i++) {
      const value = results[i - start]!;
      this.#output[base + lanes[i]!] = Number.isNaN(value) ? Number.NaN : value;
    }
  }
}

function gather(operand: Values, base: number, lanes: Int32Array, start: number, target: Float64Array): void {
  if (typeof operand === "number") {
    target.fill(operand);
    return;
  }
  for (let i = 0; i < target.length; i++) target[i] = operand[base + lanes[start + i]!]!;
}
