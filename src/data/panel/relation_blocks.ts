/** Reads a relation in blocks of a dense panel. */
import { isDeepStrictEqual } from "node:util";
import { queryRows } from "../duckdb/database.ts";
import { createLabels, type Labels } from "../duckdb/labels.ts";
import { changedMeanwhile, queryError, type Relation } from "../duckdb/relation.ts";
import { readingEnded } from "../errors.ts";
import {
  allocateBlocks,
  type BlockCells,
  type BlockShape,
  type FillOutcome,
  type InputRows,
} from "./block_cells.ts";
import { describeDuplicate } from "./duplicate_rows.ts";
import { readRows } from "./input_rows.ts";
import type { PanelLayout } from "./panel_layout.ts";
import {
  type BlockRequest,
  columnOf,
  type PanelBlock,
  type PanelSource,
  type RowRange,
  rowsOf,
} from "./panel_source.ts";

/** One block is read while the previous one is used. */
const BUFFER_COUNT = 2;

/** How a relation is read: in readings of the whole panel, or of one part after the other. */
export type ReadingStyle = "whole" | "parts";

/**
 * Reads the blocks of one relation. With the style `parts`, every reading has only the labels of its rows, so that no other
 * rows are read, and reuses the memory of the previous reading.
 */
export class RelationBlocks {
  readonly relation: Relation;
  readonly layout: PanelLayout;
  readonly #style: ReadingStyle;
  readonly #labels = new Map<string, Labels>();
  #isAscending: boolean | null = null;
  #readingCount = 0;
  #rows: AsyncGenerator<InputRows> | null = null;
  #memory: BlockMemory | null = null;

  constructor(relation: Relation, layout: PanelLayout, style: ReadingStyle) {
    this.relation = relation;
    this.layout = layout;
    this.#style = style;
  }

  /**
   * The blocks, with fields and groups by the names of their roles. Rows in the order of time are streamed; others are sorted
   * by DuckDB, which spills what does not fit in its memory. A single block takes rows in any order.
   *
   * @throws UsageError E548 once another reading has begun; the signal's reason.
   */
  async *read(request: BlockRequest): AsyncGenerator<PanelBlock> {
    const reading = ++this.#readingCount;
    const isCurrent = () => reading === this.#readingCount;
    try {
      yield* this.#read(request, isCurrent);
    } catch (error) {
      request.signal?.throwIfAborted(); // also for the error of a query that was interrupted
      throw isCurrent() ? queryError(this.relation, error) : readingEnded(this.relation.file);
    }
  }

  async *#read(request: BlockRequest, isCurrent: () => boolean): AsyncGenerator<PanelBlock> {
    const { relation, layout } = this;
    const { times, symbols, roles } = layout;
    const rows = rowsOf(request, times.column.values.length);
    const rowCount = rows.end - rows.first;
    await this.stop();
    if (rowCount === 0) return;
    const fieldRoles = new Map(roles.fields.map((field) => [field.name, field]));
    const fields = request.fields.map((name) => columnOf(fieldRoles, name));
    const blockRows = Math.min(rowCount, request.blockRows);
    const bufferCount = blockRows < rowCount ? BUFFER_COUNT : 1;
    const shape = {
      laneCount: symbols.sorted.length,
      fieldCount: fields.length,
      groupCount: request.groups.length,
    };
    const buffers = this.#allocate(bufferCount, blockRows, shape);
    const groups: Labels[] = [];
    for (const name of request.groups) groups.push(await this.#labelsOf(name, rows));
    const labels = groups.map((one) => one.sorted);
    const sorted = blockRows < rowCount && !(await this.#isInOrder(rows));
    if (!isCurrent()) throw readingEnded(relation.file);
    this.#rows = readRows(relation, { times, symbols, fields, groups, rows, sorted }, request.signal);
    const describe = (cells: BlockCells) => {
      if (cells.hasEmptyRow()) throw changedMeanwhile(relation);
      cells.finish();
      const ownTimes = times.column.values.subarray(cells.firstRow, cells.endRow);
      return cells.block(request, ownTimes, labels);
    };
    yield* this.#fillBlocks(this.#rows, rows, buffers, blockRows, describe);
  }

  /** Ends the current reading: DuckDB must not be closed while it works on the next chunk. */
  async stop(): Promise<void> {
    if (this.#rows === null) return;
    this.relation.database.connection.interrupt();
    await this.#rows.return(undefined);
    this.#rows = null;
  }

  async *#fillBlocks(
    input: AsyncIterable<InputRows>,
    rows: RowRange,
    buffers: readonly BlockCells[],
    blockRows: number,
    describe: (cells: BlockCells) => PanelBlock,
  ): AsyncGenerator<PanelBlock> {
    let blockIndex = 0;
    const start = () => {
      const cells = buffers[blockIndex % buffers.length]!;
      const firstRow = rows.first + blockIndex * blockRows;
      cells.restart(firstRow, Math.min(rows.end, firstRow + blockRows));
      return cells;
    };
    let cells = start();
    let outcome: FillOutcome = "done";
    for await (const chunk of input) {
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
    if (outcome !== "done" || cells.endRow < rows.end) throw changedMeanwhile(this.relation);
    yield describe(cells);
  }

  async #labelsOf(group: string, rows: RowRange): Promise<Labels> {
    const known = this.#labels.get(group);
    if (known !== undefined) return known;
    const roles = new Map(this.layout.roles.groups.map((role, index) => [role.name, { role, index }]));
    const { role, index } = columnOf(roles, group);
    const input = this.#style === "parts" ? await this.layout.times.inputOf(rows) : "raw";
    const labels = await createLabels(this.relation.database, `group${index}`, role, input);
    if (this.#style === "whole") this.#labels.set(group, labels);
    return labels;
  }

  /** Whether these rows are in the order of time in the file; computed once for a whole file. */
  async #isInOrder(rows: RowRange): Promise<boolean> {
    if (this.#isAscending !== null) return this.#isAscending;
    const { rankSql, inputOf } = this.layout.times;
    const input = this.#style === "parts" ? await inputOf(rows) : "raw";
    const [row] = await queryRows(
      this.relation.database,
      `SELECT bool_or(rank < before) FROM (
         SELECT rank, lag(rank) OVER () AS before FROM (SELECT ${rankSql} AS rank FROM ${input})
       )`,
    );
    const isAscending = row?.[0] !== true;
    if (this.#style === "whole") this.#isAscending = isAscending;
    return isAscending;
  }

  #allocate(blockCount: number, rowCount: number, shape: BlockShape): readonly BlockCells[] {
    const memory = this.#memory;
    const fits =
      memory !== null &&
      memory.blocks.length >= blockCount &&
      memory.rowCount >= rowCount &&
      isDeepStrictEqual(memory.shape, shape);
    if (fits) return memory.blocks.slice(0, blockCount);
    this.#memory = null;
    const blocks = allocateBlocks(this.relation.file, blockCount, rowCount, shape);
    if (this.#style === "parts") this.#memory = { blocks, rowCount, shape };
    return blocks;
  }
}

/** The blocks as a source with the names of the roles. Closing it closes the database of the relation. */
export function relationSource(blocks: RelationBlocks): PanelSource {
  const { relation, layout } = blocks;
  const { times, symbols, roles } = layout;
  return {
    rowCount: times.column.values.length,
    laneCount: symbols.sorted.length,
    symbols: symbols.sorted,
    time: times.column,
    fieldNames: roles.fields.map(({ name }) => name),
    groupNames: roles.groups.map(({ name }) => name),
    groupReasons: roles.groupReasons.size === 0 ? undefined : roles.groupReasons,
    blocks: (request) => blocks.read(request),
    close: async () => {
      await blocks.stop();
      relation.database[Symbol.dispose]();
    },
  };
}

/** Blocks that the next reading may use. */
interface BlockMemory {
  readonly blocks: readonly BlockCells[];
  /** Panel rows that fit into each. */
  readonly rowCount: number;
  readonly shape: BlockShape;
}
