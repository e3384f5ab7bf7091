/** Rows of small files, held in memory between the look at them and their evaluation: opening a file takes most of its time. */
import { collectPanel, type PanelSource, panelSource } from "../../data/panel/panel_source.ts";

/** Larger files take longer to read than to open. */
const FILE_BYTES_MAX = 2 * 2 ** 20;
/** Of all of a run together. */
const BYTES_MAX = 64 * 2 ** 20;
/** Each column is shared memory of its own. */
const COLUMN_BYTES = 4096;

export class HeldInputs {
  #bytes = 0;

  /** The rows of a source that is about to be closed; null for one that is opened again. */
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
      // What is wrong with its rows is reported when it is their turn: those of the files before are evaluated first.
      return null;
    }
  }
}
