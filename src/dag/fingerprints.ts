import { hash } from "node:crypto";
import { builtInRegistry } from "../../operators/index.ts";
import { type KernelOperator, readsWholeRows } from "../operator/definition.ts";
import { operatorDigest } from "../operator/operator_digest.ts";
import { type CallTask, type Dag, inputsOf, numberText, type Task } from "./dag.ts";

/** 128 bits in hexadecimal digits. */
const DIGITS = 32;

/**
 * The fingerprints of tasks: a fingerprint names what a task computes by what its author wrote: operator, settings,
 * inputs, group and universe, down to fields and params. It is free of other factors, their order, names of
 * definitions, comments, passes and the release, so what is saved under it fits every program that has the task.
 *
 * @param dag as written, before any pass
 * @param universe the task of the universe, which is an input of every operator across the row
 * @param wanted ids of the tasks that get one; those that they read do as well, others null
 */
function fingerprintsOf(
  { tasks }: Pick<Dag, "tasks">,
  universe: number | null,
  wanted: Iterable<number>,
): readonly (string | null)[] {
  const isNeeded = new Uint8Array(tasks.length);
  for (const id of wanted) isNeeded[id] = 1;
  for (let id = tasks.length - 1; id >= 0; id--)
    if (isNeeded[id] === 1) for (const input of inputsOf(tasks[id]!)) isNeeded[input] = 1;
  const isAcross = (task: Task) => task.kind === "call" && readsWholeRows(task.operator);
  // The universe is computed from all lanes that have a row.
  const ofUniverse =
    universe !== null && tasks.some((task, id) => isNeeded[id] === 1 && isAcross(task))
      ? fingerprintsOf({ tasks }, null, [universe])[universe]!
      : null;
  const found: (string | null)[] = [];
  for (const [id, task] of tasks.entries())
    found.push(isNeeded[id] === 0 ? null : fingerprintOf(task, found, isAcross(task) ? ofUniverse : null));
  return found;
}

function fingerprintOf(task: Task, found: readonly (string | null)[], universe: string | null): string {
  return shortHash(task.kind === "call" ? callText(task, found, universe) : leafText(task));
}

function leafText(task: Exclude<Task, CallTask>): string {
  return task.kind === "number" ? `number ${numberText(task.value)}` : `${task.kind} ${task.name}`;
}

function callText(task: CallTask, found: readonly (string | null)[], universe: string | null): string {
  const { operator, settings, minPeriods, group, inputs } = task;
  const own = inputs.map((input) => found[input]);
  if (operator.laws?.includes("commutative")) own.sort();
  const values = Object.entries(settings).map(([name, value]) => [name, numberText(value)]);
  return JSON.stringify([identityOf(operator), values, minPeriods, group, universe, own]);
}

/** The names of what a program computes, by what its author wrote. */
export interface ProgramFingerprints {
  /** Of all factors in their order, each with name, formula, condition and priority. */
  readonly program: string;
  /** Of each factor's formula, by its name. */
  readonly factors: ReadonlyMap<string, string>;
}

/** What a program is made of, as the metadata of files of its results say it. */
export interface ProgramOrigin {
  /**
   * Equal where the same bits are computed of the same input, however formulas are written or compiled: comments, names of
   * definitions, order and dialect do not count. Values of params are no part of them.
   */
  readonly fingerprints: ProgramFingerprints;
  /** Files of formulas, as they are written. */
  readonly files: readonly { readonly file: string; readonly dialect: string; readonly text: string }[];
}

/**
 * The fingerprints of a program, with all that those of its tasks are free of. Values and defaults of params are in none.
 *
 * @param dag as written, before any pass
 */
export function programFingerprints(dag: Dag, universe: number | null): ProgramFingerprints {
  const { outputs, conditions } = dag;
  const tasks = fingerprintsOf(
    dag,
    universe,
    outputs.map(({ task }) => task),
  );
  const parts = outputs.map(({ name, task, condition, priority }) => {
    return [name, tasks[task], condition === null ? null : conditions[condition]!.steps, priority];
  });
  return {
    program: shortHash(JSON.stringify(parts)),
    factors: new Map(outputs.map(({ name, task }) => [name, tasks[task]!])),
  };
}

/** What says that an operator computes the same: the code of users', the revision of ours. */
function identityOf(operator: KernelOperator): string {
  const { name, revision = 1 } = operator;
  return builtInRegistry.has(operator) ? `${name} ${revision}` : `${name} of ${operatorDigest(operator)}`;
}

export function shortHash(text: string): string {
  return hash("sha256", text).slice(0, DIGITS);
}

/**
 * The graph with a fingerprint at each recursive task that has none. Passes keep them, whatever they make of the tasks below;
 * a task that a law has put in the place of another one is named by what it computes itself.
 */
export function withFingerprints(dag: Dag, universe: number | null): Dag {
  const unnamed = dag.tasks.flatMap((task, id) => (isUnnamed(task) ? id : []));
  if (unnamed.length === 0) return dag;
  const found = fingerprintsOf(dag, universe, unnamed);
  const tasks = dag.tasks.map((task, id) =>
    isUnnamed(task) ? { ...task, fingerprints: [found[id]!] } : task,
  );
  return { ...dag, tasks };
}

function isUnnamed(task: Task): task is CallTask {
  return task.kind === "call" && task.operator.axis === "recursive" && task.fingerprints === undefined;
}
