/** The culprit; `internal` is a bug in factorloom, `suspicion` a finding of `check --strict`. */
export type ErrorClass = "formula" | "data" | "usage" | "resource" | "internal" | "suspicion";

/** The single meaning of a code. */
export interface ErrorEntry {
  readonly code: string;
  readonly class: ErrorClass;
  readonly title: string;
  readonly happened: string;
  readonly toDo: string;
  readonly example: ErrorExample;
}

export type ErrorExample = FormulaExample | CommandExample | LibraryExample | Situation;

/** A formula file that `factorloom check` refuses; with `--strict` for suspicions. */
export interface FormulaExample {
  readonly formula: string;
  /** Printed lines. */
  readonly shows: readonly string[];
}

/** Command lines; the last one ends with the error. */
export interface CommandExample {
  readonly commands: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  readonly shows: readonly string[];
}

/** Lines of a program; the last one throws the error. */
export interface LibraryExample {
  readonly program: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  readonly shows: readonly string[];
}

/** A situation that tests of the catalogue do not run, and why. */
export interface Situation {
  readonly situation: string;
  readonly notRun: string;
}

const BARS = `date,symbol,open,high,low,close,volume
2024-01-02,A,10,12,9,11,100
2024-01-02,B,20,21,19,20,200
2024-01-03,A,11,13,10,12,110
2024-01-03,B,20,22,18,21,190
`;

/** Files of every example. */
export const EXAMPLE_FILES: Readonly<Record<string, string>> = {
  "a.factors": "a = ts_mean(close, 2)\n",
  "bars.csv": BARS,
  "inbox/1.csv": BARS,
  "jobs.yaml": `journal: journal
log: { level: silent }
jobs:
  - name: daily
    formulas: a.factors
    source: { folder: inbox }
    sink: { arrow: out }
    schedule: { cron: "0 18 * * *" }
`,
};

/** First lines of every example of a program. */
export const EXAMPLE_PRELUDE: readonly string[] = [
  "await using engine = await Engine.start({ threads: 1 });",
  'const bars = await readPanel("bars.csv");',
  'const program = compile("a = ts_mean(close, 2)");',
  "const definition = {",
  '  name: "plus_one",',
  '  axis: "elementwise",',
  '  result: "series",',
  '  unit: "same",',
  '  parameters: [{ name: "x", kind: "series" }],',
  '  summary: "One more.",',
  '  nulls: "Null where x is null.",',
  '  source: "an example",',
  "  costNs: () => 1,",
  "  reference: (x) => x + 1,",
  "  nullWhere: {},",
  '  examples: [{ formula: "plus_one(x)", inputs: { x: [1] }, output: [2] }],',
  "};",
];

/** An example as lines for a terminal or a page: its input, then its output. */
export function exampleText(example: ErrorExample): string[] {
  if ("situation" in example) return [example.situation];
  if ("formula" in example) {
    const option = example.shows[0]?.startsWith("S") ? " --strict" : "";
    const file = example.formula.split("\n");
    return [...fileText("made.factors", file), `$ factorloom check made.factors${option}`, ...example.shows];
  }
  const files = Object.entries(example.files ?? {}).filter(([, text]) => text !== "");
  const given = files.flatMap(([name, text]) => fileText(name, text.trimEnd().split("\n")));
  const lines = "commands" in example ? example.commands.map((command) => `$ ${command}`) : example.program;
  return [...given, ...lines, ...example.shows.map((line) => ("commands" in example ? line : `// ${line}`))];
}

function fileText(name: string, lines: readonly string[]): string[] {
  return [`${name}:`, ...lines.map((line) => `  ${line}`), ""];
}
