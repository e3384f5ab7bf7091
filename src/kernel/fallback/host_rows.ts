import type { CrossSectionDefinition } from "../../operator/definition.ts";
import type { Plan, PlanTask } from "../../plan/plan.ts";
import type { Arena } from "../memory/arena.ts";
import { VALUE_BYTES } from "../memory/vectors.ts";
import { operandColumn } from "./host_cells.ts";

/**
 * Evaluates rows of a cross-section or group task by its operator's reference, and segments that compiled code hands
 * over.
 *
 * The reference sees the lanes that have a value in every argument (and a group), in lane order; the others become
 * null. Nothing is allocated per row: views of each length are created once.
 */
export class HostRows {
  readonly #operator: CrossSectionDefinition;
  readonly #task: PlanTask;
  readonly #columns: readonly number[];
  readonly #laneCount: number;
  readonly #arena: Arena;
  /** Start of each argument's row. */
  readonly #inputs: number[];
  readonly #arguments: readonly Float64Array[];
  readonly #results: Float64Array;
  /** Lanes with a value (and a group), group by group, in lane order within a group. */
  readonly #lanes: Int32Array;
  readonly #codes: Int32Array;
  /** For each group the start of its lanes; after sorting, their end. */
  #bounds = new Int32Array(1);
  /** Views of the first cells of arguments and results, by length. */
  readonly #views: { columns: readonly Float64Array[]; results: Float64Array }[] = [];

  constructor(operator: CrossSectionDefinition, task: PlanTask, plan: Plan, arena: Arena) {
    this.#operator = operator;
    this.#task = task;
    this.#columns = task.operands.map((operand) => operandColumn(plan, operand));
    this.#laneCount = plan.laneCount;
    this.#arena = arena;
    this.#inputs = this.#columns.map(() => 0);
    this.#arguments = this.#columns.map(() => new Float64Array(plan.laneCount));
    this.#results = new Float64Array(plan.laneCount);
    this.#lanes = new Int32Array(plan.laneCount);
    // Segments end at a whole step.
    this.#codes = new Int32Array(plan.rowBytes / VALUE_BYTES);
  }

  run(row: number): void {
    const output = this.#arena.rowStart(this.#task.column as number, row);
    for (let k = 0; k < this.#columns.length; k++) {
      this.#inputs[k] = this.#arena.rowStart(this.#columns[k]!, row);
    }
    this.#arena.values.fill(Number.NaN, output, output + this.#laneCount);
    const { group } = this.#task;
    this.#runGroups(output, this.#laneCount, group === null ? null : this.#arena.rowStart(group, row));
  }

  /** Evaluates adjacent values, given the addresses of the only argument and of the results. */
  runSegment(inputByte: number, outputByte: number, bytes: number): void {
    const { values } = this.#arena;
    const [input, output, count] = [inputByte / VALUE_BYTES, outputByte / VALUE_BYTES, bytes / VALUE_BYTES];
    values.fill(Number.NaN, output, output + count);
    this.#inputs[0] = input;
    this.#runGroups(output, count, null);
  }

  /** Evaluates the groups of the first `count` lanes, given where their codes start; null: they are one group. */
  #runGroups(output: number, count: number, codes: number | null): void {
    let start = 0;
    for (const end of this.#sortLanes(count, codes)) {
      if (end > start) this.#runLanes(output, start, end);
      start = end;
    }
  }

  #isValid(lane: number): boolean {
    const { values } = this.#arena;
    const inputs = this.#inputs;
    for (let k = 0; k < inputs.length; k++) if (Number.isNaN(values[inputs[k]! + lane]!)) return false;
    return true;
  }

  /** Sorts the lanes by their codes (counting sort); returns the end of each group. */
  #sortLanes(laneCount: number, codes: number | null): Int32Array {
    const bounds = this.#countLanes(laneCount, codes);
    let count = 0;
    for (let group = 0; group < bounds.length; group++) {
      const size = bounds[group]!;
      bounds[group] = count;
      count += size;
    }
    for (let lane = 0; lane < laneCount; lane++) {
      const code = this.#codes[lane]!;
      if (code >= 0) this.#lanes[bounds[code]!++] = lane;
    }
    return bounds;
  }

  /** Notes every lane's group, -1 for lanes that do not count, and counts the lanes of each group. */
  #countLanes(laneCount: number, codes: number | null): Int32Array {
    const { values } = this.#arena;
    this.#bounds.fill(0);
    for (let lane = 0; lane < laneCount; lane++) {
      const code = codes === null ? 0 : values[codes + lane]!;
      const isMember = !Number.isNaN(code) && this.#isValid(lane);
      this.#codes[lane] = isMember ? code : -1;
      if (!isMember) continue;
      if (code >= this.#bounds.length) this.#makeRoom(code);
      this.#bounds[code]!++;
    }
    return this.#bounds;
  }

  #makeRoom(code: number): void {
    const bounds = new Int32Array(2 * (code + 1));
    bounds.set(this.#bounds);
    this.#bounds = bounds;
  }

  #runLanes(output: number, start: number, end: number): void {
    const { values } = this.#arena;
    const lanes = this.#lanes;
    const { columns, results } = this.#viewsOf(end - start);
    for (let k = 0; k < columns.length; k++) {
      const [column, input] = [columns[k]!, this.#inputs[k]!];
      for (let i = start; i < end; i++) column[i - start] = values[input + lanes[i]!]!;
    }
    // A lane that the reference leaves out must not keep a value of an earlier row.
    results.fill(Number.NaN);
    this.#operator.reference(columns, this.#task.settings, results);
    for (let i = start; i < end; i++) {
      const value = results[i - start]!;
      values[output + lanes[i]!] = Number.isNaN(value) ? Number.NaN : value;
    }
  }

  #viewsOf(length: number) {
    let views = this.#views[length];
    if (!views) {
      const columns = this.#arguments.map((column) => column.subarray(0, length));
      views = { columns, results: this.#results.subarray(0, length) };
      this.#views[length] = views;
    }
    return views;
  }
}
