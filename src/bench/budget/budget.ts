import { InternalError } from "../../errors.ts";
import { machineMemoryBytes } from "../../limits.ts";
import { type Machine, machine } from "../result.ts";
import { BUDGET_MS, type BudgetCell, type CellShape, NULL_SHARE, PANEL_ROWS } from "./cell.ts";
import { formulaSet, graphOf } from "./formula_sets.ts";
import { measureApart } from "./measure_apart.ts";

/** The grid: every number of lanes with every formula set and every number of threads. */
export interface BudgetGrid {
  readonly lanes: readonly number[];
  /** Names of formula sets (`formulaSet`). */
  readonly formulas: readonly string[];
  readonly threads: readonly number[];
  /** Calls that are measured in each cell. */
  readonly calls: number;
}

export interface BudgetSettings extends BudgetGrid {
  readonly budgetMs: number;
  readonly nullShare: number;
  readonly panelRows: number;
}

/** All cells of a grid, and where and how they were measured. */
export interface BudgetResult extends Machine {
  readonly workload: "budget";
  /** When the measurement began, ISO 8601. */
  readonly date: string;
  /** Version of factorloom. */
  readonly version: string;
  readonly memoryBytes: number;
  readonly settings: BudgetSettings;
  readonly cells: readonly BudgetCell[];
}

export interface BudgetOptions {
  readonly version: string;
  readonly onProgress: (done: number, total: number) => void;
  /** Called after each cell with the result so far: a long run that is ended leaves what it has measured. */
  readonly onResult?: (result: BudgetResult) => Promise<void>;
  /** Default: each cell in a process of its own. */
  readonly measure?: (shape: CellShape, onShare: (share: number) => void) => Promise<BudgetCell>;
}

/**
 * Measures one-row calls over a grid.
 *
 * @throws UsageError E506 for an unknown formula set; ResourceError as `measureApart`; InternalError if any bit depends
 *   on the number of threads.
 */
export async function measureBudget(grid: BudgetGrid, options: BudgetOptions): Promise<BudgetResult> {
  const { version, onProgress, onResult, measure = measureApart } = options;
  // Mistakes are reported before minutes are spent.
  if (grid.formulas.length === 0) formulaSet("");
  for (const name of grid.formulas) graphOf(formulaSet(name));
  const date = new Date().toISOString();
  const shapes = shapesOf(grid);
  const cells: BudgetCell[] = [];
  const result = (): BudgetResult => ({
    workload: "budget",
    date,
    version,
    ...machine(),
    memoryBytes: machineMemoryBytes(),
    settings: { ...grid, budgetMs: BUDGET_MS, nullShare: NULL_SHARE, panelRows: PANEL_ROWS },
    cells,
  });
  for (const [index, shape] of shapes.entries()) {
    cells.push(await measure(shape, (share) => onProgress(index + share, shapes.length)));
    expectEqualBits(cells);
    onProgress(index + 1, shapes.length);
    await onResult?.(result());
  }
  return result();
}

function shapesOf({ lanes, formulas, threads, calls }: BudgetGrid): CellShape[] {
  return formulas.flatMap((set) =>
    lanes.flatMap((laneCount) =>
      threads.map((threadCount) => ({ lanes: laneCount, formulas: set, threads: threadCount, calls })),
    ),
  );
}

function expectEqualBits(cells: readonly BudgetCell[]): void {
  const digests = new Map<string, string>();
  for (const { formulas, lanes, digest } of cells) {
    const key = `${formulas} over ${lanes} lanes`;
    if ((digests.get(key) ?? digest) !== digest)
      throw new InternalError(`the bits of ${key} depend on the number of threads`);
    digests.set(key, digest);
  }
}
