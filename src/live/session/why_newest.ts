import type { Program } from "../../compile.ts";
import { panelSource } from "../../data/panel/panel_source.ts";
import { checkSelect } from "../../evaluation/wanted_factors.ts";
import type { Explanation } from "../../reasons/explanation.ts";
import { explainRow, rowsReadBy } from "../../reasons/why.ts";
import type { RetainedRows } from "../../state/retained_rows.ts";
import { checkArgument, TEXT } from "../../text/argument_kinds.ts";
import { tooFewRowsKept } from "../errors.ts";
import type { InputRow } from "../input/bars.ts";
import type { SessionParts } from "../live_program.ts";
import { retainedPanel } from "./retained_panel.ts";

/**
 * Explains the newest cell of a factor from the rows that the session keeps.
 *
 * @throws UsageError E551 if the cell depends on rows that are not kept, or on rows with other params
 */
export async function explainNewest(
  parts: SessionParts,
  program: Program,
  retained: RetainedRows<InputRow>,
  factor: string,
  symbol: string,
): Promise<Explanation> {
  checkArgument("the factor", factor, TEXT);
  checkArgument("the symbol", symbol, TEXT);
  checkSelect(program, [factor]);
  const { oldest, count } = retained;
  const wanted = rowsReadBy(program, factor);
  const first = Math.max(0, count - wanted);
  if (count === 0 || first < oldest) throw tooFewRowsKept(factor, wanted, count - oldest);
  const { params } = retained.get(count - 1);
  const isNumeric = [...params.values()].some((value) => typeof value === "number");
  const hasOthers = (row: number) =>
    [...params].some(([name, value]) => retained.get(row).params.get(name) !== value);
  for (let row = first; isNumeric && row < count; row++)
    if (hasOthers(row)) throw tooFewRowsKept(factor, wanted, count - row - 1);
  const source = panelSource(retainedPanel(parts, retained));
  const { keepInfinite = false } = parts.options;
  return await explainRow(parts.host, program, source, source.rowCount - 1, {
    factor,
    symbol,
    params: Object.fromEntries(params),
    keepInfinite,
  });
}
