import { type EvaluableProgram, type FactorInfo, finalDag } from "../../compile.ts";
import type { CallTask, Dag, Task } from "../../dag/dag.ts";
import type { ProgramOrigin } from "../../dag/fingerprints.ts";
import { kernelOperators } from "../../operator/definition.ts";
import type { Registry } from "../../operator/registry.ts";
import { type PackedOperator, packOperator, unpackOperator } from "../../operator/transfer.ts";

/** A program as plain data: its graph, with operators by name, and the operators of users. */
export interface PackedProgram {
  readonly file: string;
  readonly dialect: string;
  readonly factors: readonly FactorInfo[];
  readonly params: EvaluableProgram["params"];
  readonly disabledPasses: ReadonlySet<string>;
  readonly operators: readonly PackedOperator[];
  readonly origin: ProgramOrigin;
  readonly dag: Omit<Dag, "tasks"> & { readonly tasks: readonly PackedTask[] };
}

type PackedTask = Exclude<Task, CallTask> | (Omit<CallTask, "operator"> & { readonly operator: string });

/** Packs what evaluations read of a program: not how it was written. */
export function packProgram(program: EvaluableProgram): PackedProgram {
  const { file, dialect, factors, params, disabledPasses, operators } = program;
  const dag = finalDag(program);
  return {
    file,
    dialect,
    factors,
    params,
    disabledPasses,
    operators: kernelOperators(operators).map(packOperator),
    origin: program.origin(),
    dag: {
      ...dag,
      tasks: dag.tasks.map((task) =>
        task.kind === "call" ? { ...task, operator: task.operator.name } : task,
      ),
    },
  };
}

/**
 * The program that was packed, for evaluations only.
 *
 * @throws UsageError E510 if operators of users cannot be loaded here.
 */
export function unpackProgram(packed: PackedProgram, builtIn: Registry): EvaluableProgram {
  const operators = packed.operators.map(unpackOperator);
  const registry = builtIn.with(operators);
  const tasks = packed.dag.tasks.map(
    (task): Task => (task.kind === "call" ? { ...task, operator: registry.kernel(task.operator) } : task),
  );
  const { file, dialect, factors, params, disabledPasses, origin } = packed;
  const dag: Dag = { ...packed.dag, tasks };
  return {
    file,
    dialect,
    factors,
    params,
    disabledPasses,
    operators,
    origin: () => origin,
    stages: [{ name: "bind", dag }],
  };
}
