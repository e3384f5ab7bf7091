import { CallParams, COMMON_SET } from "../../call_params.ts";
import type { Program } from "../../compile.ts";
import type { Dag } from "../../dag/dag.ts";
import type { Instance } from "../../dag/instantiate.ts";
import type { RowRange } from "../../data/panel/panel_source.ts";
import { UsageError } from "../../errors.ts";
import type { Registry } from "../../operator/registry.ts";
import type { CallOrder } from "../../schedule/call_order.ts";
import { type ArgumentKind, RECORD } from "../../text/argument_kinds.ts";
import { checkedOptions, type OptionKinds } from "../../text/option_kinds.ts";
import type { OrderedCall } from "../factor_stream.ts";
import type { EvaluateOptions } from "../options.ts";
import type { InputShape } from "../prepared_call.ts";
import { RestartFinder } from "../restarts.ts";
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
  readonly params: CallParams;
  readonly wanted: WantedFactors;
}

export interface PreparedCalls {
  readonly range: RowRange;
  readonly restarts: RestartFinder | null;
  /** Among overlapping calls they count as one. */
  readonly order: CallOrder;
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
  order: CallOrder,
  calls: readonly CallOfMany[],
  options: EvaluateManyOptions,
): Promise<PreparedCalls> {
  options.signal?.throwIfAborted();
  checkSelect(program, options.select);
  const range = await rowRange(input.time, options);
  const restarts = await RestartFinder.of(input.time, range.end, options);
  const instances: PreparedInstance[] = [];
  for (const [index, call] of calls.entries()) {
    try {
      const { params } = checkedOptions("a call", call, CALL_OPTIONS);
      instances.push(await prepareInstance(registry, program, input, { ...options, params }));
    } catch (error) {
      throw error instanceof UsageError ? ofCall(index, error) : error;
    }
  }
  return { range, restarts, order, instances };
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
  return { params, wanted, dag: wanted.dag, paramValue: (param) => values.get(param) as number };
}

/** The merged graph of some calls as one call without params; a factor is an output, by its number. */
export function mergedCall(
  dag: Dag,
  input: InputShape,
  { range, restarts, order }: PreparedCalls,
  [instance]: readonly PreparedInstance[],
): OrderedCall {
  const factors = dag.outputs.map((_, output) => ({ name: String(output), condition: null, output }));
  return {
    range,
    restarts,
    order,
    params: instance!.params,
    setsUsed: [COMMON_SET],
    wanted: { ...instance!.wanted, factors, dag, prunedTaskCount: 0 },
    read: columnsRead(dag, input),
  };
}

function ofCall(index: number, cause: UsageError): UsageError {
  return new UsageError(cause.code, `calls[${index}]: ${cause.problem}`, cause.remedy, { cause });
}
