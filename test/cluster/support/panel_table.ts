import type { Panel } from "../../../src/panel.ts";
import { factorTable } from "../../support/factor_table.ts";

/** The fields of a panel as a long table, for `writeTable`. */
export async function panelTable(panel: Panel) {
  const columns = [...panel.fields].map(([name, values]) => ({ name, values }));
  return (await factorTable(panel, columns, { keepInfinite: true })).table;
}
