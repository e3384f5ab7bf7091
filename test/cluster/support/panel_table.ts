import { factorTable } from "../../../src/data/factors/factor_table.ts";
import type { Panel } from "../../../src/panel.ts";

/** The fields of a panel as a long table, for `writeTable`. */
export async function panelTable(panel: Panel) {
  const columns = [...panel.fields].map(([name, values]) => ({ name, values }));
  return (await factorTable(panel, columns, { keepInfinite: true })).table;
}
