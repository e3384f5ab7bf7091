import { fileURLToPath } from "node:url";
import { SOURCE_BYTES_MAX } from "../../src/limits.ts";
import { BARS } from "./run_cli.ts";

/**
 * Something that a user may get wrong: the command line, and files beside or instead of the usual ones. Mistakes of formulas
 * and of tables are those of `test/compile/diagnostics.test.ts` and `test/data/read_errors.test.ts`.
 */
export interface WrongInput {
  readonly what: string;
  readonly args: readonly string[];
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
}

/** The files that are there unless a case has its own of that name. */
export const USUAL_FILES = {
  "a.factors": "a = rank(close)\nb = ts_mean(close, 2)\n",
  "bars.csv": BARS,
};

const example = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
const evaluate = (...rest: string[]) => ["eval", "a.factors", "--data", "bars.csv", ...rest];

const formula = (what: string, text: string | Uint8Array): WrongInput => ({
  what,
  args: ["check", "a.factors"],
  files: { "a.factors": text },
});

const FORMULAS: readonly WrongInput[] = [
  formula(
    "five mistakes in one file",
    "a = rank(clsoe)\nb = rank(close, 1)\nc = (close\nd = delay(close, -1)\ne = rnak(close)\n",
  ),
  formula(
    "binary formula file",
    Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0xff]),
  ),
  formula("source over 16 MiB", Buffer.alloc(SOURCE_BYTES_MAX + 1, "#")),
  { what: "formula file that does not exist", args: ["check", "none.factors"] },
  { what: "folder as formula file", args: ["check", "."] },
  {
    what: "mistake in a formula that is evaluated",
    args: evaluate(),
    files: { "a.factors": "a = rank(clsoe)\n" },
  },
];

const DATA: readonly WrongInput[] = [
  { what: "data file that does not exist", args: ["eval", "a.factors", "--data", "none.csv"] },
  {
    what: "text in most cells of a column of numbers",
    args: evaluate(),
    files: { "bars.csv": "date,symbol,close\n2020-01-01,A,1\n2020-01-02,A,n/a\n2020-01-03,A,-\n" },
  },
  { what: "--from that is no date", args: evaluate("--from", "yesterday") },
  {
    what: "group that the panel lacks",
    args: evaluate(),
    files: { "a.factors": "a = indneutralize(close, sector)" },
  },
  {
    what: "groups without a symbol column",
    args: evaluate("--groups", "groups.csv"),
    files: { "groups.csv": "ticker,sector\nA,Tech\n" },
  },
  { what: "groups that do not exist", args: evaluate("--groups", "none.csv") },
  { what: "output folder that does not exist", args: evaluate("--out", "none/out.csv") },
  { what: "output of an unknown kind", args: evaluate("--out", "out.xlsx") },
  {
    what: "output among the files that are read",
    args: ["eval", "a.factors", "--data", "bars", "--out", "bars/out.parquet"],
    files: { "bars/a.parquet": "" },
  },
  {
    what: "output in the place of a folder that holds the bars, with formulas of no file",
    args: ["eval", "--expr", "close", "--data", "bars.csv", "--out", "."],
  },
  { what: "trace in a folder that does not exist", args: evaluate("--trace", "none/trace.json") },
  { what: "trace that would replace the bars", args: evaluate("--trace", "./bars.csv") },
  {
    what: "trace that would replace the result",
    args: evaluate("--out", "out.csv", "--trace", "out.csv"),
  },
  { what: "report in the place of the formulas", args: evaluate("--report", "a.factors") },
  { what: "report in the place of the trace", args: evaluate("--trace", "a.json", "--report", "./a.json") },
];

const ARGUMENTS: readonly WrongInput[] = [
  { what: "unknown command", args: ["evaluate", "a.factors"] },
  { what: "unknown option", args: evaluate("--thread", "2") },
  {
    what: "table in the place of names of groups",
    args: ["check", "a.factors", "--group-columns", "data/sectors.csv"],
  },
  { what: "groups without the data that they join", args: ["check", "a.factors", "--groups", "sector"] },
  {
    what: "table in the place of names of fields",
    args: ["explain", "a.factors", "--fields", "bars.csv.gz"],
  },
  { what: "unknown dialect", args: evaluate("--dialect", "alpha11") },
  {
    what: "unknown universe, with fields that are known",
    args: ["check", "a.factors", "--data", "bars.csv", "--universe", "liquid"],
  },
  { what: "unknown factor to select", args: evaluate("--select", "a,c") },
  {
    what: "unknown param",
    args: evaluate("--param", "lamda=0.9"),
    files: { "a.factors": "param lambda = 1\na = close * lambda\n" },
  },
  {
    what: "param of another type",
    args: evaluate("--param", "lambda=high"),
    files: { "a.factors": "param lambda = 1\na = close * lambda\n" },
  },
  {
    what: "param that is not given",
    args: evaluate(),
    files: { "a.factors": "param p\na = close when p == 1\n" },
  },
  {
    what: "text that is compared with a number",
    args: evaluate("--param", "p=noon"),
    files: { "a.factors": "param p\na = close when p > 12\n" },
  },
  { what: "no threads", args: evaluate("--threads", "0") },
  { what: "unknown symbol to print", args: evaluate("--symbols", "A,C") },
  { what: "time to print that the data lack", args: evaluate("--at", "2020-02-01") },
  {
    what: "time to print that is not in the result",
    args: evaluate("--at", "2020-01-01", "--from", "2020-01-02"),
  },
  { what: "JSON of runs, which only a dry run prints", args: ["run", "jobs.yaml", "--once", "--json"] },
  { what: "a folder of results without a cluster", args: evaluate("--out", "results/") },
  {
    what: "an option that a command refuses",
    args: ["verify", "a.factors", "--data", "bars.csv", "--kernel", "reference"],
  },
  { what: "operators that do not exist", args: evaluate("--operators", "none.ts") },
  {
    what: "a module without operators",
    args: evaluate("--operators", "empty.mjs"),
    files: { "empty.mjs": "export const a = 1;\n" },
  },
  { what: "unknown pass", args: evaluate("--no-pass", "canonical_ordr") },
  { what: "unknown operator", args: ["ops", "rnak"] },
  {
    what: "memory limit that is too small",
    args: [
      "eval",
      example("alpha101.factors"),
      "--data",
      example("data/sp100_daily.csv.gz"),
      "--groups",
      example("data/sp100_sectors.csv"),
      "--memory-limit",
      "20kB",
      "--select",
      "alpha001,alpha101",
      "--threads",
      "1",
    ],
  },
];

export const WRONG_INPUTS: readonly WrongInput[] = [...FORMULAS, ...DATA, ...ARGUMENTS];
