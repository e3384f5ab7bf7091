/** Holds rows of small files from their inspection to their evaluation: opening such a file takes longer than reading it. */
import { collectPanel, type PanelSource, panelSource } from "../../data/panel/panel_source.ts";

/** Larger files take longer to read than to open. */
const FILE_BYTES_MAX = 2 * 2 ** 20;
/** Limit for all files of a run together. */
const BYTES_MAX = 64 * 2 ** 20;
/** Overhead of a column, which is a shared memory of its own. */
const COLUMN_BYTES = 4096;

export class HeldInputs {
  #bytes = 0;

  /** Copies the rows of a source; null if they are too large to hold. */
  async hold(source: PanelSource): Promise<PanelSource | null> {
    const { rowCount, laneCount, fieldNames, groupNames } = source;
    const cellBytes = 8 * fieldNames.length + 4 * groupNames.length + 1;
    const columnCount = fieldNames.length + groupNames.length + 1;
    const bytes = rowCount * laneCount * cellBytes + columnCount * COLUMN_BYTES;
    if (bytes > FILE_BYTES_MAX || this.#bytes + bytes > BYTES_MAX) return null;
    try {
      const held = panelSource(await collectPanel(source));
      this.#bytes += bytes;
      return held;
    } catch {
      // Errors of its rows are reported when its turn comes: earlier files are evaluated first.
      return null;
    }
  }
}
