import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { tableFromIPC } from "apache-arrow";
import { expect, test } from "vitest";
import { fileFolder } from "../../support/file_folder.ts";
import { BARS, runCli } from "../run_cli.ts";
import { withoutSignsOfLife } from "../signs_of_life.ts";

const MAIN = fileURLToPath(new URL("../../../dist/src/cli/main.js", import.meta.url));
const folder = fileFolder();
const FILES = { "bars.csv": BARS, "a.factors": "a = rank(close)\nb = delta(close, 1) / 0\n" };
for (const [name, content] of Object.entries(FILES)) writeFileSync(join(folder, name), content);

/** Runs `eval` as a process with this stdin and temporary files in a folder of its own. */
function evaluate(args: readonly string[], input: string | Uint8Array = "") {
  const temporary = mkdtempSync(join(folder, "tmp-"));
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, "eval", ...args], {
    cwd: folder,
    input,
    env: { ...process.env, TMPDIR: temporary },
  });
  expect(readdirSync(temporary).filter((name) => name.startsWith("factorloom-stdin"))).toEqual([]);
  return { status, stdout, text: stdout.toString(), stderr: withoutSignsOfLife(stderr.toString()) };
}

const call = (args: readonly string[]) => runCli(["eval", ...args], FILES);

let arrowBytes: Buffer | null = null;
/** The result as the Arrow stream on stdout. */
function arrowOfBars(): Buffer {
  arrowBytes ??= evaluate(["a.factors", "--data", "bars.csv", "--out", "-", "--format", "arrow"]).stdout;
  return arrowBytes;
}

const CSV = `date,symbol,a,b
2020-01-01,A,0.5,
2020-01-01,B,1.0,
2020-01-02,A,0.75,
2020-01-02,B,0.75,
2020-01-03,A,1.0,
2020-01-03,B,0.5,
`;

test("stdout holds the result as CSV, JSON lines or an Arrow stream, stderr the summary", async () => {
  const args = ["a.factors", "--data", "bars.csv", "--out", "-"];
  const csv = await call(args);
  expect([csv.exitCode, csv.stdout]).toEqual([0, CSV]);
  expect(csv.stderr).toContain("a.factors: 2 factors x 6 rows");
  const infinite = (await call([...args, "--keep-inf"])).stdout.split("\n");
  expect(infinite.slice(3, 5)).toEqual(["2020-01-02,A,0.75,inf", "2020-01-02,B,0.75,-inf"]);
  const { stdout } = await call([...args, "--format", "jsonl", "--keep-inf"]);
  const lines = stdout.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))[3]).toEqual({
    date: "2020-01-02",
    symbol: "B",
    a: 0.75,
    b: "-inf",
  });
  const arrow = tableFromIPC(arrowOfBars());
  expect(arrow.schema.fields.map(({ name }) => name)).toEqual(["date", "symbol", "a", "b"]);
  expect([arrow.numRows, arrow.getChild("a")!.toArray()[2], arrow.getChild("b")!.nullCount]).toEqual([
    6, 0.75, 6,
  ]);
});

test("stdout and a .csv file hold the same bytes", async () => {
  const args = ["eval", "a.factors", "--data", "bars.csv", "--out"];
  const { exitCode, written } = await runCli([...args, "written.csv"], FILES, "written.csv");
  expect([exitCode, written]).toEqual([0, evaluate([...args.slice(1), "-"]).text]);
});

test("stdin holds bars or formulas", async () => {
  const toParquet = ["eval", "a.factors", "--data", "bars.csv", "--out", "result.parquet"];
  const { written } = await runCli(toParquet, FILES, "result.parquet", "latin1");
  expect(evaluate(["a.factors", "--data", "-", "--out", "-"], gzipSync(BARS)).text).toBe(CSV);
  const again = evaluate(["--expr", "a > 0.5", "--data", "-", "--out", "-"], Buffer.from(written!, "latin1"));
  expect(again.text.split("\n").slice(0, 3)).toEqual([
    "date,symbol,expr",
    "2020-01-01,A,0.0",
    "2020-01-01,B,1.0",
  ]);
  expect(evaluate(["--expr", "a > 0.5", "--data", "-", "--out", "-"], arrowOfBars()).text).toBe(again.text);
  const formulas = evaluate(
    ["-", "--data", "bars.csv", "--out", "-"],
    "a = rank(close)\nb = delta(close, 1) / 0\n",
  );
  expect(formulas.text).toBe(CSV);
  writeFileSync(join(folder, "sectors.csv"), "symbol,sector\nA,x\n");
  const grouped = ["--expr", "group_rank(close, sector)", "--groups", "sectors.csv", "--data", "-"];
  expect(
    evaluate(grouped, "date,symbol,close\n2020-01-01,A,1\n2020-01-01,B,1\n2020-01-01,C,1\n").stderr,
  ).toBe(
    'warning: sectors.csv: only 1 of the 3 symbols of stdin have a row; the groups of the others are null: "B" has none\n',
  );
  const wrong = evaluate(["-", "--data", "bars.csv"], "a = rnak(close)");
  expect([wrong.status, wrong.stderr.split("\n")[0]]).toEqual([1, expect.stringMatching(/^E201 stdin:1:5/)]);
  expect(evaluate(["a.factors", "--data", "-"], "").stderr).toMatch(/^E304 stdin: has no rows/);
});

test("formulas on the command line need no file, and may have names", async () => {
  const one = await call(["--expr", "rank(close)", "--data", "bars.csv", "--out", "-"]);
  expect(one.stdout.split("\n").slice(0, 2)).toEqual(["date,symbol,expr", "2020-01-01,A,0.5"]);
  const several = [
    "--expr",
    "let x = close * 2",
    "--expr",
    "x == 4",
    "--expr",
    "y = x",
    "--data",
    "bars.csv",
  ];
  expect((await call([...several, "--out", "-"])).stdout.split("\n")[0]).toBe("date,symbol,expr2,y");
});

test.each([
  [["--data", "bars.csv"], "E500 eval takes one source of formulas"],
  [["a.factors", "--expr", "close", "--data", "bars.csv"], "E500 eval takes one source of formulas"],
  [["-", "--data", "-"], "E500 stdin cannot be both formulas and bars"],
  [["a.factors", "--data", "bars.csv", "--trace", "-"], "E500 --trace cannot go to stdout"],
  [["a.factors", "--data", "bars.csv", "--report", "-"], "E500 --report cannot go to stdout"],
  [["a.factors", "--data", "bars.csv", "--format", "csv"], "E500 --format is for --out -"],
  [
    ["a.factors", "--data", "bars.csv", "--out", "-", "--json"],
    "E500 stdout cannot hold the result and --json",
  ],
])("%j is refused", async (args, message) => {
  const { exitCode, stderr } = await call(args);
  expect([exitCode, stderr.slice(0, message.length)]).toEqual([1, message]);
});

test("a command for the reason is named where it can read the same files", async () => {
  const options = ["--select", "b", "--data"];
  expect((await call(["a.factors", ...options, "bars.csv"])).stdout).toContain(
    "why: npx factorloom why a.factors --data bars.csv",
  );
  const { status, text } = evaluate(["a.factors", ...options, "-"], BARS);
  expect([status, text.includes("why:")]).toEqual([0, false]);
  expect(evaluate(["-", ...options, "bars.csv"], "b = 1 / (close - close)").text).not.toContain("why:");
  const { stdout } = await call(["--expr", "b = 1 / (close - close)", ...options, "bars.csv"]);
  expect(stdout).not.toContain("why:");
});
