/** Statistics over windows, as code: what `lower` of a rolling operator composes. */
export { correlation, covariance, standardDeviation, variance } from "./dispersion.ts";
export { countNonZero, countOf, hasEnough } from "./enough.ts";
export { largest, positionOfLargest, positionOfSmallest, smallest } from "./extremes.ts";
export { kurtosis, skewness } from "./higher_moments.ts";
export { residualOfLine, rSquare, slope } from "./line.ts";
export { meanAbsoluteDeviation } from "./mean_deviation.ts";
export { product } from "./product.ts";
export { quantile, rankOfToday } from "./ranks.ts";
export { regressionIntercept, regressionResidual, regressionSlope } from "./regression.ts";
export { meanOverDeviation, standardScore } from "./standard_score.ts";
export type { BoundedStatistic, WindowStatistic } from "./statistic.ts";
export { linearlyWeightedMean, mean, sum } from "./sums.ts";
