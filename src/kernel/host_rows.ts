import type { CrossSectionDefinition } from "../operator/definition.ts";
import type { Plan, PlanTask } from "../plan/plan.ts";
import type { Arena } from "./arena.ts";
import { columnOf } from "./host_cells.ts";

/**
 * Evaluates rows of a cross-section or group task by its operator's reference.
 *
 * The reference sees the lanes that have a value in every argument (and a group), in lane order; the others become
 * null. Nothing is allocated per row but views.
 */
export class HostRows {
  readonly #operator: CrossSectionDefinition;
  readonly #task: PlanTask;
  readonly #columns: readonly number[];
  readonly #laneCount: number;
  readonly #arena: Arena;
  readonly #arguments: readonly Float64Array[];
  readonly #results: Float64Array;
  /** Lanes with a value (and a group), group by group, in lane order within a group. */
  readonly #lanes: Int32Array;
  readonly #codes: Int32Array;

  constructor(operator: CrossSectionDefinition, task: PlanTask, plan: Plan, arena: Arena) {
    this.#operator = operator;
    this.#task = task;
    this.#columns = task.operands.map((operand) => columnOf(plan, operand));
    this.#laneCount = plan.laneCount;
    this.#arena = arena;
    this.#arguments = this.#columns.map(() => new Float64Array(plan.laneCount));
    this.#results = new Float64Array(plan.laneCount);
    this.#lanes = new Int32Array(plan.laneCount);
    this.#codes = new Int32Array(plan.laneCount);
  }

  run(row: number): void {
    const output = this.#arena.rowStart(this.#task.column as number, row);
    const inputs = this.#columns.map((column) => this.#arena.rowStart(column, row));
    this.#arena.values.fill(Number.NaN, output, output + this.#laneCount);
    let start = 0;
    for (const end of this.#sortLanes(row, inputs)) {
      if (end > start) this.#runLanes(inputs, output, start, end);
      start = end;
    }
  }

  /** Sorts the lanes by group, by counting, and tells where each group ends. */
  #sortLanes(row: number, inputs: readonly number[]): readonly number[] {
    const ends: number[] = [];
    for (let lane = 0; lane < this.#laneCount; lane++) {
      const code = this.#isValid(inputs, lane) ? this.#groupOf(row, lane) : -1;
      this.#codes[lane] = code;
      if (code < 0) continue;
      while (ends.length <= code) ends.push(0);
      ends[code]!++;
    }
    let count = 0;
    for (let code = 0; code < ends.length; code++) {
      const size = ends[code]!;
      ends[code] = count;
      count += size;
    }
    for (let lane = 0; lane < this.#laneCount; lane++) {
      const code = this.#codes[lane]!;
      if (code >= 0) this.#lanes[ends[code]!++] = lane;
    }
    return ends;
  }

  #groupOf(row: number, lane: number): number {
    if (this.#task.group === null) return 0;
    const code = this.#arena.cell(this.#task.group, row, lane);
    return Number.isNaN(code) ? -1 : code;
  }

  #isValid(inputs: readonly number[], lane: number): boolean {
    for (const input of inputs) if (Number.isNaN(this.#arena.values[input + lane])) return false;
    return true;
  }

  #runLanes(inputs: readonly number[], output: number, start: number, end: number): void {
    const { values } = this.#arena;
    const lanes = this.#lanes;
    const columns = this.#arguments.map((column, k) => {
      for (let i = start; i < end; i++) column[i - start] = values[inputs[k]! + lanes[i]!]!;
      return column.subarray(0, end - start);
    });
    const results = this.#results.subarray(0, end - start);
    // A lane that the reference leaves out must not show a value of an earlier row.
    results.fill(Number.NaN);
    this.#operator.reference(columns, this.#task.settings, results);
    for (let i = start; i < end; i++) {
      const value = results[i - start]!;
      values[output + lanes[i]!] = Number.isNaN(value) ? Number.NaN : value;
    }
  }
}
