import type { Condition } from "../ast/condition.ts";
import type { ParamValue } from "../ast/param_value.ts";
import { checkParam } from "../ast/params.ts";
import type { ParamOptions } from "../call_params.ts";
import { type EvaluableProgram, finalDag } from "../compile.ts";
import { type Dag, DagBuilder, inputsOf, type Output, type Task } from "../dag/dag.ts";
import { type ProgramOrigin, shortHash } from "../dag/fingerprints.ts";

/** A program that is joined with others. */
export interface JoinedPart {
  readonly program: EvaluableProgram;
  /** What messages call it, e.g. `b.factors`. */
  readonly called: string;
  /** The name that an output has in the joined program. Default: its own. */
  readonly outputName?: (name: string) => string;
}

/**
 * One program with the outputs of several, so that one evaluation reads the data once, gives all results block by block, and
 * computes once what they share. Each output has the bits of its own program: graphs are joined after all passes.
 *
 * A param that several declare is one param, unless it is in `paramsApart`: then each program but the first has its own.
 *
 * @throws UsageError E528 for a value of another type than a default's.
 */
export function joinPrograms(parts: readonly JoinedPart[], options: ParamOptions): EvaluableProgram {
  const programs = parts.map(({ program }) => program);
  // A param that one program declares as a number and the other as a text has no value that fits both.
  for (const [name, value] of Object.entries(options.params ?? {}))
    for (const { params } of programs) if (params.has(name)) checkParam(params, name, value);
  const apart = new Set(paramsApart(programs, options));
  const builder = new DagBuilder(true);
  const params = new Map<string, ParamValue | null>();
  const [outputs, conditions]: [Output[], Condition[]] = [[], []];
  for (const { program, called, outputName = ownName } of parts) {
    const renamed = [...program.params.keys()].filter((name) => apart.has(name) && params.has(name));
    const paramName = (name: string) => (renamed.includes(name) ? `${name} of ${called}` : name);
    for (const [name, value] of program.params)
      if (!params.has(paramName(name))) params.set(paramName(name), value);
    const dag =
      renamed.length === 0 ? finalDag(program) : withParamNames(finalDag(program), paramName, called);
    outputs.push(...addOutputs(builder, dag, conditions.length, outputName));
    conditions.push(...dag.conditions);
  }
  const dag: Dag = {
    tasks: builder.tasks,
    outputs,
    params: [...params].map(([name, value]) => ({ name, default: value })),
    conditions,
  };
  return {
    ...programs[0]!,
    factors: parts.flatMap(({ program, outputName = ownName }) =>
      program.factors.map((factor) => ({ ...factor, name: outputName(factor.name) })),
    ),
    params,
    operators: [...new Set(programs.flatMap(({ operators }) => operators))],
    disabledPasses: new Set(programs.flatMap(({ disabledPasses }) => [...disabledPasses])),
    origin: () => joinedOrigin(parts),
    stages: [{ name: "joined", dag }],
  };
}

/** The names of what several programs compute. Whether their params are apart is seen in the values of params. */
function joinedOrigin(parts: readonly JoinedPart[]): ProgramOrigin {
  const origins = parts.map(({ program }) => program.origin());
  const factors = parts.flatMap(({ outputName = ownName }, part) =>
    [...origins[part]!.fingerprints.factors].map(([name, one]) => [outputName(name), one] as const),
  );
  return {
    fingerprints: {
      program: shortHash(origins.map(({ fingerprints }) => fingerprints.program).join(" ")),
      factors: new Map(factors),
    },
    files: origins.flatMap(({ files }) => files),
  };
}

const ownName = (name: string) => name;

/** The params that programs declare with different defaults, and that have no value in the call. */
export function paramsApart(
  programs: readonly Pick<EvaluableProgram, "params">[],
  { params: given = {} }: ParamOptions,
): string[] {
  const names = new Set(programs.flatMap(({ params }) => [...params.keys()]));
  return [...names].filter((name) => {
    const defaults = programs.filter(({ params }) => params.has(name)).map(({ params }) => params.get(name));
    return !Object.hasOwn(given, name) && defaults.some((value) => !Object.is(value, defaults[0]));
  });
}

function withParamNames(dag: Dag, newName: (name: string) => string, called: string): Dag {
  const readsRenamed: boolean[] = [];
  const tasks = dag.tasks.map((task, id): Task => {
    readsRenamed[id] =
      task.kind === "param"
        ? newName(task.name) !== task.name
        : inputsOf(task).some((input) => readsRenamed[input]);
    if (task.kind === "param") return { ...task, name: newName(task.name) };
    if (task.kind !== "call" || task.fingerprints === undefined || !readsRenamed[id]) return task;
    // Two programs may give one name to params of different values.
    return { ...task, fingerprints: task.fingerprints.map((one) => shortHash(`${one} of ${called}`)) };
  });
  const conditions = dag.conditions.map(({ steps }): Condition => {
    return {
      steps: steps.map((step) => (step.kind === "param" ? { ...step, name: newName(step.name) } : step)),
    };
  });
  return { ...dag, tasks, conditions };
}

function addOutputs(
  builder: DagBuilder,
  dag: Dag,
  firstCondition: number,
  outputName: (name: string) => string,
): Output[] {
  const ids: number[] = [];
  for (const task of dag.tasks) {
    const isCall = task.kind === "call";
    ids.push(builder.add(isCall ? { ...task, inputs: task.inputs.map((input) => ids[input]!) } : task));
  }
  return dag.outputs.map((output) => ({
    ...output,
    name: outputName(output.name),
    task: ids[output.task]!,
    condition: output.condition === null ? null : output.condition + firstCondition,
  }));
}
