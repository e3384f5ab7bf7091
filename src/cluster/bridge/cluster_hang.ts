/** An operator of a user that takes far longer than estimated. */
export interface ClusterHang {
  /** Addresses of the worker, index of the executor on it. */
  readonly worker: string;
  readonly executor: number;
  /** The key of the task as Dask writes it; the stage and the node in it. */
  readonly key: string;
  readonly stage: number;
  readonly node: number;
  readonly operators: readonly string[];
  /** How long it has run so far, and how long it takes by estimate and measurement. */
  readonly seconds: number;
  readonly estimatedMs: number;
  /** Whether the executor was killed, so that its task runs again. */
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
  const end = isReplaced ? "; the executor was ended, and its task runs again" : "";
  const estimate = `estimated are ${estimatedMs.toPrecision(2)} ms`;
  return `${operators.join(", ")} has run for ${seconds.toFixed(1)} s ${where}, ${estimate}${end}`;
}
