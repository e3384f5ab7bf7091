import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { sessionSize } from "../../../bench/simulation/sizes.ts";

const page = readFileSync(new URL("../../../docs/sizing.md", import.meta.url), "utf8");

/** The figures of a row of the page's first table. */
function stated(set: string): number[] {
  const row = page.split("\n").find((line) => line.startsWith(`| ${set} | `));
  return row!
    .split("|")
    .slice(2, -1)
    .map((cell) => Number.parseFloat(cell));
}

test.each([
  "alpha101",
  "alpha158",
  "gtja191",
])("docs/sizing.md states what %s takes, to a tenth", async (set) => {
  const { formulas, workNs, pathNs, arenaBytes, stateBytes } = await sessionSize(set, {
    lanes: 5000,
    threads: 2,
  });
  const [work, arena] = [workNs / 1e6, arenaBytes / 2 ** 20];
  const found = [
    formulas,
    work,
    (1000 * work) / formulas,
    pathNs / 1e6,
    arena,
    arena / formulas,
    stateBytes / 2 ** 20,
  ];
  const ratios = stated(set).map((figure, column) => figure / found[column]!);
  expect(ratios).toHaveLength(found.length);
  for (const ratio of ratios) expect(Math.abs(ratio - 1)).toBeLessThan(0.1);
});

test("more threads shorten the path and need more scratch memory, for the same work", async () => {
  const sizes = [2, 64].map(async (threads) => await sessionSize("alpha101", { lanes: 5000, threads }));
  const [few, many] = await Promise.all(sizes);
  expect(many!.workNs).toBe(few!.workNs);
  expect(many!.pathNs).toBeLessThan(few!.pathNs / 2);
  expect(many!.arenaBytes).toBeGreaterThan(few!.arenaBytes);
});

test("an unknown set is refused", async () => {
  await expect(sessionSize("alpha102", { lanes: 1, threads: 1 })).rejects.toThrow("did you mean alpha101?");
});
