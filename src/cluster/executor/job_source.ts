import { accessSync, constants } from "node:fs";
import type { PanelSource } from "../../data/panel/panel_source.ts";
import type { PanelSourceOptions } from "../../data/source/source_options.ts";
import { InternalError } from "../../errors.ts";
import { sourceNotShared } from "../protocol/errors.ts";
import type { JobSource } from "../protocol/protocol.ts";

/**
 * Opens the panel of a job on this host.
 *
 * @param panel the client's file as this host has it; null if workers read the panel themselves
 * @param limitBytes memory for reading (`PanelSourceOptions.memoryLimitBytes`)
 * @throws DataError E615 if this host does not see the panel, and as `openPanelRows`.
 */
export async function openJobSource(
  source: JobSource,
  panel: string | null,
  limitBytes: number,
): Promise<PanelSource> {
  const { path, options, time, symbols } = source;
  if (source.isBrought) {
    if (panel === null) throw new InternalError("a task without the panel that the client brings");
    const { openPanelFile } = await import("../../data/panel_file/panel_file_rows.ts");
    const { fields: fieldNames, groups: groupNames, seriesNames } = source;
    return openPanelFile(panel, { time, symbols, fieldNames, groupNames, seriesNames });
  }
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw sourceNotShared(path, (error as Error).message);
  }
  // DuckDB is slow to load: only executors that read a panel need it.
  const { openPanelRows } = await import("../../data/source/panel_rows.ts");
  const own: PanelSourceOptions = { ...options, memoryLimitBytes: limitBytes };
  return await openPanelRows(path, own, { time, symbols });
}
