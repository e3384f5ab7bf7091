import pl, { type Expr } from "nodejs-polars";
import type { FactorName } from "./factors.ts";

/**
 * The factors of `factors.ts` as expressions of polars, over a frame of a line per lane and row, ordered by both.
 *
 * Aligned with the engine: windows need all their rows (`minPeriods`), ddof 1 (the default), ties share their average
 * rank. `otherwise` also takes cells where the condition is unknown, so a second condition tells these apart.
 * An expression over lanes within one over rows would be computed lane by lane, so a factor may need columns of a frame
 * below its own. nodejs-polars 0.26 has no rolling correlation and no rolling rank: the correlation is polars' own formula in Python and
 * Rust, written out; the rank compares with each earlier row of the window.
 */
export interface PolarsFactor {
  /** Columns over the fields, by name; the same name means the same expression in every factor. */
  readonly first?: Columns;
  /** Columns over the fields and the first ones. */
  readonly second?: Columns;
  readonly value: Expr;
}

type Columns = Readonly<Record<string, Expr>>;

const { open, high, low, close, volume, vwap } = Object.fromEntries(
  ["open", "high", "low", "close", "volume", "vwap"].map((name) => [name, pl.col(name)]),
) as Record<"open" | "high" | "low" | "close" | "volume" | "vwap", Expr>;

const { col } = pl;

const window = (d: number) => ({ windowSize: d, minPeriods: d });
const mean = (x: Expr, d: number) => x.rollingMean(window(d)).over("lane");
const std = (x: Expr, d: number) => x.rollingStd({ ...window(d), ddof: 1 }).over("lane");
const min = (x: Expr, d: number) => x.rollingMin(window(d)).over("lane");
const max = (x: Expr, d: number) => x.rollingMax(window(d)).over("lane");
const delay = (x: Expr, d: number) => x.shift(d).over("lane");
const delta = (x: Expr, d: number) => x.sub(delay(x, d));
const negative = (x: Expr) => x.mul(-1);
const rank = (x: Expr) => x.rank("average").over("row").div(x.count().over("row"));
const scale = (x: Expr) => x.div(x.abs().sum().over("row"));
const sum = (terms: readonly Expr[]) => terms.reduce((total, term) => total.add(term));
const one = (condition: Expr) => condition.cast(pl.Float64);
const sign = (x: Expr) => one(x.gt(0)).sub(one(x.lt(0)));
const agesTo = (d: number) => Array.from({ length: d }, (_, age) => age);

const corr = (x: Expr, y: Expr, d: number) => {
  const covariance = mean(x.mul(y), d)
    .sub(mean(x, d).mul(mean(y, d)))
    .mul(d / (d - 1));
  return covariance.div(std(x, d).mul(std(y, d)));
};

/** Each earlier value counts one half if it is not above today's, another half if it is below. */
const tsRank = (x: Expr, d: number) => {
  const earlier = agesTo(d)
    .slice(1)
    .map((age) => delay(x, age));
  const halves = sum(earlier.map((value) => one(value.lt(x)).add(one(value.ltEq(x)))));
  return halves.div(2).add(1).div(d);
};

const decayLinear = (x: Expr, d: number) =>
  sum(agesTo(d).map((age) => delay(x, age).mul(d - age))).div((d * (d + 1)) / 2);

export const POLARS_FACTORS: Readonly<Record<FactorName, PolarsFactor>> = {
  alpha004: { first: { rank_low: rank(low) }, value: negative(tsRank(col("rank_low"), 9)) },
  alpha006: { value: negative(corr(open, volume, 10)) },
  alpha009: {
    first: { change: delta(close, 1) },
    second: { change_min: min(col("change"), 5), change_max: max(col("change"), 5) },
    value: pl
      .when(col("change_min").gt(0).or(col("change_max").lt(0)))
      .then(col("change"))
      .when(col("change_min").ltEq(0))
      .then(negative(col("change")))
      .otherwise(pl.lit(null)),
  },
  alpha012: { value: sign(delta(volume, 1)).mul(negative(delta(close, 1))) },
  alpha020: {
    first: {
      from_high: open.sub(delay(high, 1)),
      from_close: open.sub(delay(close, 1)),
      from_low: open.sub(delay(low, 1)),
    },
    value: negative(rank(col("from_high")))
      .mul(rank(col("from_close")))
      .mul(rank(col("from_low"))),
  },
  alpha023: {
    first: { high_mean: mean(high, 20) },
    value: pl
      .when(col("high_mean").lt(high))
      .then(negative(delta(high, 2)))
      .when(col("high_mean").gtEq(high))
      .then(pl.lit(0))
      .otherwise(pl.lit(null)),
  },
  alpha028: {
    first: { adv20: mean(close.mul(volume), 20) },
    second: {
      from_mid: corr(col("adv20"), low, 5).add(high.add(low).div(2)).sub(close),
    },
    value: scale(col("from_mid")),
  },
  alpha033: { value: rank(negative(pl.lit(1).sub(open.div(close)))) },
  alpha040: {
    first: { high_std: std(high, 10) },
    value: negative(rank(col("high_std"))).mul(corr(high, volume, 10)),
  },
  alpha041: { value: high.mul(low).pow(0.5).sub(vwap) },
  alpha042: { value: rank(vwap.sub(close)).div(rank(vwap.add(close))) },
  alpha044: { first: { rank_volume: rank(volume) }, value: negative(corr(high, col("rank_volume"), 5)) },
  alpha054: {
    value: negative(low.sub(close).mul(open.pow(5))).div(low.sub(high).mul(close.pow(5))),
  },
  alpha101: { value: close.sub(open).div(high.sub(low).add(0.001)) },
  decay10: { value: decayLinear(close, 10) },
  ma20: { value: mean(close, 20).div(close) },
  roc60: { value: delay(close, 60).div(close) },
  rsv20: {
    first: { low_min: min(low, 20), high_max: max(high, 20) },
    value: close.sub(col("low_min")).div(col("high_max").sub(col("low_min")).add(1e-12)),
  },
  std20: { value: std(close, 20).div(close) },
  vma60: { value: mean(volume, 60).div(volume.add(1e-12)) },
};
