import { UsageError } from "../errors.ts";

/**
 * Costs of the compiled code of operators, as measured on one machine: plain data, JSON as it stands. Costs choose how
 * work is cut and what goes first, never how a value is computed: no cost changes a bit.
 */
export interface CostModel {
  /** Where it was measured; null: nowhere in particular. */
  readonly machine: string | null;
  /** By the operator's printed name; the others cost what `task_cost.ts` says. */
  readonly operators: Readonly<Record<string, OperatorCost>>;
}

/** Costs at some lengths of the window, ascending; operators without a window have one, of 1 row. */
export type OperatorCost = readonly CostPoint[];

export interface CostPoint {
  readonly windowRows: number;
  readonly nsPerCell: number;
}

/** Knows no operator: all costs are the built-in ones. */
export const DEFAULT_COSTS: CostModel = { machine: null, operators: {} };

/** A second for a cell. More cannot be meant, and sums over the largest plans stay finite. */
const NS_PER_CELL_MAX = 1e9;

/** Estimated ns of one cell; null if the model does not know the operator. */
export function nsPerCellOf(model: CostModel, operator: string, windowRows: number): number | null {
  // A name such as `constructor` must not find what every object has.
  const points = Object.hasOwn(model.operators, operator) ? (model.operators[operator] as OperatorCost) : [];
  const next = points.findIndex((point) => point.windowRows >= windowRows);
  const last = points.at(-1);
  if (!last) return null;
  if (next === 0 || points.length === 1) return (points[0] as CostPoint).nsPerCell;
  if (next > 0) return onLine(points[next - 1] as CostPoint, points[next] as CostPoint, windowRows);
  // Noise may tilt the last two points: longer windows cost no less.
  return Math.max(last.nsPerCell, onLine(points.at(-2) as CostPoint, last, windowRows));
}

/** The value at `windowRows` of the line through two points. */
function onLine(from: CostPoint, to: CostPoint, windowRows: number): number {
  const share = (windowRows - from.windowRows) / (to.windowRows - from.windowRows);
  return from.nsPerCell + share * (to.nsPerCell - from.nsPerCell);
}

/**
 * A cost model from what JSON or a caller gave.
 *
 * @throws UsageError E520 if it is none.
 */
export function checkCostModel(value: unknown): CostModel {
  const problem = problemOf(value);
  if (problem === null) return value as CostModel;
  throw new UsageError(
    "E520",
    `not a cost model: ${problem}`,
    "measure one with `factorloom bench calibrate`",
  );
}

function problemOf(value: unknown): string | null {
  if (!isRecord(value)) return "no object";
  const { machine, operators } = value;
  if (machine !== null && typeof machine !== "string") return "machine is no text";
  if (!isRecord(operators)) return "operators is no object";
  const wrong = Object.entries(operators).find(([, cost]) => !isOperatorCost(cost));
  return wrong
    ? `the costs of ${wrong[0]} are not points of ascending windowRows and positive nsPerCell`
    : null;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function isOperatorCost(cost: unknown): cost is OperatorCost {
  if (!Array.isArray(cost) || cost.length === 0) return false;
  let before = 0;
  return cost.every((point: unknown) => {
    if (!isRecord(point)) return false;
    const { windowRows, nsPerCell } = point;
    if (!Number.isSafeInteger(windowRows) || (windowRows as number) <= before) return false;
    before = windowRows as number;
    return typeof nsPerCell === "number" && nsPerCell > 0 && nsPerCell <= NS_PER_CELL_MAX;
  });
}
