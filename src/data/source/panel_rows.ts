/** Reads parts of a panel of known shape, so that none of many processes reads the whole file. */
import { openDatabase } from "../duckdb/database.ts";
import type { Relation } from "../duckdb/relation.ts";
import { type LayoutOptions, layOutPanel, type PanelShape } from "../panel/panel_layout.ts";
import type { PanelSource } from "../panel/panel_source.ts";
import { openSourceAs } from "./open_panel_source.ts";
import type { PanelSourceOptions } from "./source_options.ts";

export type { PanelShape } from "../panel/panel_layout.ts";

/** Of DuckDB: a host has as many readers as cores. */
const THREADS = 1;

/**
 * Opens a file as `openPanelSource` does, with the times and symbols that were found in it before. A reading of some rows
 * reads only parts of the file that may have them, which are few if rows are in the order of time: for Parquet by its
 * statistics; for Arrow files that are too large to load by the times of the record batches, which the first reading
 * collects. CSV is loaded when it is opened, and times that are text are parsed then. Every reading numbers the codes of
 * groups by itself, reuses the arrays of the previous one, and ends it.
 *
 * Measured with 10 million rows of 5 fields in Parquet, 2 threads of DuckDB: 16 parts take 1.5 s in sum, all rows by
 * blocks 1.4 s.
 *
 * @throws DataError (E301-E338) as `openPanelSource`, E303 if the file does not match the shape.
 */
export async function openPanelRows(
  path: string,
  options: PanelSourceOptions,
  shape: PanelShape,
): Promise<PanelSource> {
  const layOut = (relation: Relation, own: LayoutOptions) => layOutPanel(relation, { ...own, known: shape });
  return await openSourceAs(path, options, layOut, "parts", (limits) =>
    openDatabase(limits && { ...limits, threads: THREADS }),
  );
}
