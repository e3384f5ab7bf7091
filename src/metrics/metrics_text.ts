import type { EngineMetrics } from "./engine_metrics.ts";

/**
 * Metrics of an engine in Prometheus' text format (`text/plain; version=0.0.4`): the same numbers under the names of
 * docs/metrics.md. Sessions have the label `session`.
 *
 * @returns a comment with the meaning, one with the kind, and the values of each metric; what is null is left out.
 * @example
 * const text = await metricsText(engine.metrics());
 * text.includes("factorloom_executors 1"); // true
 */
export async function metricsText(metrics: EngineMetrics): Promise<string> {
  const { PrometheusMetrics } = await import("./prometheus.ts");
  const all = new PrometheusMetrics();
  all.addEngine(metrics);
  return await all.text();
}
