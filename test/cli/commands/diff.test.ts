import { expect, test } from "vitest";
import { runCli } from "../run_cli.ts";

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
