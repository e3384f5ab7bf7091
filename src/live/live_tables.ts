import type { Table } from "apache-arrow";
import type { OutputColumns } from "../data/factors/factor_batches.ts";
import { FinishedFactor } from "../data/factors/finished_factor.ts";
import { RowTable, type TableMemory } from "../data/factors/row_table.ts";
import type { TimeColumn } from "../panel.ts";
import type { InputRow } from "./input/bars.ts";
import type { SymbolLanes } from "./input/symbol_lanes.ts";
import { type LivePlan, ROW_SLOTS } from "./live_plan.ts";
import type { FactorTag } from "./row.ts";

/** Builds the tables of pushed rows, and those of rows with late factors. */
export class LiveTables {
  readonly #plan: LivePlan;
  readonly #columns: Omit<OutputColumns, "symbols">;
  readonly #keepInfinite: boolean;
  /** By slot, then by factor. */
  readonly #factors: readonly (readonly FinishedFactor[])[];
  readonly #lanes: SymbolLanes;
  /** All tables; those whose memory may be used again; those that callers have, by what they have of them. */
  readonly #all = new Set<RowTable>();
  readonly #free: RowTable[] = [];
  readonly #lent = new Map<Table, RowTable>();

  /** @throws DataError E341 when a factor has the name of a key column. */
  constructor(
    plan: LivePlan,
    lanes: SymbolLanes,
    time: Pick<TimeColumn, "name" | "type">,
    keepInfinite: boolean,
  ) {
    this.#plan = plan;
    this.#columns = { time, factors: plan.factors.map(({ name }) => name) };
    this.#keepInfinite = keepInfinite;
    this.#factors = Array.from({ length: ROW_SLOTS }, (_, slot) => {
      const row = plan.evaluation.finishedRow(slot);
      return plan.factors.map(({ output }) => new FinishedFactor(row[output]!, keepInfinite));
    });
    this.#lanes = lanes;
    this.#free.push(this.#newTable());
  }

  updateSymbols(): void {
    for (const table of this.#all) table.symbols = this.#lanes.sorted;
  }

  /** Begins the table of a push. */
  begin(rowCount: number): RowTable {
    const table = this.#free.pop() ?? this.#newTable();
    table.begin(rowCount * this.#lanes.symbols.length);
    return table;
  }

  /** Appends the results of a row that was run: its factors in time, or all that were computed so far. */
  append(
    table: RowTable,
    slot: number,
    row: InputRow,
    tags: ReadonlyMap<string, FactorTag>,
    includesLate = false,
  ): void {
    const { cells, symbols } = cellsOf(row, this.#lanes);
    const factors = this.#plan.factors.map(({ name }, index) => {
      const tag = tags.get(name);
      const isThere = tag === "on_time" || (includesLate && tag !== "unwanted");
      return isThere ? this.#factors[slot]![index]! : null;
    });
    table.append({ time: row.time, cells, symbols, factors });
  }

  /** The table: valid until it or all are reclaimed, or, if it has memory of its own, for good. */
  take(table: RowTable, memory: TableMemory): Table {
    const taken = table.take(memory);
    if (memory === "own") this.#free.push(table);
    else this.#lent.set(taken, table);
    return taken;
  }

  /** Gives a table up. */
  drop(table: RowTable): void {
    this.#free.push(table);
  }

  /** Invalidates what was taken and has no memory of its own: it throws when it is read. */
  reclaim(taken: Table): void {
    const table = this.#lent.get(taken);
    if (!table) return;
    this.#lent.delete(taken);
    table.reclaim();
    // A burst that nobody reads leaves many.
    if (this.#free.length < ROW_SLOTS) this.#free.push(table);
    else this.#all.delete(table);
  }

  /** Invalidates all of these. */
  reclaimAll(): void {
    for (const taken of [...this.#lent.keys()].reverse()) this.reclaim(taken);
  }

  #newTable(): RowTable {
    const table = new RowTable(this.#columns, this.#keepInfinite);
    table.symbols = this.#lanes.sorted;
    this.#all.add(table);
    return table;
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
