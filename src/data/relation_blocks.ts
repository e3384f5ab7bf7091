/** A relation as blocks of a dense panel. */
import type { GroupColumn } from "../panel.ts";
import { allocateBlocks, type BlockCells, type FillOutcome, type InputRows } from "./block_cells.ts";
import { queryRows } from "./database.ts";
import { describeDuplicate } from "./duplicate_rows.ts";
import { changedMeanwhile, readRows } from "./input_rows.ts";
import { createLabels, type Labels } from "./labels.ts";
import type { PanelLayout } from "./panel_layout.ts";
import { type BlockRequest, checkBlockRows, columnOf, type PanelBlock } from "./panel_source.ts";
import type { Relation } from "./relation.ts";

/** While one block is used, the next one is read. */
const BUFFER_COUNT = 2;

/** Reads the blocks of one relation. */
export class RelationBlocks {
  readonly relation: Relation;
  readonly layout: PanelLayout;
  readonly #labels = new Map<string, Labels>();
  #isAscending: boolean | null = null;
  #rows: AsyncGenerator<InputRows> | null = null;

  constructor(relation: Relation, layout: PanelLayout) {
    this.relation = relation;
    this.layout = layout;
  }

  /**
   * The blocks; fields and groups by the names that the file has. Rows that are in the order of time in the file
   * stream through; others are sorted by DuckDB, which spills what does not fit in its memory. A single block takes
   * rows in any order.
   */
  async *read(request: BlockRequest): AsyncGenerator<PanelBlock> {
    const { relation, layout } = this;
    const { times, symbols, roles } = layout;
    checkBlockRows(request.blockRows);
    await this.stop();
    const fieldRoles = new Map(roles.fields.map((field) => [field.name, field]));
    const fields = request.fields.map((name) => columnOf(fieldRoles, name));
    const rowCount = times.column.values.length;
    const blockRows = Math.min(rowCount, request.blockRows);
    const bufferCount = blockRows < rowCount ? BUFFER_COUNT : 1;
    const shape = {
      laneCount: symbols.sorted.length,
      fieldCount: fields.length,
      groupCount: request.groups.length,
    };
    const buffers = allocateBlocks(relation.file, bufferCount, blockRows, shape);
    const groups: Labels[] = [];
    for (const name of request.groups) groups.push(await this.#labelsOf(name));
    const sorted = blockRows < rowCount && !(await this.#isInOrder());
    this.#rows = readRows(relation, { times, symbols, fields, groups, sorted }, request.signal);
    const describe = (cells: BlockCells) => describeBlock(cells, layout, request, groups);
    yield* this.#fillBlocks(this.#rows, buffers, blockRows, describe);
  }

  /** Ends the reading that is under way, if any: DuckDB must not be closed while it works on the next chunk. */
  async stop(): Promise<void> {
    if (this.#rows === null) return;
    this.relation.database.connection.interrupt();
    await this.#rows.return(undefined);
    this.#rows = null;
  }

  async *#fillBlocks(
    rows: AsyncIterable<InputRows>,
    buffers: readonly BlockCells[],
    blockRows: number,
    describe: (cells: BlockCells) => PanelBlock,
  ): AsyncGenerator<PanelBlock> {
    const rowCount = this.layout.times.column.values.length;
    let blockIndex = 0;
    const start = () => {
      const cells = buffers[blockIndex % buffers.length]!;
      cells.restart(blockIndex * blockRows, Math.min(rowCount, (blockIndex + 1) * blockRows));
      return cells;
    };
    let cells = start();
    let outcome: FillOutcome = "done";
    for await (const chunk of rows) {
      let done = 0;
      outcome = cells.fill(chunk, done);
      while (outcome === "later") {
        done += cells.filledRows;
        yield describe(cells);
        blockIndex += 1;
        cells = start();
        outcome = cells.fill(chunk, done);
      }
      if (outcome !== "done") break;
    }
    if (outcome === "duplicate") throw await describeDuplicate(this.relation, this.layout);
    if (outcome !== "done" || cells.endRow < rowCount) throw changedMeanwhile(this.relation);
    yield describe(cells);
  }

  async #labelsOf(group: string): Promise<Labels> {
    const known = this.#labels.get(group);
    if (known !== undefined) return known;
    const roles = new Map(this.layout.roles.groups.map((role, index) => [role.name, { role, index }]));
    const { role, index } = columnOf(roles, group);
    const labels = await createLabels(this.relation.database, `group${index}`, role);
    this.#labels.set(group, labels);
    return labels;
  }

  /** Whether the rows of the file are in the order of time. */
  async #isInOrder(): Promise<boolean> {
    if (this.#isAscending !== null) return this.#isAscending;
    const rank = this.layout.times.rankSql;
    const [row] = await queryRows(
      this.relation.database,
      `SELECT bool_or(rank < before) FROM (
         SELECT rank, lag(rank) OVER () AS before FROM (SELECT ${rank} AS rank FROM raw)
       )`,
    );
    this.#isAscending = row?.[0] !== true;
    return this.#isAscending;
  }
}

function describeBlock(
  cells: BlockCells,
  { times, symbols }: PanelLayout,
  request: BlockRequest,
  groups: readonly Labels[],
): PanelBlock {
  cells.finish();
  const { firstRow, endRow } = cells;
  const cellCount = (endRow - firstRow) * symbols.sorted.length;
  const groupColumn = (name: string, index: number): [string, GroupColumn] => {
    const codes = cells.groups[index]!.subarray(0, cellCount);
    return [name, { name, labels: groups[index]!.sorted, codes, changesOverTime: true }];
  };
  return {
    rowCount: endRow - firstRow,
    times: times.column.values.subarray(firstRow, endRow),
    fields: new Map(request.fields.map((name, index) => [name, cells.fields[index]!.subarray(0, cellCount)])),
    groups: new Map(request.groups.map(groupColumn)),
    present: cells.present.subarray(0, cellCount),
  };
}
