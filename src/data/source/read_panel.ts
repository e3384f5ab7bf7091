/** Reads a user's file into a panel in memory. */
import type { Panel } from "../../panel.ts";
import { collectPanel } from "../panel/panel_source.ts";
import { openPanelSource } from "./open_panel_source.ts";
import type { ReadPanelOptions } from "./source_options.ts";

/**
 * Reads a long table (one line per time and symbol, in any order) into a dense panel `[rows x lanes]`, as
 * `openPanelSource` lays it out.
 *
 * @throws UsageError E527 for an unknown option, E528 for a path that is not a text and for options of a wrong kind.
 * @throws DataError (E301-E338) that names the file and the fault.
 * @throws ResourceError E441 if the dense panel does not fit in memory.
 * @example const panel = await readPanel("bars.parquet", { groups: "sectors.csv" });
 */
export async function readPanel(path: string, options: ReadPanelOptions = {}): Promise<Panel> {
  const source = await openPanelSource(path, options);
  try {
    return await collectPanel(source);
  } finally {
    await source.close();
  }
}
