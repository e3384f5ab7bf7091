import type { ElementwiseDefinition } from "../operator/definition.ts";
import type { PartJob, Values } from "./columns.ts";

/** An argument as memory: cell `i` is `values[i * step]`, so that a number is a column of step 0. */
interface Cells {
  readonly values: Float64Array;
  readonly step: 0 | 1;
}

/**
 * Runs an elementwise operator over the cells of one part.
 *
 * Null in any argument gives null unless the operator sees nulls. Every null is written as the same NaN: the
 * sign of a computed NaN depends on which compiler tier ran the loop, and results are compared by their bits.
 */
export function runElementwise(operator: ElementwiseDefinition, job: PartJob): void {
  const cells = job.operands.map(cellsOf);
  const { rowStart, rowEnd, laneStart, laneEnd } = job.range;
  const run = [mapOne, mapTwo, mapThree][cells.length - 1] ?? mapMany;
  for (let row = rowStart; row < rowEnd; row++) {
    const base = row * job.laneCount;
    run(operator, cells, job.output, base + laneStart, base + laneEnd);
  }
}

function cellsOf(operand: Values): Cells {
  return typeof operand === "number"
    ? { values: Float64Array.of(operand), step: 0 }
    : { values: operand, step: 1 };
}

type MapCells = (
  operator: ElementwiseDefinition,
  cells: readonly Cells[],
  output: Float64Array,
  start: number,
  end: number,
) => void;

const mapOne: MapCells = (operator, cells, output, start, end) => {
  const { reference } = operator;
  const seesNulls = operator.seesNulls === true;
  const { values: xs, step: xStep } = cells[0]!;
  for (let i = start; i < end; i++) {
    const x = xs[i * xStep]!;
    const y = seesNulls || !Number.isNaN(x) ? reference(x) : Number.NaN;
    output[i] = Number.isNaN(y) ? Number.NaN : y;
  }
};

const mapTwo: MapCells = (operator, cells, output, start, end) => {
  const { reference } = operator;
  const seesNulls = operator.seesNulls === true;
  const { values: as, step: aStep } = cells[0]!;
  const { values: bs, step: bStep } = cells[1]!;
  for (let i = start; i < end; i++) {
    const a = as[i * aStep]!;
    const b = bs[i * bStep]!;
    const y = seesNulls || !(Number.isNaN(a) || Number.isNaN(b)) ? reference(a, b) : Number.NaN;
    output[i] = Number.isNaN(y) ? Number.NaN : y;
  }
};

const mapThree: MapCells = (operator, cells, output, start, end) => {
  const { reference } = operator;
  const seesNulls = operator.seesNulls === true;
  const { values: as, step: aStep } = cells[0]!;
  const { values: bs, step: bStep } = cells[1]!;
  const { values: cs, step: cStep } = cells[2]!;
  for (let i = start; i < end; i++) {
    const a = as[i * aStep]!;
    const b = bs[i * bStep]!;
    const c = cs[i * cStep]!;
    const isNull = Number.isNaN(a) || Number.isNaN(b) || Number.isNaN(c);
    const y = seesNulls || !isNull ? reference(a, b, c) : Number.NaN;
    output[i] = Number.isNaN(y) ? Number.NaN : y;
  }
};

const mapMany: MapCells = (operator, cells, output, start, end) => {
  const { reference } = operator;
  const seesNulls = operator.seesNulls === true;
  const args = new Array<number>(cells.length).fill(0);
  for (let i = start; i < end; i++) {
    let isNull = false;
    for (let k = 0; k < args.length; k++) {
      const { values, step } = cells[k]!;
      args[k] = values[i * step]!;
      isNull ||= Number.isNaN(args[k]!);
    }
    const y = seesNulls || !isNull ? reference(...args) : Number.NaN;
    output[i] = Number.isNaN(y) ? Number.NaN : y;
  }
};
