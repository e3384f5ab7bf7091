import type { BoundProgram } from "../../ast/program.ts";
import type { Dag } from "../dag.ts";
import { internProgram } from "../intern.ts";
import { canonicalOrder } from "./canonical_order.ts";

/** The name under which hash-consing is switched off; it happens while the graph is built. */
export const SHARING = "share_subexpressions";

interface Pass {
  readonly name: string;
  readonly run: (dag: Dag, isSharing: boolean) => Dag;
}

/** The passes in the order in which they run. */
const PASSES: readonly Pass[] = [
  // Right after building: what it makes equal is one task for every pass behind it.
  { name: "canonical_order", run: canonicalOrder },
];

/** Names that `--no-pass` accepts. */
export const PASS_NAMES: readonly string[] = [SHARING, ...PASSES.map(({ name }) => name)];

/** The graph after one stage of compilation, for `explain`. */
export interface Stage {
  readonly name: string;
  readonly dag: Dag;
}

/** Builds the graph of a program and runs every pass that is not switched off; the last stage is the result. */
export function runPasses(program: BoundProgram, disabled: ReadonlySet<string>): Stage[] {
  const isSharing = !disabled.has(SHARING);
  const stages = [{ name: isSharing ? SHARING : "build", dag: internProgram(program, isSharing) }];
  for (const { name, run } of PASSES) {
    if (!disabled.has(name)) stages.push({ name, dag: run((stages.at(-1) as Stage).dag, isSharing) });
  }
  return stages;
}
