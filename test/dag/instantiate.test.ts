import { expect, test } from "vitest";
import { instantiate } from "../../src/dag/instantiate.ts";
import { countCalls, printDag } from "../../src/dag/print.ts";
import { dagOf } from "./graphs.ts";

const TEXT = `
  param k = 2
  a = ts_mean(close, 5)
  b = rank(ts_mean(close, 5) * k)
  c = a`;

const dag = dagOf(TEXT);
const withK = (k: number) => ({ dag, paramValue: () => k });

test("tasks below which there is no param are there once, the others once per value", () => {
  const { dag: graph, outputs } = instantiate([withK(2), withK(3), withK(2)], true);
  expect(printDag(graph)).toBe(
    [
      "%0 = close",
      "%1 = ts_mean(%0, d=5)",
      "%2 = 2",
      "%3 = multiply(%1, %2)",
      "%4 = rank(%3)",
      "%5 = 3",
      "%6 = multiply(%1, %5)",
      "%7 = rank(%6)",
      "a = %1",
      "b = %4",
      "b = %7",
    ].join("\n"),
  );
  expect(outputs).toEqual([
    [0, 1, 0],
    [0, 2, 0],
    [0, 1, 0],
  ]);
});

test("0 and -0 are two values", () => {
  const { outputs } = instantiate([withK(0), withK(-0)], true);
  expect(outputs.map(([, b]) => b)).toEqual([1, 2]);
});

test("without sharing every instance has its own tasks", () => {
  const { dag: graph } = instantiate([withK(2), withK(2)], false);
  expect(countCalls(graph)).toBe(2 * countCalls(dag));
});

test("no instance gives no graph", () => {
  expect(instantiate([], true)).toMatchObject({ dag: { tasks: [], outputs: [] }, outputs: [] });
});

test("outputs keep their priorities", () => {
  const ranked = dagOf("param k = 2\na = close * k priority 7\nb = open");
  const { dag: graph } = instantiate([{ dag: ranked, paramValue: () => 3 }], true);
  expect(graph.outputs.map(({ name, priority }) => [name, priority])).toEqual([
    ["a", 7],
    ["b", 0],
  ]);
});
