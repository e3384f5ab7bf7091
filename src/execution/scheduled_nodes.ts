import { stateOfNode } from "../kernel/memory/plan_arena.ts";
import { keepsRowsUnderWay, type PlanNode } from "../plan/plan.ts";
import type { ScheduledNode } from "../schedule/events.ts";
import type { PlanData } from "./protocol.ts";
import { OVERLAPPING_BLOCKS_MAX } from "./shared/block_slots.ts";

/** What the scheduler needs of the nodes of a plan. */
export function scheduledNodes(data: PlanData): ScheduledNode[] {
  return data.plan.nodes.map((node) => {
    const { inputs, partCount, weight, costNs } = node;
    const keepsRows = keepsRowsUnderWay(data.plan, node, OVERLAPPING_BLOCKS_MAX);
    return { inputs, partCount, weight, costNs, moveNs: moveNs(data, node), keepsRows };
  });
}

/** Bytes per ns that a core takes from another one's caches. */
const MOVED_BYTES_PER_NS = 10;

/** Estimated ns that a part loses on another executor: its share of what the node writes, which it reads again. */
function moveNs({ plan, arenas }: PlanData, { id, columns, partCount }: PlanNode): number {
  const { recurrences = [], windows = [] } = stateOfNode(arenas, id) ?? {};
  const values = columns.length + recurrences.length + windows.length;
  return (values * plan.rowBytes) / partCount / MOVED_BYTES_PER_NS;
}
