/** A relation into a dense panel. */
import type { GroupColumn, Panel } from "../panel.ts";
import { describeDuplicate } from "./duplicate_rows.ts";
import type { Labels } from "./labels.ts";
import { allocateCells, scatterRows } from "./panel_cells.ts";
import { layOutPanel } from "./panel_layout.ts";
import type { Relation } from "./relation.ts";

/** Builds the panel of a relation; without a symbol column it has one lane. @throws DataError for what is wrong. */
export async function buildPanel(relation: Relation): Promise<Panel> {
  const layout = await layOutPanel(relation);
  const cells = allocateCells(relation, layout);
  const isUnique = await scatterRows(relation, layout, cells);
  if (!isUnique) throw await describeDuplicate(relation, layout);
  const { times, symbols, roles, groupLabels } = layout;
  const groups = roles.groups.map(({ name }, index) =>
    groupColumn(name, groupLabels[index]!, cells.groups[index]!),
  );
  return {
    rowCount: times.column.values.length,
    laneCount: symbols.sorted.length,
    time: times.column,
    symbols: symbols.sorted,
    fields: new Map(roles.fields.map(({ name }, index) => [name, cells.fields[index]!])),
    groups: new Map(groups.map((group) => [group.name, group])),
    present: cells.present,
  };
}

function groupColumn(name: string, labels: Labels, codes: Int32Array<SharedArrayBuffer>): GroupColumn {
  return { name, labels: labels.sorted, codes, changesOverTime: true };
}
