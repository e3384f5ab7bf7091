import { CallParams, COMMON_SET } from "../../call_params.ts";
import type { Program } from "../../compile.ts";
import type { Instance } from "../../dag/instantiate.ts";
import type { RowRange } from "../../data/panel/panel_source.ts";
import { UsageError } from "../../errors.ts";
import type { Registry } from "../../operator/registry.ts";
import { type ArgumentKind, RECORD } from "../../text/argument_kinds.ts";
import { checkedOptions, type OptionKinds } from "../../text/option_kinds.ts";
import type { EvaluateOptions } from "../options.ts";
import type { InputShape } from "../prepared_call.ts";
import { restartRowsOf } from "../restarts.ts";
import { rowRange } from "../row_range.ts";
import { checkSelect, columnsRead, type WantedFactors, wantedFactors } from "../wanted_factors.ts";

/** One call of `Engine.evaluateMany`. */
export type CallOfMany = Pick<EvaluateOptions, "params">;

/** Options shared by all calls of `Engine.evaluateMany`. */
export type EvaluateManyOptions = Omit<EvaluateOptions, "params" | "paramsByTime">;

export const CALLS: ArgumentKind = {
  what: "a list of calls",
  fits: Array.isArray,
  remedy: "write [{ params: { ... } }, ...]",
};

export const CALL_OPTIONS: OptionKinds<CallOfMany> = { params: RECORD };

/** A call and the graph of its wanted factors. */
export interface PreparedInstance extends Instance {
  readonly wanted: WantedFactors;
}

export interface PreparedCalls {
  readonly range: RowRange;
  /** As of `PreparedCall`. */
  readonly restartRows: readonly number[];
  readonly instances: readonly PreparedInstance[];
}

/**
 * @throws UsageError for wrong options, and for wrong params with their call; DataError if the input lacks a column or
 *   a row of the range.
 */
export async function prepareCalls(
  registry: Registry,
  program: Program,
  input: InputShape,
  calls: readonly CallOfMany[],
  options: EvaluateManyOptions,
): Promise<PreparedCalls> {
  options.signal?.throwIfAborted();
  checkSelect(program, options.select);
  const range = await rowRange(input.time, options);
  const restartRows = await restartRowsOf(input.time, range.end, options);
  const instances: PreparedInstance[] = [];
  for (const [index, call] of calls.entries()) {
    try {
      const { params } = checkedOptions("a call", call, CALL_OPTIONS);
      instances.push(await prepareInstance(registry, program, input, { ...options, params }));
    } catch (error) {
      throw error instanceof UsageError ? ofCall(index, error) : error;
    }
  }
  return { range, restartRows, instances };
}

async function prepareInstance(
  registry: Registry,
  program: Program,
  input: InputShape,
  {
    select,
    params: given,
  }: Pick<EvaluateOptions, "select"> & { readonly params: EvaluateOptions["params"] | undefined },
): Promise<PreparedInstance> {
  const params = await CallParams.of(program, input.time.type, given ? { params: given } : {}, registry);
  const wanted = wantedFactors(program, select, params, [COMMON_SET], input.seriesNames);
  const read = columnsRead(wanted.dag, input);
  const values = new Map(read.params.map((name) => [name, params.numeric(name)]));
  return { wanted, dag: wanted.dag, paramValue: (param) => values.get(param) as number };
}

function ofCall(index: number, cause: UsageError): UsageError {
  return new UsageError(cause.code, `calls[${index}]: ${cause.problem}`, cause.remedy, { cause });
}
