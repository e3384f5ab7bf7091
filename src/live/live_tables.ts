import { checkFactorNames, schemaOf } from "../data/factors/factor_batches.ts";
import { type RowColumns, RowTable, symbolTexts } from "../data/factors/row_table.ts";
import type { FinishedRow } from "../kernel/run/finished_rows.ts";
import type { TimeColumn } from "../panel.ts";
import type { InputRow } from "./input/bars.ts";
import type { SymbolLanes } from "./input/symbol_lanes.ts";
import { type LivePlan, ROW_SLOTS } from "./live_plan.ts";
import type { FactorTags } from "./row.ts";
import type { RanRow } from "./row_runner.ts";
import { preTouchYoungGeneration } from "./young_generation.ts";

/** Tables that are built before the first push: V8 compiles functions after some hundred calls. */
const WARM_UP_TABLES_MAX = 256;
const WARM_UP_MS_MAX = 100;

/** Builds the tables of pushed rows, and those of rows with late factors. */
export class LiveTables {
  readonly #plan: LivePlan;
  /** By slot, then by factor. */
  readonly #finished: readonly (readonly FinishedRow[])[];
  readonly #lanes: SymbolLanes;
  #columns: RowColumns;

  /** @throws DataError E314 when a factor has the name of a key column. */
  constructor(
    plan: LivePlan,
    lanes: SymbolLanes,
    time: Pick<TimeColumn, "name" | "type">,
    keepInfinite: boolean,
  ) {
    const factors = plan.factors.map(({ name }) => name);
    checkFactorNames({ time, factors });
    this.#plan = plan;
    this.#finished = Array.from({ length: ROW_SLOTS }, (_, slot) => {
      const row = plan.evaluation.finishedRow(slot);
      return plan.factors.map(({ output }) => row[output]!);
    });
    this.#lanes = lanes;
    this.#columns = {
      schema: schemaOf({ time, factors }, () => 0),
      time: time.type,
      symbols: symbolTexts(lanes.sorted),
      keepInfinite,
    };
  }

  updateSymbols(): void {
    this.#columns = { ...this.#columns, symbols: symbolTexts(this.#lanes.sorted) };
  }

  /** Begins the table of a push. */
  begin(rowCount: number): RowTable {
    return new RowTable(this.#columns, rowCount * this.#lanes.symbols.length);
  }

  /** Appends the results of a row that was run: its factors in time, or all that were computed so far. */
  append(table: RowTable, slot: number, row: InputRow, tags: FactorTags, includesLate = false): void {
    const { cells, symbols } = cellsOf(row, this.#lanes);
    const factors = this.#plan.factors.map(({ name }, index) => {
      const tag = tags[name];
      const isThere = tag === "on_time" || (includesLate && tag !== "unwanted");
      return isThere ? this.#finished[slot]![index]! : null;
    });
    table.append({ time: row.time, cells, symbols, factors });
  }

  /** Builds and drops tables of a row until V8 has compiled the code: the first one takes five to twenty times as long. */
  warmUp({ row, slot, run }: RanRow): void {
    const endsAt = performance.now() + WARM_UP_MS_MAX;
    for (let count = 0; count < WARM_UP_TABLES_MAX && performance.now() < endsAt; count++) {
      const table = this.begin(1);
      this.append(table, slot, row, run.tags);
      table.take();
    }
    preTouchYoungGeneration();
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
