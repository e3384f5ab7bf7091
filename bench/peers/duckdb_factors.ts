import type { FactorName } from "./factors.ts";

/**
 * The factors of `factors.ts` in DuckDB's SQL, over a table of a line per row and lane.
 *
 * Aligned with the engine: a window that is not full is null (SQL aggregates over what there is), ddof 1 (`stddev_samp`),
 * ties share their average rank (SQL has the lowest); a CASE without ELSE is null where its condition is unknown. Window functions do not
 * nest, so a factor may need columns of a query below its own.
 */
export interface SqlFactor {
  /** Columns over the fields, by name. */
  readonly first?: Columns;
  /** Columns over the fields and the first ones. */
  readonly second?: Columns;
  readonly value: string;
}

type Columns = Readonly<Record<string, string>>;

const LANE = "PARTITION BY lane ORDER BY row";

const last = (d: number) => `OVER (${LANE} ROWS ${d - 1} PRECEDING)`;
const rolling = (aggregate: string, x: string, d: number) =>
  `CASE WHEN count(${x}) ${last(d)} = ${d} THEN ${aggregate}(${x}) ${last(d)} END`;
const mean = (x: string, d: number) => rolling("avg", x, d);
const std = (x: string, d: number) => rolling("stddev_samp", x, d);
const min = (x: string, d: number) => rolling("min", x, d);
const max = (x: string, d: number) => rolling("max", x, d);
const corr = (x: string, y: string, d: number) =>
  `CASE WHEN regr_count(${x}, ${y}) ${last(d)} = ${d} THEN corr(${x}, ${y}) ${last(d)} END`;
const delay = (x: string, d: number) => `lag(${x}, ${d}) OVER (${LANE})`;
const delta = (x: string, d: number) => `(${x} - ${delay(x, d)})`;
const scale = (x: string) => `${x} / sum(abs(${x})) OVER (PARTITION BY row)`;

/** `rank` is the place of the first of equal values, the running count that of the last. */
const rank = (x: string) => {
  const places = `(rank() OVER (PARTITION BY row ORDER BY ${x}) + count(${x}) OVER (PARTITION BY row ORDER BY ${x}))`;
  return `CASE WHEN ${x} IS NOT NULL THEN ${places} / 2 / count(${x}) OVER (PARTITION BY row) END`;
};

const agesTo = (d: number) => Array.from({ length: d }, (_, age) => age);

/** Each earlier value counts one half if it is not above today's, another half if it is below. */
const tsRank = (x: string, d: number) => {
  const halves = agesTo(d).slice(1);
  const terms = halves.map((age) => `(${delay(x, age)} < ${x})::INT + (${delay(x, age)} <= ${x})::INT`);
  return `((${terms.join(" + ")}) / 2 + 1) / ${d}`;
};

const decayLinear = (x: string, d: number) => {
  const terms = agesTo(d).map((age) => `${d - age} * ${delay(x, age)}`);
  return `(${terms.join(" + ")}) / ${(d * (d + 1)) / 2}`;
};

export const DUCKDB_FACTORS: Readonly<Record<FactorName, SqlFactor>> = {
  alpha004: { first: { rank_low: rank("low") }, value: `-1 * (${tsRank("rank_low", 9)})` },
  alpha006: { value: `-1 * (${corr("open", "volume", 10)})` },
  alpha009: {
    first: { change: delta("close", 1) },
    second: { change_min: min("change", 5), change_max: max("change", 5) },
    value: "CASE WHEN change_min > 0 OR change_max < 0 THEN change WHEN change_min <= 0 THEN -change END",
  },
  alpha012: { value: `sign(${delta("volume", 1)}) * (-1 * ${delta("close", 1)})` },
  alpha020: {
    first: {
      from_high: `open - ${delay("high", 1)}`,
      from_close: `open - ${delay("close", 1)}`,
      from_low: `open - ${delay("low", 1)}`,
    },
    value: `-1 * (${rank("from_high")}) * (${rank("from_close")}) * (${rank("from_low")})`,
  },
  alpha023: {
    first: { high_mean: mean("high", 20), high_change: delta("high", 2) },
    value: "CASE WHEN high_mean < high THEN -high_change WHEN high_mean >= high THEN 0 END",
  },
  alpha028: {
    first: { adv20: mean("close * volume", 20) },
    second: { from_mid: `((${corr("adv20", "low", 5)}) + (high + low) / 2) - close` },
    value: scale("from_mid"),
  },
  alpha033: { first: { gap: "-1 * (1 - open / close)" }, value: rank("gap") },
  alpha040: {
    first: { high_std: std("high", 10), high_volume: corr("high", "volume", 10) },
    value: `-1 * (${rank("high_std")}) * high_volume`,
  },
  alpha041: { value: "sqrt(high * low) - vwap" },
  alpha042: {
    first: { below: "vwap - close", around: "vwap + close" },
    value: `(${rank("below")}) / (${rank("around")})`,
  },
  alpha044: {
    first: { rank_volume: rank("volume") },
    value: `-1 * (${corr("high", "rank_volume", 5)})`,
  },
  alpha054: { value: "(-1 * ((low - close) * pow(open, 5))) / ((low - high) * pow(close, 5))" },
  alpha101: { value: "(close - open) / ((high - low) + 0.001)" },
  decay10: { value: decayLinear("close", 10) },
  ma20: { value: `(${mean("close", 20)}) / close` },
  roc60: { value: `${delay("close", 60)} / close` },
  rsv20: {
    first: { low_min: min("low", 20), high_max: max("high", 20) },
    value: "(close - low_min) / ((high_max - low_min) + 1e-12)",
  },
  std20: { value: `(${std("close", 20)}) / close` },
  vma60: { value: `(${mean("volume", 60)}) / (volume + 1e-12)` },
};
