import type { BoundProgram } from "../../ast/program.ts";
import type { Registry } from "../../operator/registry.ts";
import type { Dag } from "../dag.ts";
import { internProgram } from "../intern.ts";
import { hideAbsent } from "../row_members.ts";
import { canonicalOrder } from "./canonical_order.ts";
import { foldConstants } from "./fold_constants.ts";
import { propagateConditions } from "./propagate_conditions.ts";
import { removeDeadTasks } from "./remove_dead_tasks.ts";
import { simplifyAlgebra } from "./simplify_algebra.ts";

/** The name under which hash-consing is switched off; it happens while the graph is built. */
export const SHARING = "share_subexpressions";

interface Pass {
  readonly name: string;
  readonly run: (dag: Dag, isSharing: boolean, registry: Registry) => Dag;
}

/** The passes in the order in which they run. */
const PASSES: readonly Pass[] = [
  // First: laws look for numbers, and `2 * 3` is none before.
  { name: "fold_constants", run: foldConstants },
  // Before the order of operands is overlooked, since it changes them: `a * -b * -1` is `a * b`.
  { name: "simplify_algebra", run: simplifyAlgebra },
  // What is equal but for the order of operands becomes one task.
  { name: "canonical_order", run: canonicalOrder },
  // Behind all that puts tasks in the place of others: what comes now sees only tasks that are needed.
  { name: "remove_dead_tasks", run: removeDeadTasks },
  // Last: its sets are of the tasks as they are, by their ids.
  { name: "propagate_conditions", run: propagateConditions },
];

/** Names that `--no-pass` accepts. */
export const PASS_NAMES: readonly string[] = [SHARING, ...PASSES.map(({ name }) => name)];

/** The graph after one stage of compilation, for `explain`. */
export interface CompileStage {
  readonly name: string;
  readonly dag: Dag;
}

/** The stage that `hideAbsent` makes, where it has anything to hide: no pass, since it belongs to the meaning. */
const HIDE_ABSENT = "hide_absent";

/** Builds the graph of a program and runs every pass that is not switched off; the last stage is the result. */
export function runPasses(
  program: BoundProgram,
  disabled: ReadonlySet<string>,
  registry: Registry,
): CompileStage[] {
  const isSharing = !disabled.has(SHARING);
  const { dag: written, universe } = internProgram(program, isSharing);
  const stages = [{ name: isSharing ? SHARING : "build", dag: written }];
  const hidden = hideAbsent(written, { isSharing, universe });
  if (hidden !== written) stages.push({ name: HIDE_ABSENT, dag: hidden });
  for (const { name, run } of PASSES) {
    if (!disabled.has(name))
      stages.push({ name, dag: run((stages.at(-1) as CompileStage).dag, isSharing, registry) });
  }
  return stages;
}
