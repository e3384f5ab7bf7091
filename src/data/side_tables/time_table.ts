/** Tables without symbols: one line per time. */
import type { Panel } from "../../panel.ts";
import { openDatabase } from "../duckdb/database.ts";
import { type KeyFinder, querying } from "../duckdb/relation.ts";
import { layOutPanel } from "../panel/panel_layout.ts";
import { collectPanel } from "../panel/panel_source.ts";
import { RelationBlocks, relationSource } from "../panel/relation_blocks.ts";
import { openRelation } from "../read/open_relation.ts";

/**
 * Reads the table as a panel of one lane, with the names of all columns of the file.
 *
 * @throws DataError for a repeated time, and what `findKeys` throws.
 */
export async function readTimeTable(
  file: string,
  findKeys: KeyFinder,
): Promise<{ readonly table: Panel; readonly columns: readonly string[] }> {
  using database = await openDatabase();
  const relation = await openRelation(database, file, findKeys);
  return await querying(relation, async () => {
    const layout = await layOutPanel(relation);
    const table = await collectPanel(relationSource(new RelationBlocks(relation, layout, "whole")));
    return { table, columns: relation.columns.map(({ name }) => name) };
  });
}
