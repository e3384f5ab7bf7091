import { describe, expect, test } from "vitest";
import { runBench } from "../run_bench.ts";

const SIMULATE = ["simulate"];
const TOY = [...SIMULATE, "--graph", "diamonds", "--machine", "best"];

describe("bench simulate", () => {
  test("prints a line for each number of executors", async () => {
    const args = [...TOY, "--executors", "1,16", "--blocks", "2", "--order", "fifo", "--no-stealing"];
    const { exitCode, stdout, stderr } = await runBench(args);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const [title, blank, header, ...lines] = stdout.trimEnd().split("\n");
    expect(title).toBe("random graph diamonds, seed 1, 2 blocks, fifo without stealing");
    expect([blank, header!.startsWith("executors")]).toEqual(["", true]);
    expect(lines.map((line) => line.trim().split(/ +/)[0])).toEqual(["1", "16"]);
  });

  test("writes figures and a chart, the same every time", async () => {
    const args = [...TOY, "--executors", "3", "--json", "--seed", "5", "--out", "charts"];
    const file = "charts/diamonds-critical-path-3x1";
    const first = await runBench(args, {}, `${file}.svg`);
    const { figures, ...options } = JSON.parse(first.stdout);
    expect(options).toMatchObject({ graph: "diamonds", seed: 5, machine: "best", isStealing: true });
    expect(figures[0]).toMatchObject({ executors: 3, blocks: 1 });
    expect(figures[0].ratio).toBeGreaterThanOrEqual(1);
    expect(first.written).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
    const again = await runBench(args, {}, `${file}.json`);
    expect(again.stdout).toBe(first.stdout);
    expect(JSON.parse(again.written!).figures).toEqual(figures[0]);
  });

  test.each([
    ["an unknown graph", [...SIMULATE, "--graph", "diamnds"], "no graph diamnds; there are "],
    ["an unknown order", [...TOY, "--order", "filo"], "no order filo; there are critical-path, "],
    ["no executors", [...TOY, "--executors", "0"], "E500"],
    ["a negative time", [...TOY, "--queue-ns", "-1"], "E500"],
    ["an unknown machine", [...SIMULATE, "--machine", "usual"], "no machine usual; there are best, worst"],
    ["a folder that is a file", [...TOY, "--executors", "1", "--out", "bars.csv"], "E442"],
  ])("refuses %s", async (_, args, message) => {
    const { exitCode, stdout, stderr } = await runBench(args, { "bars.csv": "date\n" });
    expect(exitCode).toBe(message === "E442" ? 2 : 1);
    expect(stdout).toBe("");
    expect(stderr).toContain(message);
  });
});
