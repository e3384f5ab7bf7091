import { type CallTask, type Dag, inputsOf, type Task } from "../../dag/dag.ts";
import { readsWholeRows } from "../../operator/definition.ts";
import type { SeriesOrigin } from "../protocol/protocol.ts";
import { PANEL_STAGE } from "../protocol/tiles.ts";

/** The part of a graph between two borders; at a border, data must be split along the other axis. */
export interface ClusterStage {
  /** `lanes`: lane by lane, over time; `rows`: row by row, across lanes. */
  readonly kind: "lanes" | "rows";
  /** Its fields are the imports, its outputs the exports. */
  readonly dag: Dag;
  /** Where its fields and groups come from, by name: column names of a panel are unique. */
  readonly imports: ReadonlyMap<string, SeriesOrigin>;
}

/** A graph split into stages; each reads only the panel and earlier stages. */
export interface CutDag {
  readonly stages: readonly ClusterStage[];
  /** Where the values of each output of the graph come from. */
  readonly outputs: readonly SeriesOrigin[];
}

/** The fields and groups of the panel, in the order of its series: fields first. */
export interface PanelSeries {
  readonly fields: readonly string[];
  readonly groups: readonly string[];
}

/** Level of tasks that any stage can compute: elementwise ones that need only the panel, params and numbers. */
const FREE = -1;
/** Stages of lanes have even levels, stages of rows odd ones. */
const FIRST_LANES = 0;
const FIRST_ROWS = 1;

const importName = (task: number): string => `#${task}`;

/**
 * Splits a graph between tasks that run lane by lane (rolling, recursive) and tasks across lanes (cross-sections, groups).
 * Elementwise tasks join the stage of their inputs; every stage that uses one of only the panel computes it itself,
 * which costs less than a transfer.
 *
 *     rank(ts_mean(close, 5)) * volume
 *       stage 0, lanes: ts_mean(close, 5)    stage 1, rows: rank(#1) * volume
 *
 * Algorithm: a task's level is the lowest that its axis allows at or above the levels of its inputs; a level is a stage.
 */
export function cutStages(dag: Dag, panel: PanelSeries): CutDag {
  const levels = levelsOf(dag);
  const freeFactors = dag.outputs
    .map(({ task }) => task)
    .filter((task) => levels[task] === FREE && dag.tasks[task]?.kind !== "field");
  // A stage of rows computes factors that no stage owns, because results are split like its tiles.
  const all = freeFactors.length > 0 ? [...levels, FIRST_ROWS] : levels;
  const used = [...new Set(all)].filter((level) => level !== FREE).sort((a, b) => a - b);
  const drafts = used.map((level) => draftStage(dag, levels, level, level === FIRST_ROWS ? freeFactors : []));
  const exported = exportsOf(dag, drafts, levels);
  const origins = new Map(
    exported.flatMap((ids, stage) => ids.map((id, series) => [id, { stage, series }] as const)),
  );
  const originOf = (id: number): SeriesOrigin => {
    const task = dag.tasks[id] as Task;
    if (task.kind === "field") return { stage: PANEL_STAGE, series: panel.fields.indexOf(task.name) };
    return origins.get(id) as SeriesOrigin;
  };
  return {
    stages: drafts.map((draft, index) =>
      formStage(dag, draft, exported[index] as readonly number[], originOf, panel),
    ),
    outputs: dag.outputs.map(({ task }) => originOf(task)),
  };
}

function levelsOf({ tasks }: Dag): number[] {
  const levels: number[] = [];
  for (const task of tasks) {
    const read = inputsOf(task).reduce((most, input) => Math.max(most, levels[input] as number), FREE);
    levels.push(task.kind === "call" ? levelOf(task, read) : FREE);
  }
  return levels;
}

function levelOf({ operator }: CallTask, read: number): number {
  if (operator.axis === "elementwise") return read;
  const first = readsWholeRows(operator) ? FIRST_ROWS : FIRST_LANES;
  return read <= first ? first : read + ((read - first) % 2);
}

interface StageDraft {
  readonly level: number;
  /** Ids of the tasks to compute, ascending. */
  readonly own: readonly number[];
  /** Ids of the tasks to read from earlier stages, ascending. */
  readonly imported: readonly number[];
}

/** Finds the tasks that a stage computes and imports, in one sweep against the topological order. */
function draftStage(
  { tasks }: Dag,
  levels: readonly number[],
  level: number,
  roots: readonly number[],
): StageDraft {
  const isNeeded = new Uint8Array(tasks.length);
  for (const id of roots) isNeeded[id] = 1;
  const own: number[] = [];
  const imported: number[] = [];
  for (let id = tasks.length - 1; id >= 0; id--) {
    if (levels[id] === level) isNeeded[id] = 1;
    if (isNeeded[id] === 0) continue;
    if (levels[id] !== level && levels[id] !== FREE) {
      imported.push(id);
      continue;
    }
    own.push(id);
    for (const input of inputsOf(tasks[id] as Task)) isNeeded[input] = 1;
  }
  return { level, own: own.reverse(), imported: imported.reverse() };
}

/**
 * For each stage the tasks whose values others read, ascending. The first stage of rows exports factors that any stage
 * could compute.
 */
function exportsOf(
  { tasks, outputs }: Dag,
  drafts: readonly StageDraft[],
  levels: readonly number[],
): number[][] {
  const read = new Set([...drafts.flatMap(({ imported }) => imported), ...outputs.map(({ task }) => task)]);
  return drafts.map(({ level, own }) =>
    own.filter((id) => {
      const isOwned = levels[id] === level || (level === FIRST_ROWS && tasks[id]?.kind !== "field");
      return isOwned && read.has(id);
    }),
  );
}

function formStage(
  dag: Dag,
  { level, own, imported }: StageDraft,
  exported: readonly number[],
  originOf: (id: number) => SeriesOrigin,
  panel: PanelSeries,
): ClusterStage {
  const imports = new Map<string, SeriesOrigin>();
  const newIds = new Map<number, number>();
  const tasks: Task[] = [];
  for (const id of imported) {
    imports.set(importName(id), originOf(id));
    newIds.set(id, tasks.push({ kind: "field", name: importName(id) }) - 1);
  }
  for (const id of own) {
    const task = dag.tasks[id] as Task;
    if (task.kind === "field") imports.set(task.name, originOf(id));
    if (task.kind === "call" && task.group !== null) {
      const series = panel.fields.length + panel.groups.indexOf(task.group);
      imports.set(task.group, { stage: PANEL_STAGE, series });
    }
    newIds.set(id, tasks.push(renumbered(task, newIds)) - 1);
  }
  const outputs = exported.map((id) => ({
    name: importName(id),
    task: newIds.get(id) as number,
    condition: null,
    priority: 0,
  }));
  const kind = level % 2 === FIRST_LANES ? "lanes" : "rows";
  return { kind, imports, dag: { tasks, outputs, params: dag.params, conditions: [] } };
}

function renumbered(task: Task, newIds: ReadonlyMap<number, number>): Task {
  if (task.kind !== "call") return task;
  return { ...task, inputs: task.inputs.map((input) => newIds.get(input) as number) };
}
