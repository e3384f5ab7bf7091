/** Opens a user's file, with its side tables, as a source of row blocks. */
import { machineMemoryBytes } from "../../limits.ts";
import type { GroupColumn } from "../../panel.ts";
import { checkArgument, PATH } from "../../text/argument_kinds.ts";
import { checkedOptions } from "../../text/option_kinds.ts";
import { type OpenDatabase, openDatabase } from "../duckdb/database.ts";
import { querying, type Relation } from "../duckdb/relation.ts";
import { renamedMissing, renamedTaken } from "../errors.ts";
import { findPanelKeys } from "../panel/key_columns.ts";
import { warnOfLoneRows } from "../panel/lone_rows.ts";
import { type LayoutOptions, layOutPanel, type PanelLayout } from "../panel/panel_layout.ts";
import {
  type BlockRequest,
  checkingRequests,
  type PanelBlock,
  type PanelSource,
  type RowRange,
} from "../panel/panel_source.ts";
import { type ReadingStyle, RelationBlocks, relationSource } from "../panel/relation_blocks.ts";
import type { ColumnRoles } from "../read/column_roles.ts";
import { openRelation } from "../read/open_relation.ts";
import { readGroupTable } from "../side_tables/group_table.ts";
import { readSeriesTable } from "../side_tables/series_table.ts";
import { symbolRenaming } from "../side_tables/symbol_renames.ts";
import { PANEL_SOURCE_OPTIONS, type PanelSourceOptions, type ReadPanelOptions } from "./source_options.ts";

const MEMORY_SHARE = 0.25;
/** Enough for DuckDB to load and sort any table; tried with 1.5 GB. */
const MEMORY_BYTES_MIN = 128 * 2 ** 20;
/** With a memory limit: more threads would take more memory, and the engine uses the cores. */
const THREADS = 2;

/**
 * Opens a long table (one line per time and symbol, in any order) as a dense panel `[rows x lanes]` that is read in
 * blocks: rows are the distinct times ascending, lanes the distinct symbols in code-unit order. Formats by extension:
 * .csv, .tsv (also .gz), .parquet, .arrow, .feather, .ipc. A folder of Parquet or of Arrow files, at any depth, is one
 * table: its files in the order of their paths; names that start with `.` or `_`, and values in the
 * names of folders (`date=2024-01-02`), are ignored. Columns of numbers become fields, columns of text become
 * groups that change over time, those whose cells are all empty become both; dates beside the time column, nested, binary
 * and unnamed columns are not read. Null is NaN in fields and -1 in groups; a cell without a row of input is null and not
 * present.
 *
 * Opening reads the keys and the columns of text. Parquet and Arrow files in the order of time are then streamed in the
 * memory of a few blocks; DuckDB loads CSV first and sorts rows that are out of order, and spills into the system's folder
 * for temporary files (TMPDIR).
 *
 * @throws UsageError E527 for an unknown option, E528 for a path that is not a text, for options of a wrong kind
 *   and for a memory limit that is not positive; DataError (E301-E338) that names the file and the fault; ResourceError E441.
 * @example
 * const source = await openPanelSource("minutes.parquet", { memoryLimitBytes: 4e9 });
 * for await (const block of source.blocks({ fields: ["close"], groups: [], blockRows: 64 })) use(block);
 * await source.close();
 */
export async function openPanelSource(path: string, options: PanelSourceOptions = {}): Promise<PanelSource> {
  checkArgument("a panel's reading", path, PATH);
  const checked = checkedOptions("a panel's reading", options, PANEL_SOURCE_OPTIONS);
  return await openSourceAs(path, checked, layOutBars, "whole");
}

/** Lays out a panel of bars, and warns where no two symbols share a time. */
export async function layOutBars(relation: Relation, options: LayoutOptions): Promise<PanelLayout> {
  const layout = await layOutPanel(relation, options);
  await warnOfLoneRows(relation, layout);
  return layout;
}

/** Opens a source whose panel is laid out in the given way. */
export async function openSourceAs(
  path: string,
  options: PanelSourceOptions,
  layOut: (relation: Relation, options: LayoutOptions) => Promise<PanelLayout>,
  style: ReadingStyle,
  open: OpenDatabase = openDatabase,
  relationOf: typeof openRelation = openRelation,
): Promise<PanelSource> {
  const { timeColumn, symbolColumn, renames, memoryLimitBytes } = options;
  const memoryBytes = MEMORY_SHARE * (memoryLimitBytes ?? machineMemoryBytes());
  const database = await open({
    memoryBytes: Math.max(MEMORY_BYTES_MIN, memoryBytes),
    threads: memoryLimitBytes === undefined ? undefined : THREADS,
  });
  try {
    const relation = await relationOf(database, path, (names) =>
      findPanelKeys(path, names, timeColumn, symbolColumn),
    );
    const rename = renames === undefined ? undefined : symbolRenaming(renames);
    const layout = await querying(relation, () => layOut(relation, { rename }));
    const roles = renamed(path, options.rename ?? {}, layout.roles);
    const source = relationSource(new RelationBlocks(relation, { ...layout, roles }, style));
    return checkingRequests(await addTables(source, path, options));
  } catch (error) {
    database[Symbol.dispose]();
    throw error;
  }
}

/** The roles under the new names of columns: with `{ close: "px_last" }`, `px_last` becomes `close`. */
function renamed(
  path: string,
  rename: Readonly<Record<string, string>>,
  { fields, groups, groupReasons }: ColumnRoles,
): ColumnRoles {
  const columns = [...new Set([...fields, ...groups].map(({ name }) => name))];
  checkRenames(path, rename, columns);
  const newNames = new Map(Object.entries(rename).map(([name, column]) => [column, name]));
  const nameOf = (column: string) => newNames.get(column) ?? column;
  return {
    fields: fields.map((role) => ({ ...role, name: nameOf(role.name) })),
    groups: groups.map((role) => ({ ...role, name: nameOf(role.name) })),
    groupReasons: new Map([...groupReasons].map(([column, reason]) => [nameOf(column), reason])),
  };
}

function checkRenames(
  path: string,
  rename: Readonly<Record<string, string>>,
  known: readonly string[],
): void {
  for (const [name, column] of Object.entries(rename)) {
    if (!known.includes(column)) throw renamedMissing(path, column, name, known);
    if (known.includes(name) && !Object.values(rename).includes(name)) throw renamedTaken(path, column, name);
  }
}

/** Adds the groups and series of the side tables. */
async function addTables(source: PanelSource, path: string, options: ReadPanelOptions): Promise<PanelSource> {
  const { groups, series, symbolColumn, timeColumn } = options;
  const added = groups === undefined ? [] : await readGroupTable(groups, source, path, symbolColumn);
  const withGroups = added.length === 0 ? source : withGroupNames(source, added, groups!);
  const columns =
    series === undefined ? [] : await readSeriesTable(series, withGroups, path, timeColumn, symbolColumn);
  if (added.length === 0 && columns.length === 0) return source;
  const seriesNames = columns.map(([name]) => name);
  async function* read(request: BlockRequest): AsyncGenerator<PanelBlock> {
    const { blockRows, rows = { first: 0, end: source.rowCount } } = request;
    const inFile = {
      ...request,
      fields: request.fields.filter((name) => !seriesNames.includes(name)),
      groups: request.groups.filter((name) => added.every((group) => group.name !== name)),
    };
    const ownGroups = added.filter(({ name }) => request.groups.includes(name));
    const ownSeries = columns.filter(([name]) => request.fields.includes(name));
    const spread = spreading(ownSeries, source.laneCount, blockRows, rows);
    for await (const block of source.blocks(inFile)) {
      const fields = new Map([...block.fields, ...spread(block.rowCount)]);
      const groups = new Map([...block.groups, ...ownGroups.map((group) => [group.name, group] as const)]);
      yield { ...block, fields, groups };
    }
  }
  return { ...withGroups, fieldNames: [...source.fieldNames, ...seriesNames], seriesNames, blocks: read };
}

/** A function that copies the values of the next rows to all lanes, in memory that alternates as that of `PanelBlock`. */
function spreading(
  series: readonly (readonly [name: string, values: Float64Array])[],
  laneCount: number,
  blockRows: number,
  { first, end }: RowRange,
) {
  const cellCount = Math.min(blockRows, end - first) * laneCount;
  const memories = Array.from({ length: blockRows < end - first ? 2 : 1 }, () =>
    series.map(() => new Float64Array(new SharedArrayBuffer(8 * cellCount))),
  );
  let start = first;
  return (rowCount: number) => {
    const memory = memories.reverse()[0]!;
    const fields = series.map(([name, values], index) => {
      const column = memory[index]!.subarray(0, rowCount * laneCount);
      for (let row = 0; row < rowCount; row += 1)
        column.fill(values[start + row]!, row * laneCount, (row + 1) * laneCount);
      return [name, column] as const;
    });
    start += rowCount;
    return fields;
  };
}

/** With the names of the groups of a table, in which a column of numbers is one as well. */
function withGroupNames(source: PanelSource, added: readonly GroupColumn[], file: string): PanelSource {
  const names = added.map(({ name }) => name);
  const reason = `columns of ${file} are all groups: give numbers of each symbol as columns of the bars`;
  return {
    ...source,
    groupNames: [...source.groupNames, ...names],
    groupReasons: new Map([...(source.groupReasons ?? []), ...names.map((name) => [name, reason] as const)]),
  };
}
