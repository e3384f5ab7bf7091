/** A formula that is computed by the engine and, under the same name, by the peers. */
export interface PeerFactor {
  readonly name: FactorName;
  /** Of the dialect `alpha101`. */
  readonly formula: string;
}

/**
 * Formulas of "101 Formulaic Alphas", some of Qlib's Alpha158 in the words of that dialect, and a linear decay: chains of
 * elementwise operators, rolling sums, deviations, extremes and correlations, ranks over time and across the row.
 *
 * Left aside is what rounding decides: correlations of what may be constant within a window, such as ranks of prices
 * (null; running sums leave null or an infinity, by chance), and ranks of what rounding alone tells apart, which differ by
 * whole places.
 */
const FORMULAS = {
  alpha004: "-1 * Ts_Rank(rank(low), 9)",
  alpha006: "-1 * correlation(open, volume, 10)",
  alpha009:
    "(0 < ts_min(delta(close, 1), 5)) ? delta(close, 1) : ((ts_max(delta(close, 1), 5) < 0) ? delta(close, 1) : (-1 * delta(close, 1)))",
  alpha012: "sign(delta(volume, 1)) * (-1 * delta(close, 1))",
  alpha020:
    "((-1 * rank(open - delay(high, 1))) * rank(open - delay(close, 1))) * rank(open - delay(low, 1))",
  alpha023: "((sum(high, 20) / 20) < high) ? (-1 * delta(high, 2)) : 0",
  alpha028: "scale((correlation(adv20, low, 5) + ((high + low) / 2)) - close)",
  alpha033: "rank(-1 * ((1 - (open / close))^1))",
  alpha040: "(-1 * rank(stddev(high, 10))) * correlation(high, volume, 10)",
  alpha041: "((high * low)^0.5) - vwap",
  alpha042: "rank(vwap - close) / rank(vwap + close)",
  alpha044: "-1 * correlation(high, rank(volume), 5)",
  alpha054: "(-1 * ((low - close) * (open^5))) / ((low - high) * (close^5))",
  alpha101: "(close - open) / ((high - low) + .001)",
  decay10: "decay_linear(close, 10)",
  ma20: "(sum(close, 20) / 20) / close",
  roc60: "delay(close, 60) / close",
  rsv20: "(close - ts_min(low, 20)) / ((ts_max(high, 20) - ts_min(low, 20)) + 1e-12)",
  std20: "stddev(close, 20) / close",
  vma60: "(sum(volume, 60) / 60) / (volume + 1e-12)",
};

export type FactorName = keyof typeof FORMULAS;

export const FACTORS = Object.entries(FORMULAS).map(([name, formula]) => ({ name, formula })) as PeerFactor[];

/** Correlations: means of products less products of means, which leaves what running sums have lost. */
export const CORRELATIONS: readonly FactorName[] = ["alpha006", "alpha028", "alpha040", "alpha044"];

/** Columns of the panel that the formulas read. */
export const FIELDS = ["open", "high", "low", "close", "volume", "vwap"] as const;

/** The factors as a formula file. */
export function formulaText(factors: readonly PeerFactor[]): string {
  return ["dialect alpha101", ...factors.map(({ name, formula }) => `${name} = ${formula}`)].join("\n");
}
