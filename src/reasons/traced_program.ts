import type { Expression } from "../ast/nodes.ts";
import type { Program } from "../compile.ts";
import { type Dag, DagBuilder, type Output, type Task } from "../dag/dag.ts";
import { addExpression } from "../dag/intern.ts";
import { hideAbsent } from "../dag/row_members.ts";

/**
 * A program whose outputs are all sub-expressions of some factors, each computed as it is written: no pass replaces one
 * by another. The bits of the factors are those of the program itself.
 */
export interface TracedProgram {
  /** Its outputs, named by `outputName`, are the sub-expressions that are no numbers. */
  readonly program: Program;
  /** The sub-expressions as tasks, inputs before what reads them; equal ones are one task. */
  readonly tasks: readonly Task[];
  /** The task of each traced factor, in program order. */
  readonly roots: ReadonlyMap<string, number>;
  /** The task that is neither 0 nor null for the instruments that operators across the row include; null: all. */
  readonly universe: number | null;
  /** The task of each expression of the typed tree. */
  readonly taskOf: ReadonlyMap<Expression, number>;
}

/** The name of the output that has the values of a task. */
export const outputName = (task: number): string => String(task);

/** The output that is 1 for the instruments of the universe; there is none where operators across the row include all. */
export const UNIVERSE_OUTPUT = "universe";

/** @param factors names of factors of the program; default: all */
export function traceProgram(program: Program, factors?: readonly string[]): TracedProgram {
  const { bound } = program.written;
  const builder = new DagBuilder(true);
  const taskOf = new Map<Expression, number>();
  const add = (task: Task) => builder.add(task);
  const roots = new Map<string, number>();
  for (const { name, expression } of bound.factors) {
    if (factors?.includes(name) === false) continue;
    addExpression(expression, add, taskOf);
    roots.set(name, taskOf.get(expression)!);
  }
  if (bound.universe) addExpression(bound.universe, add, taskOf);
  const universe = bound.universe && taskOf.get(bound.universe)!;
  const { tasks } = builder;
  const outputs = tasks.flatMap((task, id): Output[] =>
    task.kind === "number" ? [] : [{ name: outputName(id), task: id, condition: null, priority: 0 }],
  );
  const { params, conditions } = bound;
  const written: Dag = { tasks, outputs, params, conditions };
  const dag = hideAbsent(written, { isSharing: true, universe, universeOutput: UNIVERSE_OUTPUT });
  const traced: Program = {
    ...program,
    factors: dag.outputs.map(({ name }) => ({ name, lookbackRows: 0, isConditional: false, priority: 0 })),
    stages: [{ name: "written", dag }],
  };
  return { program: traced, tasks, roots, universe, taskOf };
}
