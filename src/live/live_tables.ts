import type { Table } from "apache-arrow";
import { FinishedFactor } from "../data/factors/finished_factor.ts";
import { RowTable } from "../data/factors/row_table.ts";
import type { TimeColumn } from "../panel.ts";
import type { InputRow } from "./input/bars.ts";
import type { SymbolLanes } from "./input/symbol_lanes.ts";
import type { LivePlan } from "./live_plan.ts";
import type { FactorTag } from "./row.ts";

/** Builds the table of pushed rows, and the table of a row with late factors. */
export class LiveTables {
  readonly #plan: LivePlan;
  readonly #rows: RowTable;
  readonly #late: RowTable;
  readonly #factors: readonly FinishedFactor[];
  readonly #lanes: SymbolLanes;

  /** @throws DataError E341 when a factor has the name of a key column. */
  constructor(
    plan: LivePlan,
    lanes: SymbolLanes,
    time: Pick<TimeColumn, "name" | "type">,
    keepInfinite: boolean,
  ) {
    const columns = { time, factors: plan.factors.map(({ name }) => name) };
    this.#plan = plan;
    const rows = plan.evaluation.finishedRows();
    this.#factors = plan.factors.map(({ output }) => new FinishedFactor(rows[output]!, keepInfinite));
    this.#lanes = lanes;
    this.#rows = new RowTable(columns, keepInfinite);
    this.#late = new RowTable(columns, keepInfinite);
    this.updateSymbols();
  }

  updateSymbols(): void {
    this.#rows.symbols = this.#lanes.sorted;
    this.#late.symbols = this.#lanes.sorted;
  }

  /** Starts a table; those returned before become invalid. */
  begin(rowCount: number): void {
    this.#late.reclaim();
    this.#rows.begin(rowCount * this.#lanes.symbols.length);
  }

  /** Appends the results of the row that was run. */
  append(row: InputRow, tags: ReadonlyMap<string, FactorTag>): void {
    this.#append(this.#rows, row, (tag) => tag === "on_time", tags);
  }

  take(isCopy = false): Table {
    return this.#rows.take(isCopy);
  }

  /** The table of one row with all factors computed so far. */
  lateTable(row: InputRow, tags: ReadonlyMap<string, FactorTag>, isCopy: boolean): Table {
    this.#late.begin(this.#lanes.symbols.length);
    this.#append(this.#late, row, (tag) => tag !== "unwanted", tags);
    return this.#late.take(isCopy);
  }

  #append(
    table: RowTable,
    row: InputRow,
    isThere: (tag: FactorTag | undefined) => boolean,
    tags: ReadonlyMap<string, FactorTag>,
  ): void {
    const { cells, symbols } = cellsOf(row, this.#lanes);
    const factors = this.#plan.factors.map(({ name }, index) =>
      isThere(tags.get(name)) ? this.#factors[index]! : null,
    );
    table.append({ time: row.time, cells, symbols, factors });
  }
}

/** Lanes of the cells that the input has, in code-unit order of their symbols, and the indices of these symbols. */
function cellsOf(
  { lanes, present }: InputRow,
  { sortedLanes, sortedIndices, symbols, laneCount }: SymbolLanes,
): { cells: Int32Array; symbols: Int32Array } {
  if (present === null && lanes.length === symbols.length)
    return { cells: sortedLanes, symbols: sortedIndices };
  const isThere = new Uint8Array(laneCount);
  lanes.forEach((lane, index) => {
    isThere[lane] = present === null ? 1 : present[index]!;
  });
  const indices = sortedIndices.filter((index) => isThere[sortedLanes[index]!] === 1);
  return { cells: indices.map((index) => sortedLanes[index]!), symbols: indices };
}
