import { describe, expect, test } from "vitest";
import { WORKLOADS } from "../../../src/bench/workloads.ts";
import { runCli } from "../run_cli.ts";

describe("bench", () => {
  test("without a name lists what can be measured", async () => {
    const { exitCode, stdout, stderr } = await runCli(["bench"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const lines = stdout.trimEnd().split("\n").slice(1);
    expect(lines.map((line) => line.split(" ")[0])).toEqual(WORKLOADS.map(({ name }) => name));
    const listed = JSON.parse((await runCli(["bench", "--json"])).stdout);
    expect(listed).toEqual(WORKLOADS.map(({ name, summary }) => ({ name, summary })));
  });

  test("prints a short table", async () => {
    const args = ["bench", "history-alpha158", "--lanes", "21", "--rows", "70", "--threads", "1"];
    const { exitCode, stdout, stderr } = await runCli([...args, "--select", "KMID,MA5"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toBe("history-alpha158: 2 factors, 21 lanes x 70 rows, 1 thread, blocks of 64");
    for (const line of ["wall time", "a row, p99", "text to first call", "peak resident size", "digest"])
      expect(stdout).toMatch(new RegExp(`^${line} +\\S`, "m"));
  });

  test("--json tells all, the digest is the same for other threads and blocks", async () => {
    const args = ["bench", "history-alpha101", "--lanes", "21", "--rows", "70", "--json"];
    const select = ["--select", "alpha001,alpha012"];
    const one = JSON.parse((await runCli([...args, ...select, "--threads", "1"])).stdout);
    const two = JSON.parse(
      (await runCli([...args, ...select, "--threads", "2", "--block-rows", "9"])).stdout,
    );
    expect(Object.keys(one.factorDigests)).toEqual(["alpha001", "alpha012"]);
    expect(two.factorDigests).toEqual(one.factorDigests);
    expect(two.digest).toBe(one.digest);
    expect([one.threads, two.threads, two.blockRows, one.nullShare]).toEqual([1, 2, 9, 0]);
    for (const key of ["wallMs", "cellsPerSecond", "peakRssBytes", "readyMs", "kernelMs", "arenaBytes"])
      expect(one[key], key).toBeGreaterThan(0);
    expect(Object.keys(one.msPerRow)).toEqual(["mean", "p50", "p99", "p999", "max"]);
    expect(one).toMatchObject({ node: process.version, cpu: expect.any(String), cores: expect.any(Number) });
  });

  test.each([
    ["an unknown name", ["rnak"], "E506 no workload rnak\n  did you mean rank?\n"],
    [
      "an option that means nothing to it",
      ["rank", "--threads", "2"],
      "E527 rank knows no --threads\n  it takes --lanes, --rows, --nulls, --block-rows\n",
    ],
    ["an unknown factor", ["live-alpha158", "--lanes", "3", "--rows", "3", "--select", "KMIT"], "E506"],
    ["a share of all", ["rank", "--nulls", "1"], "E500"],
    ["no lanes", ["rank", "--lanes", "0"], "E500"],
  ])("refuses %s", async (_, args, message) => {
    const { exitCode, stdout, stderr } = await runCli(["bench", ...args]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain(message);
  });
});
