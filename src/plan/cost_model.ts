import { UsageError } from "../errors.ts";

/**
 * Measured costs of the operators' compiled code on one machine, as plain JSON data. Costs determine how work is split
 * and ordered, never how a value is computed: they change no bit.
 */
export interface CostModel {
  /** Where it was measured; null if it was not. */
  readonly machine: string | null;
  /** By the operator's printed name; others cost what `task_cost.ts` says. */
  readonly operators: Readonly<Record<string, OperatorCost>>;
  /** ns of the scheduler's thread to hand out a part and to take its end; default 1,700. */
  readonly handOutNs?: number | undefined;
}

/** Costs at several window lengths, ascending; operators without a window have one entry, of 1 row. */
export type OperatorCost = readonly CostPoint[];

export interface CostPoint {
  readonly windowRows: number;
  readonly nsPerCell: number;
}

/** No measured operator: all costs are the built-in ones. */
export const DEFAULT_COSTS: CostModel = { machine: null, operators: {} };

/** A millisecond to hand out a part: an upper limit. */
const HAND_OUT_NS_MAX = 1e6;

/** One second per cell: an upper limit that keeps sums over the largest plans finite. */
const NS_PER_CELL_MAX = 1e9;

/** Estimated ns per cell; null if the model does not have the operator. */
export function nsPerCellOf(model: CostModel, operator: string, windowRows: number): number | null {
  // A name such as `constructor` must not find an inherited property.
  const points = Object.hasOwn(model.operators, operator) ? (model.operators[operator] as OperatorCost) : [];
  const next = points.findIndex((point) => point.windowRows >= windowRows);
  const last = points.at(-1);
  if (!last) return null;
  if (next === 0 || points.length === 1) return (points[0] as CostPoint).nsPerCell;
  if (next > 0) return onLine(points[next - 1] as CostPoint, points[next] as CostPoint, windowRows);
  // Noise may tilt the line through the last two points: longer windows never cost less.
  return Math.max(last.nsPerCell, onLine(points.at(-2) as CostPoint, last, windowRows));
}

/** Evaluates the line through two points at `windowRows`. */
function onLine(from: CostPoint, to: CostPoint, windowRows: number): number {
  const share = (windowRows - from.windowRows) / (to.windowRows - from.windowRows);
  return from.nsPerCell + share * (to.nsPerCell - from.nsPerCell);
}

/**
 * Checks a cost model from JSON or a caller.
 *
 * @throws UsageError E528 if it is malformed.
 */
export function checkCostModel(value: unknown): CostModel {
  const problem = problemOf(value);
  if (problem === null) return value as CostModel;
  throw new UsageError(
    "E528",
    `not a cost model: ${problem}`,
    "measure one with `factorloom bench calibrate`",
  );
}

function problemOf(value: unknown): string | null {
  if (!isRecord(value)) return "no object";
  const { machine, operators, handOutNs } = value;
  if (machine !== null && typeof machine !== "string") return "machine is not a text";
  if (!isRecord(operators)) return "operators is not an object";
  if (handOutNs !== undefined && !isBetween(handOutNs, HAND_OUT_NS_MAX))
    return "handOutNs is not a positive number of ns";
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
    return isBetween(nsPerCell, NS_PER_CELL_MAX);
  });
}

function isBetween(ns: unknown, most: number): boolean {
  return typeof ns === "number" && ns > 0 && ns <= most;
}
