/** The one place that knows the library for metrics. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { ENGINE_METRICS, type MetricDefinition, type MetricKind } from "./definitions.ts";
import type { EngineMetrics, HostMetrics } from "./engine_metrics.ts";

export const CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

const KINDS = { counter: Counter<string>, gauge: Gauge<string>, histogram: Histogram<string> };

/** Metrics with one text. */
export class PrometheusMetrics {
  readonly #registry = new Registry();

  add<Kind extends MetricKind>({ kind, name, help, labels, buckets }: MetricDefinition<Kind>) {
    const histogram = buckets && { buckets };
    const options = { name, help, labelNames: labels, registers: [this.#registry], ...histogram };
    return new KINDS[kind](options) as InstanceType<(typeof KINDS)[Kind]>;
  }

  /** Adds those of an engine with their values; what is null has none. */
  addEngine(metrics: HostMetrics | EngineMetrics): void {
    for (const [part, definitions] of Object.entries(ENGINE_METRICS)) {
      const measured = [(metrics as Partial<EngineMetrics>)[part as keyof EngineMetrics] ?? []].flat();
      for (const [field, definition] of Object.entries<MetricDefinition<"counter" | "gauge">>(definitions)) {
        const samples = measured.flatMap((one) => {
          const { [field]: value, session } = one as unknown as Record<string, number | boolean | null>;
          return value == null ? [] : [{ session, value: Number(value) }];
        });
        if (samples.length === 0) continue;
        const metric = this.add(definition);
        for (const { session, value } of samples)
          if (session === undefined) metric.inc(value);
          else metric.inc({ session: String(session) }, value);
      }
    }
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }
}
