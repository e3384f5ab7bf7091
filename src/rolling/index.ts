/** Statistics over windows, as code: what `lower` of a rolling operator composes. */

export { kurtosis, meanAbsoluteDeviation, skewness } from "./deviations.ts";
export { correlation, covariance, standardDeviation, variance } from "./dispersion.ts";
export { countNonZero, countOf, hasEnough } from "./enough.ts";
export { largest, positionOfLargest, positionOfSmallest, smallest } from "./extremes.ts";
export { residualOfLine, rSquare, slope } from "./line.ts";
export { product } from "./product.ts";
export { quantile, rankOfToday } from "./ranks.ts";
export { regressionIntercept, regressionResidual, regressionSlope } from "./regression.ts";
export { meanOverDeviation, standardScore } from "./standard_score.ts";
export type { BoundedStatistic, PairStatistic, WindowStatistic } from "./statistic.ts";
export { linearlyWeightedMean, mean, sum } from "./sums.ts";
