import type { OutputOptions } from "../../src/data/factors/factor_batches.ts";
import { type FactorTable, factorTableOfBlocks } from "../../src/data/factors/factor_table.ts";
import type { Panel } from "../../src/panel.ts";

interface FactorColumn {
  readonly name: string;
  readonly values: Float64Array | null;
}

/** The output table of a whole panel in one block. */
export async function factorTable(
  { time, symbols, rowCount, present }: Panel,
  factors: readonly FactorColumn[],
  options: OutputOptions = {},
): Promise<FactorTable> {
  const columns = new Map(factors.map(({ name, values }) => [name, values] as const));
  const block = { rowCount, times: time.values, present, columns };
  return await factorTableOfBlocks({ time, symbols, factors: [...columns.keys()] }, [block], {
    ...options,
    rowCount,
  });
}
