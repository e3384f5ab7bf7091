import type { Plan } from "../../plan/plan.ts";
import type { NodeState } from "../memory/state_layout.ts";
import { STEP_BYTES } from "../memory/vectors.ts";
import { rowFunction } from "../rows/row_kernel.ts";

/**
 * Warms up every export: calls kernels on row 0, lane kernels on the lanes of one turn, and other functions with dummy
 * arguments. Those may overwrite the constant table, so it is rewritten before each call. Returns what it has called.
 */
export function tryKernels(
  plan: Plan,
  exports: WebAssembly.Exports,
  states: ReadonlyMap<number, NodeState>,
  writeConstants: () => void,
): ReadonlySet<unknown> {
  writeConstants();
  const called = new Set<unknown>();
  for (const node of plan.nodes) {
    const { id, kind } = node;
    const run = exports[`node${id}`] as ((...values: number[]) => void) | undefined;
    if (!run || called.has(run)) continue;
    called.add(run);
    if (kind === "rows") rowFunction(plan, node, run)(0, 1);
    else {
      const { recurrenceByteOffsets, windowByteOffset } = states.get(id)!;
      const [from, to] = recurrenceByteOffsets as readonly [number, number];
      run(0, 1, 0, STEP_BYTES, from, to, windowByteOffset);
    }
  }
  for (const helper of Object.values(exports)) {
    const run = helper as (...values: number[]) => void;
    if (called.has(run)) continue;
    called.add(run);
    writeConstants();
    run(...new Array<number>(run.length).fill(1));
  }
  return called;
}
