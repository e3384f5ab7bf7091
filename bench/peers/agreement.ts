/** How far a peer's values of a factor are from ours. */
export interface Agreement {
  readonly factor: string;
  /** Cells with a value on both sides. */
  readonly compared: number;
  /** Cells with a value on one side only. */
  readonly nullsDiffer: number;
  /** Compared cells that deviate by more than is allowed. */
  readonly valuesDiffer: number;
  /** Compared cells that deviate by more than `TOLERANCE`, but by no more than running sums may. */
  readonly rounded: number;
  /** The largest deviation of a compared cell. */
  readonly deviationMax: number;
  /** The first cell that differs by its null or by more than is allowed. */
  readonly first: { readonly cell: number; readonly ours: number; readonly theirs: number } | null;
}

const TOLERANCE = 1e-9;

/** For what a peer computes from running sums, whose rounding stays behind when a value has left the window. */
export const RUNNING_SUM_TOLERANCE = 1e-6;

/** Cells by which a factor's typical size is found. */
const SAMPLE_CELLS = 65_536;

/**
 * Compares two columns of the same cells. NaN is null; an infinity counts as null, as the engine gives none out.
 *
 * The deviation of a cell is |ours - theirs| by the largest of |ours|, |theirs| and the factor's typical size, the median
 * of |ours|: where a difference of large numbers comes out close to 0, its own size says nothing of its rounding.
 */
export function agreementOf(
  factor: string,
  ours: Float64Array,
  theirs: Float64Array,
  toleranceMax = TOLERANCE,
): Agreement {
  const typical = typicalSize(ours);
  let [compared, nullsDiffer, valuesDiffer, rounded, deviationMax] = [0, 0, 0, 0, 0];
  let first: Agreement["first"] = null;
  for (let cell = 0; cell < ours.length; cell++) {
    const [a, b] = [ours[cell]!, theirs[cell]!];
    const isValue = Number.isFinite(a);
    if (isValue !== Number.isFinite(b)) {
      nullsDiffer += 1;
      first ??= { cell, ours: a, theirs: b };
    } else if (isValue) {
      const deviation = a === b ? 0 : Math.abs(a - b) / Math.max(Math.abs(a), Math.abs(b), typical);
      compared += 1;
      deviationMax = Math.max(deviationMax, deviation);
      if (deviation > toleranceMax) {
        valuesDiffer += 1;
        first ??= { cell, ours: a, theirs: b };
      } else if (deviation > TOLERANCE) rounded += 1;
    }
  }
  return { factor, compared, nullsDiffer, valuesDiffer, rounded, deviationMax, first };
}

/** The median size of values, of a sample of evenly spread cells. */
function typicalSize(values: Float64Array): number {
  const step = Math.ceil(values.length / SAMPLE_CELLS);
  const sample = values.filter((value, cell) => cell % step === 0 && Number.isFinite(value)).map(Math.abs);
  return sample.sort()[sample.length >> 1] ?? 0;
}

/** Whether nothing differs, and there was something to compare. */
export function agrees({ compared, nullsDiffer, valuesDiffer }: Agreement): boolean {
  return compared > 0 && nullsDiffer === 0 && valuesDiffer === 0;
}
