import { expect, test } from "vitest";
import { ENGINE_METRICS, JOB_METRICS, type MetricDefinition } from "../../src/metrics/definitions.ts";

const all = [
  ...Object.values(ENGINE_METRICS).flatMap((part) => Object.values<MetricDefinition>(part)),
  ...Object.values<MetricDefinition>(JOB_METRICS),
];

test("names are there once, and keep the conventions of Prometheus", () => {
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  for (const { name, kind, help, labels } of all) {
    expect(name).toMatch(/^factorloom_[a-z_]+$/);
    expect(name.endsWith("_total"), name).toBe(kind === "counter");
    expect(help, name).toMatch(/^[A-Z0-9].*[^.]$/);
    for (const label of labels) expect(label).toMatch(/^[a-z]+$/);
  }
});
