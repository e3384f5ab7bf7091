import type { Condition } from "../ast/condition.ts";
import { checkParam, paramWithoutValue } from "../ast/params.ts";
import type { ParamOptions } from "../call_params.ts";
import { finalDag, type Program } from "../compile.ts";
import { type Dag, DagBuilder, type Output, type Task } from "../dag/dag.ts";

/** The first or the second of two programs that are compared. */
export type Side = "a" | "b";

/** The name that an output of one side has in the joined program. */
export const sideName = (side: Side, name: string): string => `${side} ${name}`;

/**
 * One program with the outputs of two, so that one evaluation reads the data once, gives both results block by block, and
 * computes once what both have. Each output has the bits of its own program: their graphs are joined after all passes.
 *
 * A param that both declare is one param, unless their defaults differ and the call gives no value: then each has its own.
 *
 * @throws UsageError E504 for a value of another type than a default's; E555 where defaults differ and a table of params
 *   may give values at some times only.
 */
export function joinPrograms(a: Program, b: Program, options: ParamOptions): Program {
  checkParams([a, b], options);
  const apart = paramsApart(a, b, options);
  const paramOfB = (name: string) => (apart.has(name) ? `${name}\nof the second` : name);
  const [dagA, dagB] = [finalDag(a), withParamNames(finalDag(b), paramOfB)];
  const builder = new DagBuilder(true);
  const outputs = [
    ...addOutputs(builder, dagA, "a", 0),
    ...addOutputs(builder, dagB, "b", dagA.conditions.length),
  ];
  const params = new Map([
    ...[...b.params].map(([name, value]) => [paramOfB(name), value] as const),
    ...a.params,
  ]);
  const dag: Dag = {
    tasks: builder.tasks,
    outputs,
    params: [...params].map(([name, value]) => ({ name, default: value })),
    conditions: [...dagA.conditions, ...dagB.conditions],
  };
  return {
    ...a,
    factors: outputs.map(({ name }) => ({ name, lookbackRows: 0, isConditional: false, priority: 0 })),
    params,
    operators: [...new Set([...a.operators, ...b.operators])],
    disabledPasses: new Set([...a.disabledPasses, ...b.disabledPasses]),
    stages: [{ name: "joined", dag }],
  };
}

/** A param that one program declares as a number and the other as a text has no value that fits both. */
function checkParams(programs: readonly Program[], { params = {} }: ParamOptions): void {
  for (const [name, value] of Object.entries(params))
    for (const program of programs) if (program.params.has(name)) checkParam(program.params, name, value);
}

/** The params that have a default of their own in each program and no value in the call. */
function paramsApart(a: Program, b: Program, { params = {}, paramsByTime }: ParamOptions): Set<string> {
  const apart = new Set<string>();
  for (const [name, value] of b.params) {
    const other = a.params.get(name);
    if (other === undefined || Object.hasOwn(params, name) || Object.is(other, value)) continue;
    if (other === null || value === null || paramsByTime !== undefined)
      throw paramWithoutValue(name, "common value");
    apart.add(name);
  }
  return apart;
}

function withParamNames(dag: Dag, newName: (name: string) => string): Dag {
  const tasks = dag.tasks.map((task): Task => {
    return task.kind === "param" ? { ...task, name: newName(task.name) } : task;
  });
  const conditions = dag.conditions.map(({ steps }): Condition => {
    return {
      steps: steps.map((step) => (step.kind === "param" ? { ...step, name: newName(step.name) } : step)),
    };
  });
  return { ...dag, tasks, conditions };
}

function addOutputs(builder: DagBuilder, dag: Dag, side: Side, firstCondition: number): Output[] {
  const ids: number[] = [];
  for (const task of dag.tasks) {
    const isCall = task.kind === "call";
    ids.push(builder.add(isCall ? { ...task, inputs: task.inputs.map((input) => ids[input]!) } : task));
  }
  return dag.outputs.map((output) => ({
    ...output,
    name: sideName(side, output.name),
    task: ids[output.task]!,
    condition: output.condition === null ? null : output.condition + firstCondition,
  }));
}
