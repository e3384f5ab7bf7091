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
    const { exitCode, stdout } = await runCli(["ops", "rank"]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatchInlineSnapshot(`
      "rank(x)
      Average rank of ties among the row's values, divided by their number: in (0, 1].

      axis            cross section
      result          series
      nulls           Nulls stay null and do not count.
      causes of null  none of its own
      laws            rank(rank(x)) = rank(x)
      source          pandas DataFrame.rank(axis=1, pct=True); rank(x) of Kakushadze (2015), arXiv:1601.00991

      examples
        rank(x)
        x = [30, 10, null, 20, 10]
        -> [1, 0.375, null, 0.75, 0.375]
      "
    `);
    expect((await runCli(["ops", "ts_mean"])).stdout).toMatch(
      /\naxis +rolling\nresult +series\nalso called +sma \(native\); mean, sma \(qlib\); mean, ma \(gtja191\)\nnulls /,
    );
  });

  test("NAME says that an operator has no code", async () => {
    const speedOf = async (name: string) => /^speed +(.*)$/m.exec((await runCli(["ops", name])).stdout)?.[1];
    expect(await speedOf("ts_regresid3")).toMatch(/^no code; about \d+ ns a cell by its reference$/);
    expect(await speedOf("ts_mean")).toBeUndefined();
    expect(await speedOf("rsi")).toBeUndefined();
  });

  test("NAME says for which causes of its own it is null", async () => {
    const causesOf = async (name: string) =>
      /^causes of null +(.*)$/m.exec((await runCli(["ops", name])).stdout)?.[1];
    expect(await causesOf("ts_zscore")).toBe("null today, infinite input, too few values, constant window");
    expect(await causesOf("abs")).toBe("none of its own");
    expect(await causesOf("rsi")).toBe("those of its formula");
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
    const causesOf = async (name: string) =>
      JSON.parse((await runCli(["ops", name, "--json"])).stdout)[0].nullCauses;
    expect(await causesOf("ts_std")).toEqual(["infinite_input", "too_few_values"]);
    expect(await causesOf("rank")).toEqual([]);
    expect(await causesOf("rsi")).toBeUndefined();
  });

  test("an unknown name is an error with the nearest", async () => {
    expect(await runCli(["ops", "ts_maen"])).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "E506 no operator ts_maen\n  did you mean ts_mean?\n",
    });
    expect((await runCli(["ops", "constructor"])).stderr).toContain("E506 no operator constructor\n");
  });
});
