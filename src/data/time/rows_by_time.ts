/** Joins a table without symbols to the panel by time. */
import { type TimeColumn, type TimeType, UNITS_PER_SECOND } from "../../panel.ts";
import { seriesTimesDiffer } from "../errors.ts";
import { describeTimeType } from "./time_text.ts";

/**
 * The row of the table by time, in the unit of the panel. Units, widths and zones of the two columns may differ; times that the
 * panel's unit cannot hold are left out.
 *
 * @throws DataError E337 if the two are not of one kind: dates, integers, timestamps with or without zone.
 */
export function rowsByTime(
  table: TimeColumn,
  file: string,
  panel: Pick<TimeColumn, "type">,
  panelFile: string,
): Map<bigint, number> {
  if (kindOf(table.type) !== kindOf(panel.type)) {
    throw seriesTimesDiffer(file, describeTimeType(table.type), panelFile, describeTimeType(panel.type));
  }
  const [from, to] = [unitsPerSecond(table.type), unitsPerSecond(panel.type)];
  const rows = new Map<bigint, number>();
  table.values.forEach((time, row) => {
    const scaled = time * to;
    if (scaled % from === 0n) rows.set(scaled / from, row);
  });
  return rows;
}

function kindOf(type: TimeType): string {
  return type.kind === "timestamp" && type.timezone !== null ? "instant" : type.kind;
}

function unitsPerSecond(type: TimeType): bigint {
  return type.kind === "timestamp" ? UNITS_PER_SECOND[type.unit] : 1n;
}
