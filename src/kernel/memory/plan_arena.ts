import type { PlacedShare } from "../../plan/join_plans.ts";
import type { KernelSet } from "./kernel_set.ts";
import type { NodeState } from "./state_layout.ts";

/** A memory of a plan, with what is computed in it. Most plans have one. */
export interface PlanArena extends PlacedShare {
  readonly kernels: KernelSet;
  readonly memory: WebAssembly.Memory;
}

/** The arena of a node of the whole plan. */
export function arenaOf<A extends { readonly firstNode: number }>(arenas: readonly A[], node: number): A {
  let index = arenas.length - 1;
  while (arenas[index]!.firstNode > node) index--;
  return arenas[index]!;
}

/** What tells the state of nodes. */
export type StatefulArenas = readonly {
  readonly firstNode: number;
  readonly kernels: Pick<KernelSet, "states">;
}[];

/** The state of a node of the whole plan; undefined for nodes that keep none. */
export function stateOfNode(arenas: StatefulArenas, node: number): NodeState | undefined {
  const { kernels, firstNode } = arenaOf(arenas, node);
  return kernels.states.get(node - firstNode);
}
