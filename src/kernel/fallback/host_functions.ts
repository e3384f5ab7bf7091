import type { Registry } from "../../operator/registry.ts";
import type { Plan } from "../../plan/plan.ts";
import { STEP_LANES } from "../emit/vectors.ts";
import type { Arena } from "../memory/arena.ts";
import { HostCells } from "./host_cells.ts";
import type { WindowStates } from "./window_states.ts";

/** The functions that kernels call: arguments are numbers of tasks and states, rows, and bytes of a lane in its row. */
export function hostFunctions(
  plan: Plan,
  registry: Registry,
  arena: Arena,
  windows: WindowStates,
  scratch: number,
) {
  const cells = new HostCells(plan, registry, arena, scratch);
  const { values } = arena;
  const result = scratch / Float64Array.BYTES_PER_ELEMENT;
  // The last lanes may lie beyond the panel.
  const lanesFrom = (first: number) => Math.min(plan.laneCount - first, STEP_LANES);
  return {
    evaluate(task: number, row: number, laneByte: number, from: number, to: number): void {
      const first = laneByte / Float64Array.BYTES_PER_ELEMENT;
      const count = lanesFrom(first);
      values.fill(Number.NaN, result + count, result + STEP_LANES);
      for (let i = 0; i < count; i++) {
        values[result + i] = cells.evaluate(task, row, first + i, (from >>> 0) + 8 * i, (to >>> 0) + 8 * i);
      }
    },
    ensure(state: number, row: number, laneByte: number): void {
      const first = laneByte / Float64Array.BYTES_PER_ELEMENT;
      const count = lanesFrom(first);
      for (let i = 0; i < count; i++) windows.ensureBounds(state, row, first + i);
    },
    shrink(state: number, row: number, laneByte: number, lanes: number): void {
      const first = laneByte / Float64Array.BYTES_PER_ELEMENT;
      const count = lanesFrom(first);
      for (let i = 0; i < count; i++) {
        if (((lanes >> i) & 1) === 1) windows.shrinkBounds(state, row, first + i);
      }
    },
    evaluateOpen(task: number, row: number, laneByte: number, lanes: number): void {
      const first = laneByte / Float64Array.BYTES_PER_ELEMENT;
      const count = lanesFrom(first);
      for (let i = 0; i < count; i++) {
        if (((lanes >> i) & 1) === 1) values[result + i] = cells.evaluateOpen(task, row, first + i);
      }
    },
  };
}
