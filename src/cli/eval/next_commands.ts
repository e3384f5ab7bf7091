import type { OutputColumns } from "../../data/factors/factor_batches.ts";
import { formatTime } from "../../data/time/time_text.ts";
import type { FactorSummary } from "../statistics/statistics_table.ts";
import type { CallOptions } from "./call_options.ts";
import type { ShownRow } from "./shown_rows.ts";

/** A factor with less values is worth a question. */
const COVERAGE_MIN = 0.5;

/** An evaluation, as far as what comes next depends on it. */
export interface Evaluated {
  readonly file: string;
  /** `bars` names the data: "stdin" where they lie in a temporary file. */
  readonly options: CallOptions & {
    readonly bars: string;
    readonly expr?: readonly string[];
    readonly out?: string;
    readonly keepInf?: true;
  };
  readonly factors: readonly FactorSummary[];
  readonly rowCount: number;
  readonly shownRows: readonly ShownRow[];
  readonly columns: OutputColumns;
}

/** Lines that say what a user may want to do next: open the result, ask why a factor is mostly null. */
export function nextCommands(evaluated: Evaluated): string[] {
  const { out } = evaluated.options;
  return [
    ...(out !== undefined && /^[\w./-]+\.parquet$/.test(out)
      ? [`open it: duckdb -c "FROM '${out}' LIMIT 5"`]
      : []),
    ...(isRepeatable(evaluated) ? reasonLines(evaluated) : []),
  ];
}

/** Whether another command can read the same formulas and bars from files. */
const isRepeatable = ({ file, options }: Evaluated): boolean =>
  options.expr === undefined && file !== "stdin" && options.bars === options.data;

function reasonLines({ file, options, factors, rowCount, shownRows, columns }: Evaluated): string[] {
  const worst = factors.toSorted((a, b) => b.nullCount - a.nullCount)[0];
  if (worst === undefined || rowCount === 0 || worst.nullCount < (1 - COVERAGE_MIN) * rowCount) return [];
  const share = Math.round((100 * worst.nullCount) / rowCount);
  const call = [quoted(file), ...callWords(options)].join(" ");
  const index = columns.factors.indexOf(worst.name);
  const row = shownRows.findLast(({ values }) => !Number.isFinite(values[index]!));
  const cell = row && [
    `--factor ${quoted(worst.name)} --symbol ${quoted(columns.symbols[row.lane]!)}`,
    `--at ${quoted(formatTime(row.time, columns.time.type))}`,
  ];
  const command = cell
    ? `npx factorloom why ${call} ${cell.join(" ")}`
    : `npx factorloom nulls ${call} --select ${quoted(worst.name)}`;
  return [`${worst.name} is ${share} % null; why: ${command}`];
}

/** The options of the call that other commands take as well. */
function callWords(options: Evaluated["options"]): string[] {
  const one = (flag: string, value: string | undefined) =>
    value === undefined ? [] : [`${flag} ${quoted(value)}`];
  const pairs = (flag: string, values: Readonly<Record<string, string>> = {}) =>
    Object.entries(values).map(([name, value]) => `${flag} ${quoted(`${name}=${value}`)}`);
  return [
    ...one("--data", options.data),
    ...one("--groups", options.groups),
    ...one("--series", options.series),
    ...pairs("--field", options.field),
    ...one("--time-column", options.timeColumn),
    ...one("--symbol-column", options.symbolColumn),
    ...one("--universe", options.universe),
    ...one("--dialect", options.dialect),
    ...pairs("--param", options.param),
    ...one("--params-by-time", options.paramsByTime),
    ...(options.keepInf ? ["--keep-inf"] : []),
  ];
}

/** A word for a shell. */
function quoted(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
