import { deserialize, serialize } from "node:v8";
import type { Plan, PlanNode } from "../plan/plan.ts";

const packedByPlan = new WeakMap<Plan, SharedArrayBuffer>();

/**
 * The nodes of a plan as bytes that all executors share. Posting the nodes as objects would serialise them again for
 * every executor on the main thread (0.8 us per node and executor); packed once per plan, later calls post a handle.
 */
export function packNodes(plan: Plan): SharedArrayBuffer {
  let packed = packedByPlan.get(plan);
  if (!packed) {
    const bytes = serialize(plan.nodes);
    packed = new SharedArrayBuffer(bytes.length);
    new Uint8Array(packed).set(bytes);
    packedByPlan.set(plan, packed);
  }
  return packed;
}

/** The nodes that `packNodes` packed. */
export function unpackNodes(packed: SharedArrayBuffer): readonly PlanNode[] {
  return deserialize(new Uint8Array(packed)) as PlanNode[];
}
