/** Consecutive rows of a column as they lie in memory. */
export interface Strip {
  /** `[rows x width]`. */
  readonly values: Float64Array;
  readonly width: number;
}

/** Consecutive rows of a column: in a ring they may be two strips. */
export type ColumnRows = readonly Strip[];

/** `count` lanes of a column from `first` on. */
export interface LaneRange {
  readonly first: number;
  readonly count: number;
}

/** Contiguous rows `[rows x width]`. */
export function oneStrip(values: Float64Array, width: number): ColumnRows {
  return [{ values, width }];
}

export function rowsIn(column: ColumnRows): number {
  return column.reduce((sum, { values, width }) => sum + values.length / width, 0);
}

/** Copies the first `lanes.count` lanes of rows `[rows x width]` into `lanes` of a column. */
export function fillLanes(target: ColumnRows, lanes: LaneRange, source: Strip): void {
  let row = 0;
  for (const strip of target) {
    const rowCount = strip.values.length / strip.width;
    copyLanes(source, row, 0, strip, 0, lanes.first, rowCount, lanes.count);
    row += rowCount;
  }
}

/** Copies `lanes` of a column into rows `[rows x width]`; the remaining lanes become null. */
export function takeLanes(source: ColumnRows, lanes: LaneRange, target: Strip): void {
  if (lanes.count < target.width) target.values.fill(Number.NaN);
  let row = 0;
  for (const strip of source) {
    const rowCount = strip.values.length / strip.width;
    copyLanes(strip, 0, lanes.first, target, row, 0, rowCount, lanes.count);
    row += rowCount;
  }
}

function copyLanes(
  from: Strip,
  fromRow: number,
  fromLane: number,
  to: Strip,
  toRow: number,
  toLane: number,
  rowCount: number,
  laneCount: number,
): void {
  if (from.width === laneCount && to.width === laneCount) {
    to.values.set(
      from.values.subarray(fromRow * laneCount, (fromRow + rowCount) * laneCount),
      toRow * laneCount,
    );
    return;
  }
  for (let row = 0; row < rowCount; row++) {
    const start = (fromRow + row) * from.width + fromLane;
    to.values.set(from.values.subarray(start, start + laneCount), (toRow + row) * to.width + toLane);
  }
}
