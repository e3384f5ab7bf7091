import type { Registry } from "../../operator/registry.ts";
import type { Plan } from "../../plan/plan.ts";
import type { Arena } from "../memory/arena.ts";
import { STEP_LANES, VALUE_BYTES } from "../memory/vectors.ts";
import { HostCells } from "./host_cells.ts";
import type { WindowStates } from "./window_states.ts";

/** The bits of all lanes of a turn. */
const ALL = -1;

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
  const result = scratch / VALUE_BYTES;
  /** Runs the body for those lanes of a turn whose bits are set; the last ones may lie beyond the panel. */
  const forLanes = (laneByte: number, lanes: number, body: (lane: number, i: number) => void) => {
    const first = laneByte / VALUE_BYTES;
    const count = Math.min(plan.laneCount - first, STEP_LANES);
    for (let i = 0; i < count; i++) if (((lanes >> i) & 1) === 1) body(first + i, i);
  };
  return {
    evaluate(task: number, row: number, laneByte: number, from: number, to: number): void {
      values.fill(Number.NaN, result, result + STEP_LANES);
      forLanes(laneByte, ALL, (lane, i) => {
        values[result + i] = cells.evaluate(task, row, lane, (from >>> 0) + 8 * i, (to >>> 0) + 8 * i);
      });
    },
    ensure(state: number, row: number, laneByte: number): void {
      forLanes(laneByte, ALL, (lane) => windows.ensureBounds(state, row, lane));
    },
    shrink(state: number, row: number, laneByte: number, lanes: number): void {
      forLanes(laneByte, lanes, (lane) => windows.shrinkBounds(state, row, lane));
    },
    evaluateOpen(task: number, row: number, laneByte: number, lanes: number): void {
      forLanes(laneByte, lanes, (lane, i) => {
        values[result + i] = cells.evaluateOpen(task, row, lane);
      });
    },
  };
}
