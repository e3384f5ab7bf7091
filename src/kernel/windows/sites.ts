import type { LevelSite } from "./extremes.ts";
import type { FactSite } from "./facts.ts";
import type { PositionsSite } from "./line.ts";
import type { LinearSite } from "./linear.ts";
import type { QuadraticSite } from "./quadratic.ts";
import type { KeysSite } from "./rank_of_today.ts";
import type { SortedSite } from "./sorted_window.ts";

/** Number of rows of a window in which a column is not null, or neither null nor 0. */
export interface CountSite {
  readonly kind: "count";
  readonly counts: "valid" | "holds";
  readonly column: number;
  readonly windowRows: number;
  readonly vector: number;
}

/** A piece of window state that the host can rebuild from the rows in the columns. */
export type Site =
  | FactSite
  | CountSite
  | LinearSite
  | QuadraticSite
  | SortedSite
  | KeysSite
  | PositionsSite
  | LevelSite;
