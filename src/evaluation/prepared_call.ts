import { CallParams } from "../call_params.ts";
import type { EvaluableProgram } from "../compile.ts";
import type { Dag } from "../dag/dag.ts";
import { propagateConditions } from "../dag/passes/propagate_conditions.ts";
import type { RowRange } from "../data/panel/panel_source.ts";
import type { Registry } from "../operator/registry.ts";
import type { TimeColumn } from "../panel.ts";
import type { EvaluateOptions } from "./options.ts";
import { RestartFinder } from "./restarts.ts";
import { rowRange } from "./row_range.ts";
import { type ColumnsRead, columnsRead, type WantedFactors, wantedFactors } from "./wanted_factors.ts";

/** What a call computes, for which rows, with which params. */
export interface PreparedCall {
  /** Rows of the output; earlier rows run as well. */
  readonly range: RowRange;
  /** Where history begins again; null for nowhere. Of one stream at a time. */
  readonly restarts: RestartFinder | null;
  readonly params: CallParams;
  /** The sets of params of rows up to the end of the range. */
  readonly setsUsed: readonly number[];
  readonly wanted: WantedFactors;
  readonly read: ColumnsRead;
}

/** The graph of a call, and for the times of a block which conditions of its outputs hold in one of them at least. */
export interface ConditionalGraph {
  readonly dag: Dag;
  /** For each condition of the graph; undefined where every task is needed in every row. */
  conditionsIn(times: BigInt64Array): readonly boolean[] | undefined;
}

/** Properties of the input that are known before any of it is read. */
export interface InputShape {
  readonly time: TimeColumn;
  /** Whether its times are not known before its rows are read. */
  readonly isOpenEnded?: boolean;
  readonly fieldNames: readonly string[];
  readonly groupNames: readonly string[];
  /** Fields with values even where instruments have no row; those values never count across the row. */
  readonly seriesNames?: readonly string[] | undefined;
  /** By name, why a column that holds numbers is a group, for messages. */
  readonly groupReasons?: ReadonlyMap<string, string> | undefined;
}

/** Under params that change over time a task is needed in blocks with a row that wants one of its factors. */
export function conditionalGraph(
  { disabledPasses }: Pick<EvaluableProgram, "disabledPasses">,
  call: PreparedCall,
): ConditionalGraph {
  const { params, setsUsed, wanted } = call;
  const { dag } = wanted;
  const fails = (condition: number | null) => setsUsed.some((set) => !params.isWanted(condition, [set]));
  // Other conditions may have params without a value.
  const changing = new Set([...new Set(dag.outputs.map(({ condition }) => condition))].filter(fails));
  if (changing.size === 0 || disabledPasses.has("propagate_conditions"))
    return { dag, conditionsIn: () => undefined };
  const outputs = dag.outputs.map((output) =>
    changing.has(output.condition) ? output : { ...output, condition: null },
  );
  return {
    dag: propagateConditions({ ...dag, outputs }),
    conditionsIn: (times) => {
      const setsOfRows = new Set(params.setsAt(times));
      return dag.conditions.map(
        (_, condition) => changing.has(condition) && params.isWanted(condition, setsOfRows),
      );
    },
  };
}

/** @throws UsageError for wrong options and params; DataError if the input lacks a column or a row of the range. */
export async function prepareCall(
  registry: Registry,
  program: EvaluableProgram,
  input: InputShape,
  options: EvaluateOptions,
): Promise<PreparedCall> {
  options.signal?.throwIfAborted();
  const { time } = input;
  const isOpenEnded = input.isOpenEnded === true;
  const range = isOpenEnded ? { first: 0, end: Number.POSITIVE_INFINITY } : await rowRange(time, options);
  const restarts = await RestartFinder.of(time, range.end, options);
  const params = await CallParams.of(program, time.type, options, registry);
  const setsUsed = isOpenEnded
    ? params.allSets
    : [...new Set(params.setsAt(time.values.subarray(0, range.end)))];
  const wanted = wantedFactors(program, options.select, params, setsUsed, input.seriesNames);
  const read = columnsRead(wanted.dag, input);
  for (const name of read.params) for (const set of setsUsed) params.numeric(name, set);
  return { range, restarts, params, setsUsed, wanted, read };
}
