import type { OutputColumns } from "../../data/factors/factor_batches.ts";
import { formatTime } from "../../data/time/time_text.ts";
import { flagWords, quoted } from "../opening/option_flags.ts";
import type { FactorSummary } from "../statistics/statistics_table.ts";
import { STANDARD } from "../terminal/standard_input.ts";
import type { ResultFlags } from "./result_flags.ts";
import type { ShownRow } from "./shown_rows.ts";

/** A factor with less values is worth a question. */
const COVERAGE_MIN = 0.5;

/** An evaluation, as far as what comes next depends on it. */
export interface Evaluated {
  readonly file: string;
  readonly flags: ResultFlags;
  readonly factors: readonly FactorSummary[];
  readonly rowCount: number;
  readonly shownRows: readonly ShownRow[];
  readonly columns: OutputColumns;
}

/** Lines that say what a user may want to do next: open the result, ask why a factor is mostly null. */
export function nextCommands(evaluated: Evaluated): string[] {
  const { out } = evaluated.flags;
  return [
    ...(out !== undefined && /^[\w./-]+\.parquet$/.test(out)
      ? [`open it: duckdb -c "FROM '${out}' LIMIT 5"`]
      : []),
    ...(isRepeatable(evaluated) ? reasonLines(evaluated) : []),
  ];
}

/** Whether another command can read the same formulas and bars from files. */
const isRepeatable = ({ file, flags }: Evaluated): boolean =>
  flags.expr === undefined && file !== "stdin" && flags.data !== STANDARD;

function reasonLines({ file, flags, factors, rowCount, shownRows, columns }: Evaluated): string[] {
  const worst = factors.toSorted((a, b) => b.nullCount - a.nullCount)[0];
  if (worst === undefined || rowCount === 0 || worst.nullCount < (1 - COVERAGE_MIN) * rowCount) return [];
  const share = Math.round((100 * worst.nullCount) / rowCount);
  const { from: _, to: __, ...kept } = flags;
  const words = flagWords("factorloom why", kept, ["source", "program", "call"]);
  const call = [quoted(file), `--data ${quoted(flags.data)}`, ...words].join(" ");
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
