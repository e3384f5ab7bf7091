import type { CallParams } from "../call_params.ts";
import { type EvaluableProgram, finalDag } from "../compile.ts";
import type { Dag } from "../dag/dag.ts";
import type { ProgramOrigin } from "../dag/fingerprints.ts";
import { SHARING } from "../dag/passes/order.ts";
import { countCalls } from "../dag/print.ts";
import { pruneDag } from "../dag/prune.ts";
import { hideAbsent } from "../dag/row_members.ts";
import { type PanelSource, requireColumns } from "../data/panel/panel_source.ts";
import { UsageError } from "../errors.ts";
import { suggestion } from "../text/suggest.ts";
import { broughtFields } from "./has_row.ts";

/** A factor of the output. */
export interface SelectedFactor {
  readonly name: string;
  readonly condition: number | null;
  /** Index among the outputs of this call's graph; null if no row wants the factor. */
  readonly output: number | null;
}

/** What a call computes of a program. */
export interface WantedFactors {
  /** In program order. */
  readonly factors: readonly SelectedFactor[];
  /** The graph of what is wanted; without condition propagation, of all that is selected. */
  readonly dag: Dag;
  /** Of the program. */
  readonly origin: () => ProgramOrigin;
  /** Operator applications that no wanted factor needs. */
  readonly prunedTaskCount: number;
}

/**
 * The selected factors of a program, and the graph of those that are wanted with at least one of the sets of params.
 *
 * @param series fields with values even where instruments have no row (`InputShape.seriesNames`)
 * @throws UsageError E506 for a selected name that no factor has.
 */
export function wantedFactors(
  program: EvaluableProgram,
  select: readonly string[] | undefined,
  params: CallParams,
  sets: readonly number[],
  series: readonly string[] = [],
): WantedFactors {
  checkSelect(program, select);
  const dag = finalDag(program);
  const isSelected = dag.outputs.map(({ name }) => select?.includes(name) ?? true);
  const isWanted = dag.outputs.map(
    ({ condition }, index) => isSelected[index] === true && params.isWanted(condition, sets),
  );
  const isKept = program.disabledPasses.has("propagate_conditions") ? isSelected : isWanted;
  let outputCount = 0;
  const factors = dag.outputs.flatMap(({ name, condition }, index): SelectedFactor[] => {
    const output = isKept[index] ? outputCount++ : null;
    return isSelected[index] ? [{ name, condition, output: isWanted[index] ? output : null }] : [];
  });
  const pruned = pruneDag(dag, (_, index) => isKept[index]!);
  const isSharing = !program.disabledPasses.has(SHARING);
  return {
    factors,
    origin: program.origin,
    dag: series.length > 0 ? hideAbsent(pruned, { isSharing, series }) : pruned,
    prunedTaskCount: countCalls(dag) - countCalls(pruned),
  };
}

/** @throws UsageError E506 for a selected name that no factor has. */
export function checkSelect({ factors }: EvaluableProgram, select: readonly string[] = []): void {
  const names = factors.map(({ name }) => name);
  for (const name of select) if (!names.includes(name)) throw unknownFactor(name, names);
}

/** Names of the columns that a graph reads. */
export interface ColumnsRead {
  readonly fields: readonly string[];
  readonly groups: readonly string[];
  readonly params: readonly string[];
}

/**
 * The columns that a graph reads; fields may include `HAS_ROW`, which every input has.
 *
 * @throws DataError E350 if the input lacks a column that the graph reads.
 */
export function columnsRead(
  dag: Dag,
  input: Pick<PanelSource, "fieldNames" | "groupNames" | "groupReasons">,
): ColumnsRead {
  const read = columnsOf(dag);
  requireColumns({ fields: broughtFields(read.fields), groups: read.groups }, input);
  return read;
}

/** The columns that a graph reads, whether they exist or not. */
export function columnsOf(dag: Dag): ColumnsRead {
  const fields = new Set<string>();
  const groups = new Set<string>();
  const params = new Set<string>();
  for (const task of dag.tasks) {
    if (task.kind === "field") fields.add(task.name);
    else if (task.kind === "param") params.add(task.name);
    else if (task.kind === "call" && task.group !== null) groups.add(task.group);
  }
  return { fields: [...fields], groups: [...groups], params: [...params] };
}

function unknownFactor(name: string, known: readonly string[]): UsageError {
  const remedy = suggestion(name, known, `factors: ${known.slice(0, 12).join(", ")}`);
  return new UsageError("E506", `no factor ${name} to select`, remedy);
}
