import { describe, expect, test } from "vitest";
import type { ReportData } from "../../../src/pages/report/report_data.ts";
import { BARS, runCli } from "../run_cli.ts";

const FORMULAS = `param fast = 1
let change = close / delay(close, 1) - 1
a = rank(change)
b = log(close - 3)
c = close when fast == 2
`;

const call = (...rest: string[]) => [
  "eval",
  "a.factors",
  "--data",
  "bars.csv",
  "--threads",
  "2",
  "--report",
  "run.html",
  "--json",
  ...rest,
];

async function reported(args: readonly string[], bars = BARS) {
  const { exitCode, stdout, stderr, written } = await runCli(
    args,
    { "a.factors": FORMULAS, "bars.csv": bars },
    "run.html",
  );
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  const json = /<script type="application\/json" id="data">(.*)<\/script>/.exec(written!)![1]!;
  return { data: JSON.parse(json) as ReportData, summary: JSON.parse(stdout) };
}

describe("the page of a run", () => {
  test("has what eval says of every factor, and a cause for every null", async () => {
    const { data, summary } = await reported(call());
    expect(summary.report).toBe("run.html");
    expect(data.factors.map(({ name, nullCount }) => [name, nullCount])).toEqual(
      summary.factors.map(({ name, nullCount }: { name: string; nullCount: number }) => [name, nullCount]),
    );
    for (const [
      i,
      { values, nullCount, causes, sources, present, infiniteCount },
    ] of data.factors.entries()) {
      const { min, max, median, mean, sd, nonFiniteCount } = summary.factors[i];
      expect(values ?? { min: null, max: null, median: null, mean: null, sd: null }).toMatchObject({
        min,
        max,
        median,
        mean,
        sd,
      });
      expect(infiniteCount).toBe(nonFiniteCount);
      expect(causes.reduce((sum, [, count]) => sum + count, 0)).toBe(nullCount);
      expect(sources.reduce((sum, source) => sum + source.nullCount, 0)).toBe(nullCount);
      expect(present.reduce((sum, count) => sum + count, 0)).toBe(data.rowCount - nullCount);
    }
    expect(data.factors.map(({ nullCount }) => nullCount)).toEqual([2, 4, 6]);
    expect(data.factors[0]).toMatchObject({
      formula: "rank(change)",
      line: 3,
      column: 1,
      present: [0, 2, 2],
    });
    expect(data.times).toEqual({ count: 3, first: "2020-01-01", last: "2020-01-03" });
    expect([data.rowCount, data.symbolCount, data.coverage.rows]).toEqual([6, 2, [2, 2, 2]]);
  });

  test("has every node that ran, the factors that need it, and a track for every thread", async () => {
    const { data } = await reported(call());
    const rank = data.nodes.find(({ text }) => text.startsWith("rank("))!;
    expect(rank).toMatchObject({ kind: "rows", taskCount: 1, factors: [0] });
    expect(rank.partCount).toBeGreaterThan(0);
    expect(rank.bytes).toBeGreaterThan(0);
    expect(data.nodes.find(({ kind }) => kind === "input")!.factors).toEqual([0, 1]);
    const tracks = new Map(data.timeline.tracks.map(({ name, works }) => [name, works]));
    expect([...tracks.keys()]).toEqual(expect.arrayContaining(["main thread", "scheduler"]));
    const nodesMs = data.nodes.reduce((sum, { ms }) => sum + ms, 0);
    const executors = [...tracks].filter(([name]) => name.startsWith("executor"));
    const executorsMs = executors.flatMap(([, works]) => works).reduce((sum, { ms }) => sum + ms, 0);
    expect(executorsMs).toBeCloseTo(nodesMs, 3);
    expect(data.steps.map(({ name }) => name)).toEqual([
      "read",
      "compile",
      "start threads",
      "evaluate",
      "count nulls",
    ]);
  });

  test("a range, a selection and params are those of the call", async () => {
    const range = ["--from", "2020-01-02", "--to", "2020-01-02"];
    const { data } = await reported(call("--select", "c", "--param", "fast=2", ...range));
    expect(data).toMatchObject({ file: "a.factors", bars: "bars.csv" });
    expect(data.factors).toMatchObject([{ name: "c", nullCount: 0, present: [2] }]);
    expect(data.times).toEqual({ count: 1, first: "2020-01-02", last: "2020-01-02" });
  });

  test("one row, and no factor that is wanted", async () => {
    const { data } = await reported(call("--select", "c"), "date,symbol,close\n2020-01-01,A,1\n");
    expect(data.factors).toMatchObject([{ name: "c", nullCount: 1, values: null, present: [0] }]);
    expect(data.factors[0]!.causes).toHaveLength(1);
    expect(data.nodes).toEqual([]);
  });

  test("infinities are values where they are kept", async () => {
    const bars = "date,symbol,close\n2020-01-01,A,3\n2020-01-01,B,4\n";
    const kept = await reported(call("--select", "b", "--keep-inf"), bars);
    expect(kept.data.factors).toMatchObject([{ nullCount: 0, infiniteCount: 1, present: [2] }]);
    const nulled = await reported(call("--select", "b"), bars);
    expect(nulled.data.factors).toMatchObject([{ nullCount: 1, infiniteCount: 1, present: [1] }]);
  });
});

test.each([
  ["--report", "run.html"],
  ["--causes"],
])("%s does not go with a cluster", async (option, ...value) => {
  const files = { "a.factors": FORMULAS, "bars.csv": BARS };
  const call = ["cluster", "eval", "a.factors", "--data", "bars.csv", option, ...value];
  const { exitCode, stderr } = await runCli(call, files);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(new RegExp(`^E527 ${option} is not possible on a cluster`));
});
