import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Table } from "apache-arrow";
import { compile, Engine, openPanelSource, type PanelSource, type Program } from "../../src/index.ts";
import { loadOperators } from "../../src/operator/load_operators.ts";
import type { Spec } from "../../src/options/doors.ts";
import type { OptionName } from "../../src/options/option_table.ts";
import { bitsOf } from "../support/bits.ts";
import { fileFolder } from "../support/file_folder.ts";

/** What is said of an option at every door, and formulas that show whether it is heard. */
export interface Probe {
  /** As the library takes it. */
  readonly value: unknown;
  /** The words of the flag's value; without: those of `value`. */
  readonly words?: readonly string[];
  readonly yaml?: string;
  /** Default: `FORMULAS`. */
  readonly formulas?: string;
  /** Default: `bars.csv`. */
  readonly data?: string;
  /** Whether the values are others than without the option. */
  readonly decides: boolean;
}

export const folder = fileFolder();
const path = (name: string) => join(folder, name);

const CELLS = Array.from({ length: 12 }, (_, cell) => {
  const [day, symbol] = [Math.floor(cell / 3), "ABC"[cell % 3]!];
  return { date: `2020-01-0${day + 1}`, symbol, close: ((cell * 7) % 5) + 1, volume: 100 * (cell % 4) };
});

function csv(time: string, symbol: string): string {
  const rows = CELLS.map((cell) => `${cell.date},${cell.symbol},${cell.close},${cell.volume}`);
  return [`${time},${symbol},close,volume`, ...rows, ""].join("\n");
}

const OPERATOR = `export const thrice = {
  name: "thrice", axis: "elementwise", result: "series", unit: "same",
  parameters: [{ name: "x", kind: "series" }],
  summary: "Three times x.", nulls: "Null where x is null.", source: "made for a test",
  costNs: () => 1, nullWhere: {}, reference: (x) => 3 * x,
  examples: [{ formula: "thrice(x)", inputs: { x: [2] }, output: [6] }],
};
`;

const FORMULAS = `param k = 1
a = ts_mean(close, 2) * k
b = close / (volume - volume)
c = rank(close)
`;

const FILES: Readonly<Record<string, string>> = {
  "bars.csv": csv("date", "symbol"),
  "named.csv": csv("day", "ticker"),
  "timed.csv": csv("day", "symbol"),
  "renamed.csv": csv("date", "symbol").replaceAll(/(0[12]),B,/g, "$1,OLD,"),
  "renames.csv": "old,new,from\nOLD,B,2020-01-03\n",
  "sectors.csv": "symbol,sector\nA,x\nB,x\nC,y\n",
  "index.csv": "date,index\n2020-01-01,10\n2020-01-02,20\n2020-01-03,30\n2020-01-04,40\n",
  "params.csv": "date,k\n2020-01-02,5\n2020-01-03,7\n",
  "thrice.mjs": OPERATOR,
};

/** Writes the files that probes name. */
export function writeFiles(): void {
  for (const [name, text] of Object.entries(FILES)) writeFileSync(path(name), text);
}

export const PROBES: Readonly<Record<Exclude<OptionName, "signal" | "onProgress">, Probe>> = {
  groups: { value: path("sectors.csv"), formulas: "a = group_rank(close, sector)\n", decides: true },
  series: { value: path("index.csv"), formulas: "a = close - index\n", decides: true },
  renames: {
    value: path("renames.csv"),
    formulas: "a = ts_sum(close, 2)\n",
    data: "renamed.csv",
    decides: true,
  },
  rename: {
    value: { px: "close" },
    words: ["px=close"],
    yaml: "{ px: close }",
    formulas: "a = rank(px)\n",
    decides: true,
  },
  timeColumn: { value: "day", data: "timed.csv", decides: true },
  symbolColumn: { value: "ticker", data: "named.csv", decides: true },
  dialect: { value: "qlib", formulas: "a = Mean($close, 2)\n", decides: true },
  universe: { value: "liquid", formulas: "let liquid = volume > 100\na = rank(close)\n", decides: true },
  operators: {
    value: [path("thrice.mjs")],
    words: [path("thrice.mjs")],
    yaml: `[${path("thrice.mjs")}]`,
    formulas: "a = thrice(close)\n",
    decides: true,
  },
  disabledPasses: {
    value: ["share_subexpressions"],
    words: ["share_subexpressions"],
    yaml: "[share_subexpressions]",
    decides: false,
  },
  params: { value: { k: 2.5 }, words: ["k=2.5"], yaml: "{ k: 2.5 }", decides: true },
  paramsByTime: { value: path("params.csv"), decides: true },
  select: { value: ["c", "a"], words: ["c,a"], yaml: "[c, a]", decides: true },
  from: { value: "2020-01-02", yaml: '"2020-01-02"', decides: true },
  to: { value: "2020-01-03", yaml: '"2020-01-03"', decides: true },
  restarts: { value: ["2020-01-03"], words: ["2020-01-03"], yaml: '["2020-01-03"]', decides: true },
  keepInfinite: { value: true, words: [], yaml: "true", decides: true },
  priority: { value: -3, decides: false },
  blockRows: { value: 2, decides: false },
  kernel: { value: "reference", decides: false },
  threads: { value: 1, decides: false },
  memoryLimit: { value: 2 ** 30, words: ["1GiB"], yaml: "1GiB", decides: false },
};

export type ProbedName = keyof typeof PROBES;

export const formulasOf = ({ formulas = FORMULAS }: Probe): string => formulas;
export const dataOf = ({ data = "bars.csv" }: Probe): string => path(data);

/** The value of an option where it belongs to this spec. */
function at(spec: Spec, of: Spec, name: string, value: unknown): Record<string, unknown> {
  return spec === of ? { [name]: value } : {};
}

/** Columns that the bars of `named.csv` need to be read at all. */
const NAMED = (name: ProbedName) => (name === "symbolColumn" ? { timeColumn: "day" } : {});

/** Bars, program and options of a call in which one option is given. */
export async function prepared(
  name: ProbedName,
  spec: Spec,
): Promise<{ readonly source: PanelSource; readonly program: Program; readonly call: object }> {
  const probe = PROBES[name];
  const { value } = probe;
  const source = await openPanelSource(dataOf(probe), { ...NAMED(name), ...at(spec, "source", name, value) });
  const given = name === "operators" ? await loadOperators(value as string[]) : value;
  const program = compile(formulasOf(probe), {
    fields: [...source.fieldNames],
    groups: [...source.groupNames],
    ...at(spec, "program", name, given),
  });
  return { source, program, call: at(spec, "call", name, value) };
}

/** Words of a command line that say it. */
export function wordsOf(name: ProbedName, flag: string): string[] {
  const { value, words = [String(value)] } = PROBES[name];
  const [long] = flag.split(" ") as [string];
  const named = name === "symbolColumn" ? ["--time-column", "day"] : [];
  return [...named, ...(words.length === 0 ? [long] : words.map((word) => `${long}=${word}`))];
}

/** Times, symbols and the bits of all values of a table, by column. */
export function bitsOfTable(table: Table): Record<string, unknown> {
  return Object.fromEntries(
    table.schema.fields.map(({ name }) => {
      const column = table.getChild(name)!;
      const isValue = !["date", "day", "symbol", "ticker"].includes(name);
      const values = [...column] as (number | null)[];
      return [name, isValue ? [...bitsOf(values.map((one) => one ?? Number.NaN))] : values.map(String)];
    }),
  );
}

export async function withEngine<T>(work: (engine: Engine) => Promise<T>): Promise<T> {
  await using engine = await Engine.start({ threads: 1 });
  return await work(engine);
}
