import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { BARS, runCli } from "../run_cli.ts";

const example = (name: string) => fileURLToPath(new URL(`../../../examples/${name}`, import.meta.url));
const FILES = {
  "bars.csv": BARS,
  "groups.csv": "symbol,sector\nA,Tech\nB,Bank\n",
  "a.factors": "a = rank(close)\nb = ts_mean(close, 2)\nc = 1 / (close - close)\n",
};
const evaluate = (...rest: string[]) => [
  "eval",
  "a.factors",
  "--data",
  "bars.csv",
  "--threads",
  "1",
  ...rest,
];

describe("eval", () => {
  test.each(["eval", "verify"])("%s warns of a universe that nothing reads", async (command) => {
    const warnings = async (text: string, universe: string) => {
      const call = [command, "u.factors", "--data", "bars.csv", "--threads", "1", "--universe", universe];
      const { stderr } = await runCli(call, { ...FILES, "u.factors": text });
      return stderr.match(/--universe .*/g);
    };
    expect(await warnings("a = ts_mean(close, 2)\n", "no_such_field")).toEqual([
      "--universe no_such_field changes nothing: no operator of u.factors works across the row",
    ]);
    expect(await warnings("let liquid = volume > 100\na = rank(close)\n", "liquid")).toBeNull();
  });

  test("--causes says by which first causes a factor is null", async () => {
    const { stdout } = await runCli(evaluate("--causes"), FILES);
    expect(stdout).toMatch(/^b +66.6 % +too few rows 100.0 %/m);
    expect(stdout).toMatch(/^c +0.0 % +division by zero 100.0 %/m);
    const { stdout: json } = await runCli(evaluate("--causes", "--json"), FILES);
    expect(JSON.parse(json).factors).toMatchObject([
      { name: "a", nullCount: 0, nullCauses: [] },
      { name: "b", nullCount: 2, nullCauses: [{ cause: "too_few_rows", cellCount: 2 }] },
      { name: "c", nullCount: 6, nullCauses: [{ cause: "division_by_zero", cellCount: 6 }] },
    ]);
  });

  test("prints rows and a summary on stdout and nothing on stderr", async () => {
    const { exitCode, stdout, stderr } = await runCli(evaluate("--tail", "1"), FILES);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout.replace(/^time: .*$/m, "time")).toBe(
      [
        "date        symbol    a    b     c",
        "2020-01-03  B       0.5  2.5  null",
        "",
        "factor  coverage  nulls  infinities  min  median  max   mean      sd  histogram",
        "a        100.0 %      0           0  0.5    0.75    1   0.75  0.2236  █   █  █",
        "b         66.6 %      2           0  2.5       3    4  3.125    0.75  █    ▄ ▄",
        "c          0.0 %      6           6",
        "",
        "a.factors: 3 factors x 6 rows",
        "tasks: 4 unique of 4 before sharing",
        "time",
        "no --out given: nothing was written",
        "",
        "c is 100 % null; why: npx factorloom why a.factors --data bars.csv --factor c --symbol B --at 2020-01-03",
        "",
      ].join("\n"),
    );
  });

  test("counts tasks before sharing as explain does, and one factor as one", async () => {
    // What is folded, simplified and shared counts all the same: -, *, - and *.
    const files = { ...FILES, "one.factors": "a = close * (1 - 0.25) - open * (1 - 0.25)\n" };
    const { stdout } = await runCli(["eval", "one.factors", ...evaluate().slice(2)], files);
    expect(stdout).toMatch(/^one\.factors: 1 factor x 6 rows$/m);
    expect(stdout).toMatch(/^tasks: 3 unique of 5 before sharing$/m);
    expect((await runCli(["explain", "one.factors"], files)).stdout).toMatch(/\(before sharing\) +5$/m);
  });

  test("--json prints it as one object in one line", async () => {
    const { exitCode, stdout, stderr } = await runCli(evaluate("--json"), FILES);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout.trimEnd()).not.toContain("\n");
    const { stagesMs, ...summary } = JSON.parse(stdout);
    expect(summary).toMatchObject({
      file: "a.factors",
      dialect: "native",
      factorCount: 3,
      rowCount: 6,
      tasksBeforeSharing: 4,
      tasks: 4,
      nodesPruned: 0,
      factorsNotWanted: [],
      factors: [
        { name: "a", nullCount: 0, nonFiniteCount: 0 },
        { name: "b", nullCount: 2, nonFiniteCount: 0 },
        { name: "c", nullCount: 6, nonFiniteCount: 6 },
      ],
      out: null,
    });
    for (const ms of Object.values(stagesMs)) expect(ms).toBeGreaterThanOrEqual(0);
  });

  test("--out writes the selected factors for the rows of the input that are asked for", async () => {
    const { exitCode, stdout, written } = await runCli(
      evaluate("--out", "out.csv", "--select", "b", "--from", "2020-01-02"),
      FILES,
      "out.csv",
    );
    expect(exitCode).toBe(0);
    expect(stdout).toContain("result: out.csv\n");
    expect(written).toBe(
      "date,symbol,b\n2020-01-02,A,2.5\n2020-01-02,B,3.5\n2020-01-03,A,4.0\n2020-01-03,B,2.5\n",
    );
  });

  test("--out is checked before bars are read, and may be a folder for a cluster", async () => {
    const codeOf = async (...command: string[]) => {
      const args = [...command.slice(0, -1), "a.factors", "--data", "none.csv", "--out", command.at(-1)!];
      return (await runCli(args, FILES)).stderr.match(/^E\d+ \S+/)?.[0];
    };
    expect(await codeOf("eval", "out.xlsx")).toBe("E544 out.xlsx:");
    expect(await codeOf("eval", "results/")).toBe("E527 --out");
    expect(await codeOf("cluster", "eval", "results/")).toBe("E301 none.csv:");
  });

  test("--groups adds group columns", async () => {
    const files = { ...FILES, "a.factors": "a = indneutralize(close, sector)\n" };
    const { exitCode, stdout } = await runCli(evaluate("--groups", "groups.csv"), files);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("a.factors: 1 factor x 6 rows");
  });

  test("--param decides what is wanted and is a number in formulas", async () => {
    const text = 'param session = "open"\nparam k = 2\na = close * k\nb = close when session == "close"\n';
    const files = { ...FILES, "a.factors": text };
    const wanted = async (...rest: string[]) => {
      const { factorsNotWanted } = JSON.parse((await runCli(evaluate("--json", ...rest), files)).stdout);
      return factorsNotWanted;
    };
    expect(await wanted()).toEqual(["b"]);
    expect(await wanted("--param", "session=close")).toEqual([]);
    expect(await wanted("--param", 'session="close"', "--param", "k=-0.5")).toEqual([]);
  });

  test("--param of a text that looks like a number stays a text", async () => {
    const files = { ...FILES, "a.factors": 'param code = "600519"\na = close when code == "000001"\n' };
    const { exitCode, stdout } = await runCli(evaluate("--json", "--param", "code=000001"), files);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).factorsNotWanted).toEqual([]);
  });

  test("--param of a name that JavaScript knows is a name like any other", async () => {
    const files = { ...FILES, "a.factors": "param __proto__ = 1\na = close * __proto__\n" };
    const args = evaluate("--param", "__proto__=3", "--out", "out.csv");
    const { exitCode, written } = await runCli(args, files, "out.csv");
    expect(exitCode).toBe(0);
    expect(written).toMatch(/^date,symbol,a\n2020-01-01,A,6.0\n2020-01-01,B,12.0\n/);
  });

  test.each([
    "csv",
    "arrow",
    "parquet",
    "csv.gz",
  ])("writes the same .%s for any block size and kernel", async (kind) => {
    const out = `out.${kind}`;
    const write = (...rest: string[]) => runCli(evaluate("--out", out, ...rest), FILES, out);
    const first = await write();
    expect(first).toMatchObject({ exitCode: 0, stderr: "" });
    for (const rest of [
      ["--block-rows", "1"],
      ["--block-rows", "2", "--kernel", "reference"],
    ]) {
      expect((await write(...rest)).written).toBe(first.written);
    }
  });

  test("of the real example gives a value for every row of the input", async () => {
    const { exitCode, stdout, stderr } = await runCli([
      "eval",
      example("alpha101.factors"),
      "--data",
      example("data/sp100_daily.csv.gz"),
      "--groups",
      example("data/sp100_sectors.csv"),
      "--select",
      "alpha001,alpha041,alpha101",
      "--threads",
      "2",
      "--json",
    ]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const summary = JSON.parse(stdout);
    expect(summary).toMatchObject({ dialect: "alpha101", factorCount: 3, rowCount: 121_855 });
    expect(summary.nodesPruned).toBeGreaterThan(700);
    expect(summary.factors.map(({ name }: { name: string }) => name)).toEqual([
      "alpha001",
      "alpha041",
      "alpha101",
    ]);
    for (const { nullCount } of summary.factors) expect(nullCount).toBeLessThan(5000);
  });
});

describe("help", () => {
  test.each([[["eval", "--help"]], [["help", "check"]]])("%j goes to stdout", async (args) => {
    const { exitCode, stdout, stderr } = await runCli(args);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^Usage: factorloom /);
  });

  test("lists the commands", async () => {
    const { stdout } = await runCli(["--help"]);
    for (const command of ["eval", "check", "explain", "ops"])
      expect(stdout).toMatch(new RegExp(`^ {2}${command} `, "m"));
  });

  test("comes on stderr with exit code 1 where no command is given", async () => {
    const { exitCode, stdout, stderr } = await runCli([]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^Usage: factorloom /);
  });

  test("--version prints the version alone", async () => {
    expect((await runCli(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
