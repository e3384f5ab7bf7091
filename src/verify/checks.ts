import { COMPILER_PASS_NAMES, type FactorInfo } from "../compile.ts";
import type { KernelChoice } from "../evaluation/options.ts";
import { BLOCK_ROWS_MAX } from "../limits.ts";
import { counted } from "../text/counted.ts";

/** How a run differs from the usual one; the results must not differ in any bit. */
export interface Variation {
  readonly kernel?: KernelChoice;
  readonly select?: readonly string[];
  readonly blockRows?: number;
  readonly threads?: number;
  readonly disabledPasses?: readonly string[];
  /** First row of history; values that depend on earlier rows are not compared. */
  readonly startRow?: number;
  /** Row before which the stream is closed; another one goes on from what it kept. */
  readonly restartRow?: number;
}

/** One promise of the reproducibility contract. */
export interface Check {
  readonly name: string;
  /** The runs of the check, each factor in one of them at most; empty if the check does not apply to program and panel. */
  readonly variations: readonly Variation[];
}

export interface CheckedShape {
  /** The factors that are computed. */
  readonly factors: readonly FactorInfo[];
  /** Rows of history and of output. */
  readonly rowCount: number;
  readonly threads: number;
}

/** Rows of a block: that of a live call, a prime, and the usual one. */
const BLOCK_ROWS = [1, 7, 64];

/** All checks, in the order in which they run. */
export function checksOf(shape: CheckedShape): Check[] {
  return [
    { name: "operators by their references", variations: [{ kernel: "reference" }] },
    eachAlone(shape),
    ...blockSizes(shape),
    ...threadCounts(shape),
    ...passes(),
    restart(shape),
    ...laterStarts(shape),
  ];
}

function eachAlone({ factors }: CheckedShape): Check {
  if (factors.length === 1) return { name: "each factor alone: there is one only", variations: [] };
  const variations = factors.map(({ name }) => ({ select: [name] }));
  return { name: `each of ${factors.length} factors alone`, variations };
}

function blockSizes({ rowCount }: CheckedShape): Check[] {
  const wanted = [...BLOCK_ROWS.filter((size) => size < rowCount), Math.min(rowCount, BLOCK_ROWS_MAX)];
  return wanted.map((blockRows) => {
    const name =
      blockRows === rowCount
        ? `one block of ${counted(rowCount, "row")}`
        : `blocks of ${counted(blockRows, "row")}`;
    return { name, variations: [{ blockRows }] };
  });
}

function threadCounts({ threads: given }: CheckedShape): Check[] {
  return [...new Set([1, 2, given])].map((threads) => {
    return { name: counted(threads, "thread"), variations: [{ threads }] };
  });
}

function passes(): Check[] {
  const each = COMPILER_PASS_NAMES.map((name) => ({
    name: `no ${name}`,
    variations: [{ disabledPasses: [name] }],
  }));
  return [...each, { name: "no pass at all", variations: [{ disabledPasses: COMPILER_PASS_NAMES }] }];
}

function restart({ rowCount }: CheckedShape): Check {
  const restartRow = Math.floor(rowCount / 2);
  if (restartRow === 0) return { name: "continue from a checkpoint: too few rows", variations: [] };
  return {
    name: `continue from a checkpoint after ${counted(restartRow, "row")}`,
    variations: [{ restartRow }],
  };
}

/**
 * Two later starts: after the first row, where nearly all values are compared, and where the factor that looks back
 * furthest still has half of the rows after its lookback to compare.
 */
function laterStarts({ factors, rowCount }: CheckedShape): Check[] {
  const able = factors.filter(({ lookbackRows }) => lookbackRows < rowCount - 1);
  if (able.length === 0)
    return [{ name: "a later start: every factor looks back to the first row", variations: [] }];
  const deepest = able.reduce((most, { lookbackRows }) => Math.max(most, lookbackRows), 0);
  const starts = new Set([1, Math.max(1, Math.floor((rowCount - deepest) / 2))]);
  const which =
    able.length < factors.length ? ` (${able.length} of ${counted(factors.length, "factor")})` : "";
  return [...starts].map((startRow) => {
    const name = `history without its first ${startRow === 1 ? "row" : counted(startRow, "row")}${which}`;
    return { name, variations: [{ startRow, select: able.map((factor) => factor.name) }] };
  });
}
