/** Factor values into the long output table. */
import { Table } from "apache-arrow";
import type { Panel } from "../panel.ts";
import { FactorBatches, type OutputOptions } from "./factor_batches.ts";

export interface FactorColumn {
  readonly name: string;
  /** `[rows x lanes]`, NaN for null; null for a factor that was not wanted: its column is null throughout. */
  readonly values: Float64Array | null;
}

export type FactorTableOptions = OutputOptions;

export interface FactorTable {
  readonly table: Table;
  /** Nulls of each factor's column, by name. */
  readonly nullCounts: Map<string, number>;
  /** Infinities among each factor's values, kept or not, by name; also in the field's metadata (`nonFinite`). */
  readonly nonFiniteCounts: Map<string, number>;
}

/**
 * The long output table: the time column under its own name and type, `symbol` (dictionary-encoded), one nullable
 * Float64 column per factor; one line per cell that the input has (`present`), sorted by time, then symbol.
 * NaN becomes null, and so does an infinity unless `keepInfinite`.
 *
 * @throws DataError E341 when a factor has the name of a key column, E342 when `from` and `to` leave no row.
 */
export function factorTable(
  panel: Panel,
  factors: readonly FactorColumn[],
  options: FactorTableOptions = {},
): FactorTable {
  const { time, symbols, rowCount, present } = panel;
  const gathering = new FactorBatches({ time, symbols, factors: factors.map(({ name }) => name) }, options);
  const columns = new Map(factors.map(({ name, values }) => [name, values]));
  const batches = [
    ...gathering.append({ rowCount, times: time.values, present, columns }),
    ...gathering.finish(),
  ];
  return {
    table: new Table(gathering.schema(), batches),
    nullCounts: gathering.nullCounts(),
    nonFiniteCounts: gathering.nonFiniteCounts(),
  };
}
