import type { ReportData } from "../../../src/pages/report/report_data.ts";

/** A run with these texts in the place of every name. */
export function madeUpRun(text: string, factorCount = 3): ReportData {
  const points = Array.from({ length: 40 }, (_, point) => point);
  return {
    file: text,
    bars: text,
    dialect: "native",
    date: "2026-01-02T03:04:05.678Z",
    machine: { version: "1.2.3", node: "v26.0.0", cpu: text, cores: 2, memoryBytes: 2 ** 34 },
    times: { count: 80, first: "2020-01-01", last: "2020-03-20" },
    symbolCount: 10,
    rowCount: 800,
    keepsInfinite: false,
    coverage: {
      timesPerPoint: 2,
      times: points.map((point) => `day ${point}`),
      rows: points.map((point) => (point === 7 ? 0 : 20)),
    },
    factors: Array.from({ length: factorCount }, (_, i) => ({
      name: `${text} ${i}`,
      formula: `${text}\n + ${i}`,
      line: i + 1,
      column: 1,
      nullCount: 10 * i,
      infiniteCount: i === 2 ? 3 : 0,
      values:
        i === 1
          ? null
          : {
              min: -1e300,
              max: 1e300,
              median: i,
              mean: null,
              sd: null,
              sampleCount: 600,
              histogram: { low: -1, high: 1, counts: [100, 0, 500] },
            },
      present: points.map((point) => (point === 7 ? 0 : 20 - (i % 20))),
      causes: i === 0 ? [] : [[0, 10 * i] as const],
      sources: i === 0 ? [] : [{ formula: text, line: 1, column: 2, cause: 0, nullCount: 10 * i }],
    })),
    causes: [{ title: text, meaning: text, remedy: text }],
    steps: [
      { name: "read", ms: 12 },
      { name: "evaluate", ms: 1234 },
    ],
    nodes: [
      { text, kind: "lanes", taskCount: 3, ms: 20, partCount: 4, bytes: 5000, factors: [0, 1] },
      { text: "close", kind: "input", taskCount: 0, ms: 0, partCount: 4, bytes: 100, factors: [0] },
    ],
    timeline: {
      binMs: 10,
      tracks: [
        { name: "main thread", works: [{ kind: "write", ms: 15, percents: [0, 100, 50] }] },
        {
          name: "executor 0",
          works: [
            { kind: "lanes", ms: 16, percents: [80, 80, 0] },
            { kind: "rows", ms: 4, percents: [30, 0, 10] },
          ],
        },
      ],
      residentBytes: [0, 2 ** 28, 0],
    },
  };
}
