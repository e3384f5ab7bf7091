/** Reads a relation into a dense panel. */
import type { Panel } from "../../panel.ts";
import type { Relation } from "../duckdb/relation.ts";
import { layOutPanel } from "./panel_layout.ts";
import { collectPanel } from "./panel_source.ts";
import { RelationBlocks } from "./relation_blocks.ts";

/** The panel of a relation; it has one lane if there is no symbol column. @throws DataError for wrong rows. */
export async function buildPanel(relation: Relation): Promise<Panel> {
  const layout = await layOutPanel(relation);
  const { times, symbols, roles } = layout;
  const blocks = new RelationBlocks(relation, layout);
  return collectPanel({
    rowCount: times.column.values.length,
    laneCount: symbols.sorted.length,
    symbols: symbols.sorted,
    time: times.column,
    fieldNames: roles.fields.map(({ name }) => name),
    groupNames: roles.groups.map(({ name }) => name),
    blocks: (request) => blocks.read(request),
    close: async () => {},
  });
}
