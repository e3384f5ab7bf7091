import { expect, test } from "vitest";
import { BARS, runCli } from "../run_cli.ts";

const FILES = {
  "old.csv": "date,symbol,a,b\n2024-01-02,A,1,1\n2024-01-02,B,2,2\n2024-01-03,A,3,\n",
  "same.csv": "date,symbol,a,b\n2024-01-03,A,3,\n2024-01-02,B,2,2\n2024-01-02,A,1,1\n",
  "new.csv": "date,symbol,a,c\n2024-01-02,A,1,1\n2024-01-02,B,2.5,2\n2024-01-04,A,3,3\n",
};

test("a result in another order of rows is the same: exit code 0", async () => {
  const { exitCode, stdout } = await runCli(["diff", "old.csv", "same.csv"], FILES);
  expect([exitCode, stdout]).toEqual([0, "2 factors and 3 rows compared: no cell differs\n"]);
});

test("what differs is printed: exit code 1", async () => {
  const { exitCode, stdout } = await runCli(["diff", "old.csv", "new.csv"], FILES);
  expect([exitCode, ...stdout.trimEnd().replaceAll(/ +/g, " ").split("\n")]).toEqual([
    1,
    "1 factor and 2 rows compared: 1 factor with other values",
    "1 row only in the first",
    "1 row only in the second",
    "only in the first: b",
    "only in the second: c",
    "factor cells null in one absolute relative ulp first cell a b",
    "a 1 0 0.500 0.200 1.13e+15 2024-01-02 B 2 2.5",
  ]);
});

test("--json has the numbers", async () => {
  const { stdout } = await runCli(["diff", "old.csv", "new.csv", "--json"], FILES);
  expect(JSON.parse(stdout)).toMatchObject({
    rowCount: 2,
    differences: [{ name: "a", cellCount: 1, absoluteMax: 0.5, first: { time: "2024-01-02", symbol: "B" } }],
  });
});

test("a wrong tolerance is refused", async () => {
  const { exitCode, stderr } = await runCli(["diff", "old.csv", "new.csv", "--tolerance", "-1"], FILES);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("A number that is not negative")]);
});

const FORMULAS = {
  "a.factors": "param k = 1\na = max(close, 2) * k\nb = ts_mean(close, 2)\nc = close\n",
  "b.factors": "a = max(close, 2)\nb = ts_mean(close, 3)\n",
  "bars.csv": BARS,
};

test("formula files are compared over bars: exit code 1 where values differ", async () => {
  const args = ["diff", "a.factors", "b.factors", "--data", "bars.csv"];
  const { exitCode, stdout } = await runCli(args, FORMULAS);
  expect([exitCode, ...stdout.trimEnd().replaceAll(/ +/g, " ").split("\n")]).toEqual([
    1,
    "2 factors and 6 rows compared: 1 factor with other values",
    "only in the first: c",
    "factor cells null in one absolute relative ulp first cell a b",
    "b 4 2 0.667 0.167 1.50e+15 2020-01-02 A 2.5 null",
    "",
    "the smallest parts that differ though what they read is equal:",
    "factor a line:column b line:column cells first cell a b",
    "b ts_mean(close, 2) 3:5 ts_mean(close, 3) 2:5 4 2020-01-02 A 2.5 null",
  ]);
  const selected = await runCli([...args, "--select", "a"], FORMULAS);
  expect([selected.exitCode, selected.stdout]).toEqual([
    0,
    "1 factor and 6 rows compared: no cell differs\n",
  ]);
});

test("a formula file is compared with itself in two dialects, with params", async () => {
  const args = ["diff", "a.factors", "a.factors", "--data", "bars.csv", "--param", "k=2", "--json"];
  const { exitCode, stdout } = await runCli([...args, "--dialect-b", "alpha101"], FORMULAS);
  expect([exitCode, JSON.parse(stdout)]).toEqual([
    1,
    expect.objectContaining({
      differences: [expect.objectContaining({ name: "a", cellCount: 4, nullCount: 2 })],
    }),
  ]);
  expect((await runCli([...args, "--dialect", "alpha101"], FORMULAS)).exitCode).toBe(0);
});

test("long formulas are cut so that their first difference is seen, and many parts are counted", async () => {
  const text = (d: number) =>
    [
      `a = ts_mean(ts_mean(ts_mean(open, 1) + close * 2 - volume / 10, 1) + close, ${d})`,
      `b = ${Array.from({ length: 7 }, (_, i) => `delay(close + ${i}, ${d})`).join(" + ")}`,
      "param k = 1",
      `c = close when k == ${d}`,
    ].join("\n");
  const files = { "a.factors": text(1), "b.factors": text(2), "bars.csv": BARS };
  const { stdout } = await runCli(["diff", "a.factors", "b.factors", "--data", "bars.csv"], files);
  const lines = stdout.trimEnd().replaceAll(/ +/g, " ").split("\n");
  expect(lines.find((line) => line.startsWith("a ..."))).toBe(
    "a ...ose * 2 - volume / 10, 1) + close, 1) 1:5 ...ose * 2 - volume / 10, 1) + close, 2) 1:5 6 2020-01-01 A -3 null",
  );
  expect(lines.filter((line) => line.startsWith("b delay"))).toHaveLength(5);
  expect(lines.slice(-2)).toEqual(["b: 2 more parts (--json has them)", "only their conditions differ: c"]);
});

test("of many factors of one side the first are named", async () => {
  const files = {
    "a.factors": `x = close\n${Array.from({ length: 22 }, (_, i) => `f${i} = close`).join("\n")}`,
    "b.factors": "x = close",
    "bars.csv": BARS,
  };
  const { stdout } = await runCli(["diff", "a.factors", "b.factors", "--data", "bars.csv"], files);
  expect(stdout).toMatch(/\nonly in the first: f0, f1, .*, f19 and 2 more \(--json has them\)\n$/);
});

test.each([
  [["a.factors", "b.factors"], "E523 formula files are compared over bars"],
  [["a.factors", "old.csv", "--data", "bars.csv"], "E523 one is a result and the other a formula file"],
  [["old.csv", "new.csv", "--data", "bars.csv"], "E523 --data is for formula files, and old.csv is a result"],
  [["old.csv", "new.csv", "--params-by-time", "p.csv"], "E523 --params-by-time is for formula files"],
  [["a.factors", "none.factors", "--data", "bars.csv"], "E508 none.factors: no such file"],
  [
    ["a.factors", "b.factors", "--data", "bars.csv", "--dialect-b", "alpha11"],
    "E506 unknown dialect alpha11",
  ],
])("%j is refused: %s", async (args, message) => {
  const { exitCode, stderr } = await runCli(["diff", ...args], { ...FILES, ...FORMULAS });
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(message)]);
});
