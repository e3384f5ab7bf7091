/** Functions of other systems under names that no dialect has: what to write for them, in dialect native. */
export interface ForeignFunctions {
  readonly names: readonly string[];
  /**
   * The formula of series x and y, condition c, numbers a, b, d, k, n and q, group column g and fields of bars; null where
   * there is none.
   */
  readonly formula: string | null;
  /** What differs, or what is to be known beside the formula. */
  readonly note: string;
}

const row = (names: string, formula: string | null, note = ""): ForeignFunctions => {
  return { names: names.split(" "), formula, note };
};

/**
 * Names that users of BRAIN, polars_ta, pandas, numpy, TA-Lib, SQL and Tongdaxin type. Letter case does not matter. A name
 * that is spelt nearly like an operator of another meaning belongs here, so that it is not taken for a misspelling.
 */
export const FOREIGN_FUNCTIONS: readonly ForeignFunctions[] = [
  // Shifts
  row("lag shift ref ts_lag ts_shift ts_ref", "delay(x, d)"),
  row("lead", "delay(x, d)", "no formula may look ahead, this one looks back"),
  row("bfill backfill", "ffill(x)", "later values would look ahead, this one takes earlier ones"),
  row("diff ts_diff", "delta(x, d)"),
  row("pct_change pctchange ts_pct_change rocp", "ts_returns(x, d)", "a fraction, where roc is in percent"),
  row("rocr", "x / delay(x, d)"),
  row("log_diff log_return", "log(x / delay(x, 1))"),

  // Windows
  row("ts_arg_max", "high_day(x, d)", "ts_arg_max of BRAIN counts rows since the maximum"),
  row("ts_arg_min", "low_day(x, d)", "ts_arg_min of BRAIN counts rows since the minimum"),
  row("argmax arg_max idxmax", "ts_argmax(x, d)", "counted from 1 for the oldest row"),
  row("argmin arg_min idxmin", "ts_argmin(x, d)", "counted from 1 for the oldest row"),
  row("hhv rolling_max", "ts_max(x, d)"),
  row("llv rolling_min", "ts_min(x, d)"),
  row("hhvbars", "high_day(x, d)"),
  row("llvbars", "low_day(x, d)"),
  row("mean avg average", "ts_mean(x, d)", "across the row x - demean(x), over the last d rows"),
  row("ma moving_average rolling_mean ts_avg ts_average ts_ma ts_sma", "ts_mean(x, d)"),
  row("rolling_sum", "ts_sum(x, d)"),
  row("prod ts_prod", "ts_product(x, d)"),
  row("std stdev std_dev rolling_std", "ts_std(x, d)", "divided by d - 1"),
  row("var variance rolling_var", "ts_var(x, d)", "divided by d - 1"),
  row("skew skewness", "ts_skew(x, d)"),
  row("kurt kurtosis", "ts_kurt(x, d)"),
  row("median rolling_median", "ts_median(x, d)"),
  row("rolling_quantile", "ts_quantile(x, d, q)"),
  row("rolling_rank", "ts_rank(x, d)"),
  row("avedev", "ts_mad(x, d)"),
  row("count", "ts_count(c, d)", "values are counted by ts_count_values(x, d), conditions by"),
  row("corr rolling_corr ts_correlation", "correlation(x, y, d)"),
  row("cov rolling_cov ts_cov", "covariance(x, y, d)"),
  row("autocorr ts_autocorr", "correlation(x, delay(x, 1), d)"),
  row("ts_co_skewness ts_co_kurtosis", null, "no operator here has it"),
  row("ts_range", "ts_max(x, d) - ts_min(x, d)"),
  row("ts_min_max_diff", "x - 0.5 * (ts_min(x, d) + ts_max(x, d))"),
  row("ts_min_max_cps", "ts_min(x, d) + ts_max(x, d) - 2 * x"),
  row("ts_regression", "ts_regresid(y, x, d)", "ts_regalpha for rettype 1 of BRAIN, ts_regbeta for 2, for 0"),
  row("linearreg_slope", "ts_slope(x, d)"),

  // Averages
  row(
    "ts_decay_exp_window",
    "wma_decay(x, d)",
    "weights factor^k over d rows have an equal for the factor 0.9 alone",
  ),
  row("ts_weighted_decay", "k * x + (1 - k) * delay(x, 1)"),
  row("ts_ema", "ema(x, n)"),
  row("ewm ewma ewm_mean", "ema(x, n)", "ema_adjusted(x, n) is ewm(span=n) of pandas, with adjust=False"),
  row("wma lwma ts_wma", "decay_linear(x, d)", "weights 1 to d"),
  row("smma", "rma(x, n)"),
  row("dema", "2 * ema(x, n) - ema(ema(x, n), n)"),
  row("tema", "3 * ema(x, n) - 3 * ema(ema(x, n), n) + ema(ema(ema(x, n), n), n)"),
  row("vwma", "ts_sum(x * volume, d) / ts_sum(volume, d)"),
  row("hma kama mama trima t3", null, "no operator here has it"),
  row("ts_sma_cn", "sma_cn(x, n, k)"),

  // All of history
  row("ts_cum_sum expanding_sum", "cum_sum(x)"),
  row("cumprod cum_prod ts_cum_prod", "cum_product(x)"),
  row("ts_cum_max expanding_max", "cum_max(x)"),
  row("ts_cum_min expanding_min", "cum_min(x)"),
  row("cummean cum_mean expanding_mean", "cum_sum(x) / cum_count(x)"),
  row("cum_std cum_var cumstd cumvar", null, "no operator here runs over all of history for it"),

  // Across the row, and within groups
  row("cs_rank csrank", "rank(x)", "across the row"),
  row("cs_zscore cszscore standardize", "zscore(x)", "across the row"),
  row("cs_demean csdemean", "demean(x)", "across the row"),
  row("cs_scale", "scale(x)", "across the row"),
  row("cs_mean csmean", "cs_sum(x) / cs_sum(x == x)"),
  row("cs_count", "cs_sum(x == x)"),
  row("cs_std", "group_std(x, g)", "with a group column g of one label"),
  row("cs_median", "group_median(x, g)", "with a group column g of one label"),
  row("cs_max", "group_max(x, g)", "with a group column g of one label"),
  row("cs_min", "group_min(x, g)", "with a group column g of one label"),
  row("cs_resid cs_regression_neut", "regression_neut(y, x)"),
  row("neutralize market_neutralize", "group_neutralize(x, g)", "demean(x) across the row, within groups"),
  row("gp_demean group_demean", "group_neutralize(x, g)", "the group comes last"),
  row("gp_rank", "group_rank(x, g)", "the group comes last"),
  row("gp_zscore", "group_zscore(x, g)", "the group comes last"),
  row("gp_mean group_avg", "group_mean(x, g)", "the group comes last"),
  row("group_var", "group_std(x, g) ^ 2"),
  row("group_vector_proj", "x - group_vector_neut(x, y, g)"),

  // Cell by cell
  row("ln", "log(x)", "the natural logarithm"),
  row("log10", "log(x) / log(10)"),
  row("log2", "log(x) / log(2)"),
  row("pow", "x ^ a"),
  row("square sqr", "x ^ 2"),
  row("expm1", "exp(x) - 1"),
  row("exp2", "2 ^ x"),
  row("sin cos tan asin acos atan arcsin arccos arctan", null, "there are no trigonometric functions here"),
  row("sinh", "(exp(x) - exp(-x)) / 2"),
  row("cosh", "(exp(x) + exp(-x)) / 2"),
  row("sigmoid", "1 / (1 + exp(-x))"),
  row("absolute fabs", "abs(x)"),
  row("maximum", "max(x, y)"),
  row("minimum", "min(x, y)"),
  row("trunc", "sign(x) * floor(abs(x))"),
  row("fraction frac", "sign(x) * (abs(x) - floor(abs(x)))"),
  row("tail", "x > a && x < b ? k : x"),
  row("if iff iif ifelse", "c ? a : b"),
  row("fillna nvl ifnull nan_to_num", "coalesce(x, y)"),
  row("notna notnull isnotnull is_not_null is_not_nan", "!is_null(x)"),
  row("is_not_finite", "!is_finite(x)"),
  row("pasteurize", "purify(x)", "of infinities"),

  // Indicators
  row("trange", "true_range(high, low, close)"),
  row("natr", "100 * atr(high, low, close, n) / close"),
  row("typprice", "typical_price(high, low, close)"),
  row("adxr", "(adx(high, low, close, n) + delay(adx(high, low, close, n), n - 1)) / 2"),
  row("bbands", "boll_upper(x, n, k)", "boll_lower and boll_middle for the other bands"),
  row("ad dx", null, "no operator here has it"),
];
