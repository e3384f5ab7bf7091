/** How far predictions were from what came. */
export interface PredictionErrors {
  /** Mean of |predicted - actual| / actual. */
  readonly meanAbsolutePercent: number;
  /** Sum of predicted by sum of actual, less one: above 0 the predictions were too long. */
  readonly biasPercent: number;
}

export function predictionErrors(
  predictedMs: readonly number[],
  actualMs: readonly number[],
): PredictionErrors {
  let [absolute, predicted, actual] = [0, 0, 0];
  for (const [call, ms] of actualMs.entries()) {
    absolute += Math.abs(predictedMs[call]! - ms) / ms;
    predicted += predictedMs[call]!;
    actual += ms;
  }
  return {
    meanAbsolutePercent: (100 * absolute) / actualMs.length,
    biasPercent: 100 * (predicted / actual - 1),
  };
}
