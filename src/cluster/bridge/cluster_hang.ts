import type { ClusterHang } from "../protocol/protocol.ts";

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
