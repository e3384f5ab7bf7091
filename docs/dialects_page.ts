import { DIALECTS, type Dialect } from "../grammar/dialects.ts";
import { FOREIGN_FUNCTIONS } from "../grammar/foreign_names.ts";
import { builtInRegistry } from "../operators/index.ts";
import { compile } from "../src/compile.ts";
import { Engine } from "../src/engine.ts";
import type { DialectName } from "../src/operator/definition.ts";
import type { Panel } from "../src/panel.ts";

/** A difference between dialects, shown by one formula on one lane of data. */
interface Difference {
  readonly rule: string;
  readonly text: string;
  readonly inputs: Readonly<Record<string, readonly (number | null)[]>>;
  readonly formulas: Partial<Record<DialectName, string>>;
}

const DIFFERENCES: readonly Difference[] = [
  {
    rule: "Nulls in windows",
    text: "A window with a null is null, and so is one that is not full yet; in qlib nulls are skipped and one value suffices (pandas min_periods=1).",
    inputs: { close: [1, 3, null, 5, 7] },
    formulas: {
      native: "ts_mean(close, 3)",
      alpha101: "sum(close, 3) / 3",
      qlib: "Mean($close, 3)",
      gtja191: "MEAN(CLOSE, 3)",
    },
  },
  {
    rule: "Comparisons with null",
    text: "Null, but false in qlib (numpy).",
    inputs: { close: [1, null, 3] },
    formulas: { native: "close > 2", qlib: "$close > 2" },
  },
  {
    rule: "Not equal to null",
    text: "Null, but true in qlib: numpy.not_equal is the opposite of equal.",
    inputs: { close: [1, null, 2] },
    formulas: { native: "close != 2", qlib: "$close != 2" },
  },
  {
    rule: "Infinities in windows",
    text: "An infinity is a value, and what a window makes of it is IEEE or null; in qlib it is a null, since pandas turns infinities into NaN before it rolls.",
    inputs: { close: [2, 4, 6, 8], volume: [1, 0, 2, 2] },
    formulas: { native: "ts_mean(close / volume, 3)", qlib: "Mean($close / $volume, 3)" },
  },
  {
    rule: "Infinities in regressions and counts",
    text: "Slope, Resi and Rsquare of qlib are not of pandas: a window with an infinity is null. Count counts infinities.",
    inputs: { close: [2, 4, 6, 8, 9], volume: [1, 0, 2, 2, 1] },
    formulas: { native: "ts_slope(close / volume, 3)", qlib: "Slope($close / $volume, 3)" },
  },
  {
    rule: "Infinities in averages",
    text: "In native an infinity never leaves a recursion; EMA of qlib is of pandas, and carries the last result over.",
    inputs: { close: [2, 4, 6, 8], volume: [1, 0, 2, 2] },
    formulas: { native: "ema(close / volume, 3)", qlib: "EMA($close / $volume, 3)" },
  },
  {
    rule: "Positions of extremes beside nulls",
    text: "Null in native unless min_periods skips nulls; in qlib the first null or infinity of the window wins (numpy.argmax).",
    inputs: { close: [4, 7, null, 5, 6, 3] },
    formulas: {
      native: "ts_argmax(close, 3, min_periods=1)",
      qlib: "IdxMax($close, 3)",
    },
  },
  {
    rule: "max and min",
    text: "Pairwise in native; rolling in alpha101 if the second argument is a numeric literal, in gtja191 if it is one of at least 1; in qlib Max and Min are rolling, Greater and Less pairwise.",
    inputs: { close: [5, 1, 3, 2] },
    formulas: {
      native: "max(close, 2)",
      alpha101: "max(close, 2)",
      qlib: "Max($close, 2)",
      gtja191: "MAX(CLOSE, 2)",
    },
  },
  {
    rule: "Fractional windows",
    text: "An error, but rounded down in alpha101.",
    inputs: { close: [1, 2, 4, 8] },
    formulas: { alpha101: "delta(close, 2.9)" },
  },
  {
    rule: "rank",
    text: "Across the row, but over time in qlib, where Rank takes a window.",
    inputs: { close: [3, 1, 2] },
    formulas: { native: "rank(close)", qlib: "Rank($close, 3)" },
  },
  {
    rule: "SMA",
    text: "Simple mean in native; in gtja191 the recursion y = (m * x + (n - m) * y') / n.",
    inputs: { close: [4, 8, 2] },
    formulas: { native: "sma(close, 2)", gtja191: "SMA(CLOSE, 2, 1)" },
  },
  {
    rule: "EMA",
    text: "Seeded by the first value in native; in qlib the weights of a short history are normalised (pandas adjust=True).",
    inputs: { close: [4, 8, 2] },
    formulas: { native: "ema(close, 3)", qlib: "EMA($close, 3)" },
  },
  {
    rule: "WMA",
    text: "In gtja191 weights 0.9^k, normalised; in qlib weights 1..d, the mean divided once more by the count.",
    inputs: { close: [4, 8, 2] },
    formulas: { native: "decay_linear(close, 3)", qlib: "WMA($close, 3)", gtja191: "WMA(CLOSE, 3)" },
  },
  {
    rule: "ts_decay_exp_window",
    text: "BRAIN's mean with the weights factor^k over d rows, here for factor 0.5 and 3 rows, is written out: ema looks back without end.",
    inputs: { close: [1, 2, 4] },
    formulas: { native: "(close + 0.5 * delay(close, 1) + 0.25 * delay(close, 2)) / 1.75" },
  },
  {
    rule: "ts_arg_max",
    text: "BRAIN's counts the rows since the maximum, as high_day does; ts_argmax is a position, which grows towards today.",
    inputs: { close: [4, 9, 5, 8, 2, 6] },
    formulas: { native: "high_day(close, 6)", alpha101: "ts_argmax(close, 6)" },
  },
  {
    rule: "Corr of nearly constant series",
    text: "Null where a side is constant; in qlib already where a standard deviation is within 2e-5 of 0.",
    inputs: { close: [1, 1.00001, 1], volume: [1, 2, 3] },
    formulas: { native: "correlation(close, volume, 3)", qlib: "Corr($close, $volume, 3)" },
  },
  {
    rule: "Ref(x, 0)",
    text: "The first value of history in qlib, the current value elsewhere.",
    inputs: { close: [4, 8, 2] },
    formulas: { native: "delay(close, 0)", qlib: "Ref($close, 0)" },
  },
  {
    rule: "Delta(x, 0)",
    text: "The change since the first value of history in qlib, 0 elsewhere.",
    inputs: { close: [4, 8, 2] },
    formulas: { native: "delta(close, 0)", qlib: "Delta($close, 0)" },
  },
  {
    rule: "SELF",
    text: "In gtja191 the factor's own value of the row before, 1 before the first row; at a null the value is carried over.",
    inputs: { close: [4, 8, 2] },
    formulas: { gtja191: "CLOSE > DELAY(CLOSE, 1) ? CLOSE * SELF : SELF" },
  },
];

/** Operators of other systems that have no counterpart here, by the reason why. */
const LEFT_OUT: readonly (readonly [reason: string, operators: string])[] = [
  [
    "no public definition",
    "ts_target_tvr_decay, ts_target_tvr_hump, ts_target_tvr_delta_limit, group_percentage, BRAIN's gaussian ts_quantile",
  ],
  ["the result would be a group column", "bucket, densify, group_cartesian_product"],
  ["needs history and the group at once", "group_backfill, group_extra"],
  ["would look ahead", "BFillNan"],
  ["a function of the data store, not of values", "ChangeInstrument"],
  [
    "weights factor^k over d rows, which `ema` has not: `wma_decay` is that of 0.9, others are written out",
    "ts_decay_exp_window",
  ],
];

/**
 * Where a public definition contradicts its own examples, or systems disagree beyond the dialects above, and what was
 * chosen.
 */
const CHOICES: readonly string[] = [
  "`zscore`, `group_zscore`, `winsorize`, `normalize` divide by n - 1, as all standard deviations do here.",
  "`rank` and `group_rank` run from 1/n to 1; BRAIN's run from 0 to 1.",
  "`kth_element` counts from k = 1 for the latest value; `days_from_last_change` is 0 in the row of the change.",
  "`first_value`, and so qlib's `Ref(x, 0)`, is the oldest value that is not null: a series begins where its instrument is listed.",
  "`s_log_1p` takes the natural logarithm.",
  "`trade_when` looks at its exit first; trigger and exit count when above 0.",
  "`truncate` limits magnitudes to max_percent of the row's sum of absolute values.",
  "Recursions are IEEE: an infinity never leaves an average.",
  "Technical averages are seeded by the first value (TA-Lib: by a mean); `rsi` of prices that never move is null (TA-Lib: 0); Bollinger bands use the deviation of the population; `kdj_k` is seeded by its first raw value; `aroon_up` takes the oldest of ties.",
];

/** Where dialect qlib differs from Qlib on purpose. */
const QLIB_DIFFERS: readonly string[] = [
  "Numbers are doubles. Qlib stores fields as 32-bit floats and computes with them until a window gives doubles; its `Sign` rounds to 32 bits first.",
  "Statistics are exact. pandas and Qlib keep running sums, in which rounding and large values leave traces; in `Slope`, `Resi` and `Rsquare` of Qlib an infinity leaves NaN for all rows after it, here for the windows that hold it.",
  "A covariance of one pair and a correlation with a side that is constant in the pairs are null; pandas may leave an infinity or a quotient of rounding errors.",
  "`Skew` and `Kurt` of a window of equal values are null; pandas gives 0 and -3 since 1.5. pandas takes variances up to 1e-14 for 0 there; here such windows have their value.",
  "A row before an instrument's first is a null of its windows, since windows are rows of the panel; a history of Qlib begins with the instrument. `IdxMax`, `IdxMin`, `WMA` and means of conditions differ until the window has filled.",
  "`Ref(x, 0)`, also in `Delta(x, 0)`, is the oldest value that is not null; in Qlib it is the first row's, null or not.",
  "`Power` of a null, or by one, is null; in numpy 1 to any power and any value to the power 0 are 1.",
  "Refused: windows of 0 (Qlib: the whole history, which depends on what was loaded; the message says how to write sums, means, counts and extremes of it), windows between 0 and 1 (Qlib: the alpha of an exponential mean, 2 / (N + 1); 0.1 is `EMA(x, 19)`), conditions that are not comparisons (in numpy a null holds).",
];

/** The page on dialects: rules from the tables, differences evaluated by the engine itself. */
export async function dialectsPage(): Promise<string> {
  const engine = await Engine.start({ threads: 1 });
  try {
    const shown: string[] = [];
    for (const difference of DIFFERENCES) shown.push(await differenceSection(difference, engine));
    return page(shown);
  } finally {
    await engine.close();
  }
}

function page(differences: readonly string[]): string {
  const dialects = Object.values(DIALECTS);
  const named = dialects.filter(({ name }) =>
    builtInRegistry.operators.some(({ aliases }) => aliases?.[name]),
  );
  const row = (title: string, cell: (dialect: Dialect) => string) =>
    `| ${title} | ${dialects.map(cell).join(" | ")} |`;
  return `# Dialects

Made from the dialect tables, the registry and the engine by \`npm run docs\`; a test keeps it current.

A file states its dialect on a line of its own, \`dialect qlib\`; \`--dialect\` and the option \`dialect\` of \`compile\`
override it.

| | ${dialects.map(({ name }) => name).join(" | ")} |
| --- | ${dialects.map(() => "---").join(" | ")} |
${[
  row(
    "spelling",
    ({ spellings, equalsCompares }) =>
      [
        ...spellings.map((spelling) => `\`${spelling.replace("|", "\\|")}\``),
        ...(equalsCompares ? ["`=` compares"] : []),
      ].join(" ") || "-",
  ),
  row("windows such as 2.9", ({ fractionalWindows }) =>
    fractionalWindows === "floor" ? "rounded down" : "error",
  ),
  row("values a window needs", ({ minPeriods }) => (minPeriods === null ? "all rows" : String(minPeriods))),
  row("comparison with null", ({ nullComparisons }) =>
    nullComparisons === "numpy" ? "false, `!=` true" : nullComparisons,
  ),
  row("an infinity in a window", ({ finiteInputs }) => (finiteInputs.size > 0 ? "null" : "value")),
  row("group columns", ({ groupPrefix }) => (groupPrefix ? `\`${groupPrefix}.sector\`` : "`sector`")),
  row("fields known without a declaration", ({ fields }) => fields.join(" ") || "-"),
  row("derived series", ({ derived }) =>
    derived.map(({ pattern }) => `\`${pattern.source.slice(1, -1).replace("(\\d{1,5})", "20")}\``).join(" "),
  ),
].join("\n")}

- \`alpha101\`: Z. Kakushadze (2015), arXiv:1601.00991.
- \`qlib\`: Microsoft Qlib (MIT), expression engine, qlib/data/ops.py.
- \`gtja191\`: Guotai Junan Securities (2017), research report on 191 short-horizon price-volume alphas. \`REGBETA\` skips
  rows with a null, since \`FILTER\` leaves such; \`REGBETA(y, SEQUENCE(n))\` is the slope over n rows; \`DELAY(x)\` is
  \`DELAY(x, 1)\`. Benchmark fields hold one value a row: give them with \`--series\`.

## Differences, by example

One lane, rows from left to right; the results are computed by the engine.

${differences.join("\n\n")}

## Where qlib differs from Qlib

Alpha158, Alpha360 and each operator are tested against Qlib's definitions over pandas, on bars with infinities, nulls,
zero volumes, constants and missing rows: equal to 1e-9 with the same nulls. The exceptions:

${QLIB_DIFFERS.map((difference) => `- ${difference}`).join("\n")}

## Choices

${CHOICES.map((choice) => `- ${choice}`).join("\n")}

## Left out

| reason | operators |
| --- | --- |
${LEFT_OUT.map(([reason, operators]) => `| ${reason} | ${operators} |`).join("\n")}

## Names of other systems

What the message for such a name proposes, in dialect native: BRAIN, polars_ta, pandas, numpy, TA-Lib, SQL, Tongdaxin.

| names | formula | |
| --- | --- | --- |
${FOREIGN_FUNCTIONS.map(
  ({ names, formula, note }) =>
    `| ${names.join(", ")} | ${formula === null ? "-" : `\`${formula}\``} | ${note} |`,
).join("\n")}

## Names by dialect

alpha101 has the names of native. Every dialect has the names in the first column.

| operator | ${named.map(({ name }) => name).join(" | ")} |
| --- | ${named.map(() => "---").join(" | ")} |
${builtInRegistry.operators
  .filter(({ aliases }) => aliases)
  .map(
    ({ name, aliases }) =>
      `| ${name} | ${named.map((dialect) => (aliases?.[dialect.name] ?? []).join(" ")).join(" | ")} |`,
  )
  .join("\n")}
`;
}

async function differenceSection(
  { rule, text, inputs, formulas }: Difference,
  engine: Engine,
): Promise<string> {
  const given = Object.entries(inputs).map(([name, values]) => `${name} = ${vector(values)}`);
  const rows: string[] = [];
  for (const [dialect, formula] of Object.entries(formulas)) {
    const program = compile(`result = ${formula}`, { dialect });
    const { table } = await engine.evaluate(program, laneOf(inputs));
    const values = [...(table.getChild("result") ?? [])] as (number | null)[];
    rows.push(`${dialect.padEnd(9)} ${formula.padEnd(46)} = ${vector(values)}`);
  }
  return `### ${rule}\n\n${text}\n\n\`\`\`\n${[...given, ...rows].join("\n")}\n\`\`\``;
}

function vector(values: readonly (number | null)[]): string {
  return `[${values.map((value) => (value === null ? "null" : String(Number(value.toPrecision(6))))).join(", ")}]`;
}

/** A panel of one lane. */
function laneOf(inputs: Difference["inputs"]): Panel {
  const rowCount = Object.values(inputs)[0]?.length ?? 0;
  const fields = Object.entries(inputs).map(([name, values]) => {
    const column = new Float64Array(new SharedArrayBuffer(rowCount * 8));
    column.set(values.map((value) => value ?? Number.NaN));
    return [name, column] as const;
  });
  return {
    rowCount,
    laneCount: 1,
    time: {
      name: "date",
      type: { kind: "date" },
      values: BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(row)),
    },
    symbols: ["A"],
    fields: new Map(fields),
    groups: new Map(),
    present: new Uint8Array(rowCount).fill(1),
  };
}
