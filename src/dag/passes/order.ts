import type { BoundProgram } from "../../ast/program.ts";
import type { Registry } from "../../operator/registry.ts";
import type { Dag } from "../dag.ts";
import { withFingerprints } from "../fingerprints.ts";
import { internProgram } from "../intern.ts";
import { hideAbsent } from "../row_members.ts";
import { canonicalOrder } from "./canonical_order.ts";
import { foldConstants } from "./fold_constants.ts";
import { propagateConditions } from "./propagate_conditions.ts";
import { removeDeadTasks } from "./remove_dead_tasks.ts";
import { simplifyAlgebra } from "./simplify_algebra.ts";

/** The name that switches off hash-consing, which happens while the graph is built. */
export const SHARING = "share_subexpressions";

interface Pass {
  readonly name: string;
  readonly run: (dag: Dag, isSharing: boolean, registry: Registry) => Dag;
}

/** The passes in execution order. */
const PASSES: readonly Pass[] = [
  // First: laws match numbers, and `2 * 3` is not a number yet.
  { name: "fold_constants", run: foldConstants },
  // Before canonical_order, since it changes operands: `a * -b * -1` is `a * b`.
  { name: "simplify_algebra", run: simplifyAlgebra },
  { name: "canonical_order", run: canonicalOrder },
  // After all passes that replace tasks: later passes see only needed tasks.
  { name: "remove_dead_tasks", run: removeDeadTasks },
  // Last: its sets refer to tasks by id.
  { name: "propagate_conditions", run: propagateConditions },
];

/** Pass names that `--no-pass` accepts. */
export const PASS_NAMES: readonly string[] = [SHARING, ...PASSES.map(({ name }) => name)];

/** The graph after one step of compilation, for `explain`. */
export interface CompileStage {
  readonly name: string;
  readonly dag: Dag;
}

/** The step of `hideAbsent`, where there is anything to hide. Not a pass: it is part of the meaning. */
const HIDE_ABSENT = "hide_absent";

/** A program's graph after each step, with the task of its universe in the first one. */
export interface Compiled {
  readonly stages: readonly CompileStage[];
  readonly universe: number | null;
}

/** Builds a program's graph and runs every pass that is not switched off; the last stage is the result. */
export function runPasses(
  program: BoundProgram,
  disabled: ReadonlySet<string>,
  registry: Registry,
): Compiled {
  const isSharing = !disabled.has(SHARING);
  const { dag: written, universe } = internProgram(program, isSharing);
  const stages = [{ name: isSharing ? SHARING : "build", dag: written }];
  const hidden = hideAbsent(written, { isSharing, universe });
  if (hidden !== written) stages.push({ name: HIDE_ABSENT, dag: hidden });
  for (const { name, run } of PASSES) {
    if (disabled.has(name)) continue;
    const dag = run((stages.at(-1) as CompileStage).dag, isSharing, registry);
    stages.push({ name, dag: withFingerprints(dag, null) });
  }
  return { stages, universe };
}
