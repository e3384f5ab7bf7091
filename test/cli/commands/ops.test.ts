import { describe, expect, test } from "vitest";
import { builtInRegistry } from "../../../operators/index.ts";
import { runCli } from "../run_cli.ts";

describe("ops", () => {
  test("lists every operator with how it is called and what it means, by axis", async () => {
    const { exitCode, stdout, stderr } = await runCli(["ops"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    for (const { name, summary } of builtInRegistry.operators) {
      const line = stdout.split("\n").find((text) => text.startsWith(`${name} `));
      expect(line, name).toContain(summary);
    }
    for (const heading of ["elementwise", "rolling", "cross section", "group"]) {
      expect(stdout.split("\n").map((line) => line.trim())).toContain(heading);
    }
  });

  test("NAME describes one in full", async () => {
    const { exitCode, stdout } = await runCli(["ops", "delay"]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^delay\(x, d\)\nThe value d rows ago\.\n\naxis +rolling\nresult +series\n/);
    expect(stdout).toMatch(
      /\nexamples\n {2}delay\(x, 2\)\n {2}x = \[1, null, 3, Infinity, 5\]\n {2}-> \[null, null, 1, null, 3\]\n/,
    );
  });

  test("NAME lists its laws, one a line", async () => {
    expect((await runCli(["ops", "abs"])).stdout).toMatch(
      /^laws +abs\(-x\) = abs\(x\)\n +abs\(abs\(x\)\) = abs\(x\)\n +abs\(x \* x\) = x \* x\nsource/m,
    );
  });

  test.each([
    ["STDDEV", "ts_std(x, d)"],
    ["SignedPower", "signed_power(x, a)"],
    ["?:", "c ? a : b"],
  ])("%s is found too", async (name, signature) => {
    const { stdout } = await runCli(["ops", name]);
    expect(stdout.split("\n")[0]).toBe(signature);
  });

  test("--json prints them as data", async () => {
    const all = JSON.parse((await runCli(["ops", "--json"])).stdout);
    expect(all.map(({ name }: { name: string }) => name)).toEqual(
      builtInRegistry.operators.map(({ name }) => name),
    );
    const [rank] = JSON.parse((await runCli(["ops", "rank", "--json"])).stdout);
    expect(rank).toMatchObject({ name: "rank", signature: "rank(x)", axis: "cross_section" });
    expect(rank.examples.length).toBeGreaterThan(0);
  });

  test("an unknown name is an error with the nearest", async () => {
    expect(await runCli(["ops", "ts_maen"])).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "E509 no operator ts_maen\n  did you mean ts_mean?\n",
    });
    expect((await runCli(["ops", "constructor"])).stderr).toContain("E509 no operator constructor\n");
  });
});
