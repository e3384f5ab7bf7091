/** Passes that form the plan of a graph, in execution order; each can be switched off. */
export const PLAN_PASS_NAMES = ["merge_chains", "split_nodes", "critical_path_weights"] as const;

/** The pass that a file of this room implements. */
export type PlanPass = (typeof PLAN_PASS_NAMES)[number];
