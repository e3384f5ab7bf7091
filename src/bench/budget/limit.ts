import type { BudgetCell } from "./cell.ts";

/** How many formulas fit into the budget. */
export interface Limit {
  readonly lanes: number;
  readonly threads: number;
  /** Not a whole number. */
  readonly formulas: number;
  /**
   * `between` two measured numbers of formulas; `beyond` the largest, if time grows with their number; `below` the
   * smallest, which does not fit: then `formulas` is that one.
   */
  readonly kind: "between" | "beyond" | "below";
}

/**
 * The number of formulas at which the 99th percentile reaches the budget, for every number of lanes and threads: on
 * straight lines of logarithms between the parts of `all` that were measured. The first crossing counts.
 */
export function limitsOf(cells: readonly BudgetCell[], budgetMs: number): Limit[] {
  const parts = cells.filter(({ formulas }) => /^all(:|$)/.test(formulas));
  const groups = Map.groupBy(parts, ({ lanes, threads }) => `${threads} ${lanes}`);
  return [...groups.values()]
    .map((group) =>
      limitOf(
        [...group].sort((a, b) => a.factors - b.factors),
        budgetMs,
      ),
    )
    .sort((a, b) => a.threads - b.threads || a.lanes - b.lanes);
}

function limitOf(cells: readonly BudgetCell[], budgetMs: number): Limit {
  const { lanes, threads } = cells[0]!;
  const above = cells.findIndex(({ ms }) => ms.p99 > budgetMs);
  if (above === 0) return { lanes, threads, formulas: cells[0]!.factors, kind: "below" };
  if (above < 0) {
    const { factors, ms } = cells.at(-1)!;
    return { lanes, threads, formulas: (factors * budgetMs) / ms.p99, kind: "beyond" };
  }
  const [inside, outside] = [cells[above - 1]!, cells[above]!];
  const share = Math.log(budgetMs / inside.ms.p99) / Math.log(outside.ms.p99 / inside.ms.p99);
  const formulas = inside.factors * (outside.factors / inside.factors) ** share;
  return { lanes, threads, formulas, kind: "between" };
}
