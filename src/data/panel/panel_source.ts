/** A panel that is read in row blocks, so that it may be larger than memory. */
import { DataError, InternalError } from "../../errors.ts";
import type { GroupColumn, Panel, TimeColumn } from "../../panel.ts";
import {
  type ArgumentKind,
  checkArgument,
  decidedByData,
  hasAll,
  SIGNAL,
  TEXTS,
} from "../../text/argument_kinds.ts";
import { checkedOptions, type OptionKinds } from "../../text/option_kinds.ts";
import { checkPanel } from "./check_panel.ts";

export interface PanelSource {
  /** Distinct times. */
  readonly rowCount: number;
  readonly laneCount: number;
  /** One per lane, in code-unit order. */
  readonly symbols: readonly string[];
  /** All times, 8 bytes each. */
  readonly time: TimeColumn;
  readonly fieldNames: readonly string[];
  readonly groupNames: readonly string[];
  /**
   * Fields that have values where `present` is 0, because they are the same for all symbols; operators across the row do
   * not count those. All other fields are null there. Default: none.
   */
  readonly seriesNames?: readonly string[];
  /** By name, why a column that holds numbers is a group, for messages. */
  readonly groupReasons?: ReadonlyMap<string, string> | undefined;
  /**
   * Reads the requested rows, fields and groups in blocks of `blockRows` times (the last one may be shorter). A new reading
   * ends the previous one.
   *
   * @throws UsageError E548 if that one is continued, E527, E528 for a wrong request; DataError E350 for a column that the
   *   source lacks, others for wrong rows, as `readPanel`; ResourceError E441 if two
   *   blocks do not fit in memory, if DuckDB's work does not fit in memory and temporary files; the signal's reason
   *   when aborted.
   */
  blocks(request: BlockRequest): AsyncIterable<PanelBlock>;
  /** Releases files and memory; blocks that were read stay valid. */
  close(): Promise<void>;
}

/** Panel rows `[first, end)`. */
export interface RowRange {
  readonly first: number;
  readonly end: number;
}

export interface BlockRequest {
  readonly fields: readonly string[];
  readonly groups: readonly string[];
  readonly blockRows: number;
  /** Default: all. */
  readonly rows?: RowRange | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Consecutive rows of a panel. Its arrays are reused: they are valid until the second next block is requested, so that one
 * block can be read while the previous one is used.
 */
export interface PanelBlock {
  readonly rowCount: number;
  /** One per row. */
  readonly times: BigInt64Array;
  /** By name, `[rows x lanes]`, NaN for null, in shared memory. */
  readonly fields: ReadonlyMap<string, Float64Array<SharedArrayBuffer>>;
  readonly groups: ReadonlyMap<string, GroupColumn>;
  /** `[rows x lanes]`, 1 where the input has a row. */
  readonly present: Uint8Array;
  /** Of rows that are run again: by name the numeric params that they were run with. Default: those of the call. */
  readonly params?: ReadonlyMap<string, Float64Array> | undefined;
}

/** A panel, for `checkArgument`. */
export const PANEL: ArgumentKind = {
  what: "a panel",
  fits: isPanel,
  remedy: "a panel is what await readPanel(path) gives",
};

/** A panel or a source, for `checkArgument`. */
const PANEL_SOURCE: ArgumentKind = {
  what: "a panel or a source",
  fits: (given) => isPanelSource(given) || isPanel(given),
  remedy: "a panel is what await readPanel(path) gives, a source what await openPanelSource(path) gives",
};

function isPanel(given: unknown): boolean {
  if (!hasAll(given, ["rowCount", "laneCount", "symbols", "time", "present", "fields", "groups"]))
    return false;
  const { fields, groups } = given as Panel;
  return [fields, groups].every((columns) => typeof columns?.get === "function");
}

function isPanelSource(given: unknown): given is PanelSource {
  return hasAll(given, ["rowCount", "laneCount", "symbols", "time", "blocks", "close"]);
}

/** A panel or a source as a source. @throws UsageError E528 for anything else. */
export function asPanelSource(callee: string, input: PanelSource | Panel): PanelSource {
  checkArgument(callee, input, PANEL_SOURCE);
  return isPanelSource(input) ? input : panelSource(input);
}

/** The panels of sources that are panels in memory. */
const PANELS = new WeakMap<PanelSource, Panel>();

/** The panel whose arrays the blocks of a source are views of; null for every other source. */
export function panelOf(source: PanelSource): Panel | null {
  return PANELS.get(source) ?? null;
}

/**
 * A panel in memory as a source: its blocks are views of the panel's arrays.
 *
 * @throws UsageError E528 for anything but a panel, E522 for an inconsistent one.
 */
export function panelSource(panel: Panel): PanelSource {
  checkArgument("panelSource", panel, PANEL);
  checkPanel(panel);
  const { rowCount, laneCount, symbols, time, groupReasons } = panel;
  const source = checkingRequests({
    rowCount,
    laneCount,
    symbols,
    time,
    fieldNames: [...panel.fields.keys()],
    groupNames: [...panel.groups.keys()],
    seriesNames: seriesOf(panel),
    groupReasons,
    blocks: (request) => blocksOfPanel(panel, request),
    close: async () => {},
  });
  PANELS.set(source, panel);
  return source;
}

const COUNT: ArgumentKind = {
  what: "a whole number of rows from 1",
  fits: (given) => Number.isSafeInteger(given) && (given as number) >= 1,
  remedy: "64 suits most sources",
};

export const BLOCK_REQUEST: OptionKinds<BlockRequest> = {
  fields: { ...TEXTS, isRequired: true },
  groups: { ...TEXTS, isRequired: true },
  blockRows: { ...COUNT, isRequired: true },
  rows: decidedByData("rows { first, end }", "leave it out to read all rows"),
  signal: SIGNAL,
};

/** The same source; `blocks` refuses requests that it cannot satisfy. */
export function checkingRequests(source: PanelSource): PanelSource {
  const { rowCount } = source;
  const blocks = (given: BlockRequest) => {
    const request = checkedOptions("blocks", given, BLOCK_REQUEST);
    const { fields, groups, rows } = request;
    requireColumns({ fields, groups }, source);
    if (rows !== undefined && rows !== null) checkArgument("the option rows", rows, rowsWithin(rowCount));
    return source.blocks(request);
  };
  return { ...source, blocks };
}

function rowsWithin(rowCount: number): ArgumentKind {
  const isRow = (row: unknown) =>
    Number.isSafeInteger(row) && 0 <= (row as number) && (row as number) <= rowCount;
  return {
    what: `rows { first, end } from 0 to ${rowCount}`,
    fits: (given) => {
      const { first, end } = given as RowRange;
      return isRow(first) && isRow(end) && first <= end;
    },
    remedy: "leave it out to read all rows",
  };
}

/** @throws DataError E350 if the input lacks one of the columns. */
export function requireColumns(
  { fields, groups }: Pick<BlockRequest, "fields" | "groups">,
  { fieldNames, groupNames, groupReasons }: Pick<PanelSource, "fieldNames" | "groupNames" | "groupReasons">,
): void {
  const group = fields.find((name) => !fieldNames.includes(name) && groupNames.includes(name));
  if (group !== undefined) {
    const reason = groupReasons?.get(group) ?? "it holds text";
    throw columnMissing(
      `the panel has no field ${group}, but a group column of that name`,
      `${group} is a group because ${reason}`,
    );
  }
  requireAmong("field", fields, fieldNames);
  requireAmong("group column", groups, groupNames);
}

function requireAmong(
  kind: "field" | "group column",
  names: readonly string[],
  known: readonly string[],
): void {
  const missing = names.find((name) => !known.includes(name));
  if (missing === undefined) return;
  const remedy = `it has ${known.join(", ") || "none"}; define ${missing} in the formula file with let, or add the column`;
  throw columnMissing(`the panel has no ${kind} ${missing}`, remedy);
}

function columnMissing(problem: string, remedy: string): DataError {
  return new DataError("E350", problem, remedy);
}

async function* blocksOfPanel(panel: Panel, request: BlockRequest): AsyncGenerator<PanelBlock> {
  const { rowCount, laneCount, time, present } = panel;
  const rows = rowsOf(request, rowCount);
  for (let first = rows.first; first < rows.end; first += request.blockRows) {
    request.signal?.throwIfAborted();
    const end = Math.min(rows.end, first + request.blockRows);
    const [firstCell, endCell] = [first * laneCount, end * laneCount];
    const groups = request.groups.map((name): [string, GroupColumn] => {
      const group = columnOf(panel.groups, name);
      if (!group.changesOverTime) return [name, group];
      return [name, { ...group, codes: group.codes.subarray(firstCell, endCell) }];
    });
    yield {
      rowCount: end - first,
      times: time.values.subarray(first, end),
      fields: new Map(
        request.fields.map((name) => [name, columnOf(panel.fields, name).subarray(firstCell, endCell)]),
      ),
      groups: new Map(groups),
      present: present.subarray(firstCell, endCell),
    };
  }
}

/**
 * Fields of a panel with a value where an instrument has no row: series that are the same for all instruments, and others in
 * panels that callers built. Reads only cells without a row.
 */
export function seriesOf({ fields, present, seriesNames = [] }: Panel): string[] {
  const others = new Map(fields);
  for (const name of seriesNames) others.delete(name);
  for (let cell = present.indexOf(0); cell >= 0 && others.size > 0; cell = present.indexOf(0, cell + 1)) {
    for (const [name, values] of others) if (!Number.isNaN(values[cell])) others.delete(name);
  }
  return [...fields.keys()].filter((name) => !others.has(name));
}

/** The whole source as one block, in memory. */
export async function collectPanel(source: PanelSource): Promise<Panel> {
  const { rowCount, laneCount, symbols, time, fieldNames, groupNames, seriesNames, groupReasons } = source;
  for await (const block of source.blocks({ fields: fieldNames, groups: groupNames, blockRows: rowCount })) {
    const { fields, groups, present } = block;
    return { rowCount, laneCount, time, symbols, fields, groups, present, seriesNames, groupReasons };
  }
  throw new InternalError("a source without blocks");
}

/** The column of that name. @throws InternalError if there is none. */
export function columnOf<T>(columns: ReadonlyMap<string, T>, name: string): T {
  const column = columns.get(name);
  if (column === undefined) throw new InternalError(`the panel has no column ${name}`);
  return column;
}

/** The requested rows, by default all. */
export function rowsOf({ rows }: Pick<BlockRequest, "rows">, rowCount: number): RowRange {
  return rows ?? { first: 0, end: rowCount };
}
