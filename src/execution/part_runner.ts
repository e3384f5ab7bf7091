import { loadOperators } from "../../operators/files.ts";
import type { Block } from "../kernel/memory/kernel_set.ts";
import { arenaOf } from "../kernel/memory/plan_arena.ts";
import { NodeRunner, type NodeStart } from "../kernel/run/node_runner.ts";
import { type KernelOperator, numberGiven, readsWholeRows } from "../operator/definition.ts";
import { Registry } from "../operator/registry.ts";
import { unpackOperator } from "../operator/transfer.ts";
import { OperatorError } from "./plan_failures.ts";
import type { PlanData } from "./protocol.ts";

/** Runs parts of the nodes of one plan. Running a part again for the same block writes the same bits. */
export interface PartRunner {
  run(node: number, part: number, block: Block, start?: NodeStart): void;
}

/** The default of `PoolOptions.runnerUrl`: runs the kernels of the plan. */
export function openRunner(data: PlanData, executor: number): PartRunner {
  const own = data.operators.map((packed) => blaming(unpackOperator(packed)));
  const builtIn = new Set(data.plan.tasks.map(({ operator }) => operator));
  for (const { name } of own) builtIn.delete(name);
  const registry = new Registry([...loadOperators(builtIn), ...own]);
  const runners = data.arenas.map(({ plan, kernels, memory, outputs, firstNode }) => {
    const results = outputs.map((output) => data.results[output]!);
    return {
      firstNode,
      runner: new NodeRunner({ ...data, plan, kernels, memory, results, registry, executor }),
    };
  });
  if (runners.length === 1) return runners[0]!.runner;
  return {
    run: (node, part, block, start) => {
      const { firstNode, runner } = arenaOf(runners, node);
      runner.run(node - firstNode, part, block, start);
    },
  };
}

/** The operator with a reference whose errors name it: a node may apply several operators. */
function blaming(operator: KernelOperator): KernelOperator {
  const reference = operator.reference as (...args: unknown[]) => unknown;
  const fillsOutput = readsWholeRows(operator);
  const blamingReference = (...args: unknown[]) => {
    try {
      const value = reference(...args);
      // Compiled code takes a number, and would make one of anything else, such as NaN of a promise.
      return fillsOutput ? value : numberGiven(value);
    } catch (error) {
      throw new OperatorError(operator.name, error);
    }
  };
  // Kernels read how many parameters a reference declares.
  Object.defineProperty(blamingReference, "length", { value: reference.length });
  return { ...operator, reference: blamingReference } as KernelOperator;
}
