/** An operator on a worker that takes far longer than estimated. */
export interface ClusterHang {
  /** Address of the worker. */
  readonly worker: string;
  /** Index of the executor on the worker. */
  readonly executor: number;
  /** The key of the task as Dask writes it. */
  readonly key: string;
  /** Index of the node in the plan of its share. */
  readonly node: number;
  /** Names of the operators of the node. */
  readonly operators: readonly string[];
  /** How long it has run so far. */
  readonly seconds: number;
  /** How long it takes, by estimate and measurement. */
  readonly estimatedMs: number;
  /** Whether its thread was replaced. */
  readonly isReplaced: boolean;
}

/** A report as one line. */
export function hangText({
  operators,
  seconds,
  worker,
  executor,
  key,
  estimatedMs,
  isReplaced,
}: ClusterHang): string {
  const where = `on executor ${executor} of ${worker}, in ${key}`;
  const end = isReplaced ? "; its thread was replaced, and the part runs again" : "";
  const estimate = `estimated are ${estimatedMs.toPrecision(2)} ms`;
  return `${operators.join(", ")} has run for ${seconds.toFixed(1)} s ${where}, ${estimate}${end}`;
}
