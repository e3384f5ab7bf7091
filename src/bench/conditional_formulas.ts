/** Conditions of the made-up file, and formulas under each. */
export const CONDITION_COUNT = 50;
const FORMULAS_PER_CONDITION = 20;

/** The conditions ask for the value of one of two params: of each param's, one holds at a time. */
const PARAMS = ["first", "second"] as const;
const VALUES = CONDITION_COUNT / PARAMS.length;

/** Kinds of formulas; `d` and `e` are windows. */
const TEMPLATES: readonly ((d: number, e: number) => string)[] = [
  (d, e) => `rank(ts_mean(returns, ${d})) - rank(ts_std(returns, ${e}))`,
  (d) => `-ts_corr(rank(close), rank(volume), ${d})`,
  (d, e) => `ts_mean(close, ${d}) / ts_mean(close, ${e}) - 1`,
  (d, e) => `rank(ts_delta(close, ${d})) * rank(volume / ts_mean(volume, ${e}))`,
  (d) => `(close - ts_min(low, ${d})) / (ts_max(high, ${d}) - ts_min(low, ${d}))`,
  (d, e) => `decay_linear(rank(close - vwap), ${d}) - ts_rank(volume, ${Math.min(e, 20)})`,
  (d) => `ts_zscore(close * volume, ${d})`,
  (d, e) => `covariance(returns, ts_delta(volume, ${Math.min(d, 9)}), ${e})`,
  (d, e) => `ts_argmax(close, ${d}) + ts_sum(high - low, ${e}) / ts_sum(volume, ${e})`,
  (d, e) => `scale(ts_mean(returns, ${d}) / ts_std(returns, ${e}))`,
];

/**
 * 1,000 formulas under 50 conditions, of which two hold in each call: those of one value of each param. Formulas differ
 * in kind and windows; what they have in common is shared across conditions.
 */
export function conditionalText(): string {
  const lines = PARAMS.map((name) => `param ${name} = 0`);
  for (let condition = 0; condition < CONDITION_COUNT; condition++) {
    const { param, value } = askedBy(condition);
    lines.push(`when ${PARAMS[param]} == ${value} {`);
    for (let index = 0; index < FORMULAS_PER_CONDITION; index++) {
      const template = TEMPLATES[index % TEMPLATES.length]!;
      // Each kind occurs 100 times, with 100 pairs of windows.
      const place = condition + CONDITION_COUNT * Math.floor(index / TEMPLATES.length);
      const windows = [5 + place, 6 + ((37 * place) % 101)] as const;
      lines.push(`  f${condition}_${index} = ${template(...windows)}`);
    }
    lines.push("}");
  }
  return lines.join("\n");
}

/** For each condition whether it holds where the params have these values. */
export function holding(first: number, second: number): boolean[] {
  return Array.from({ length: CONDITION_COUNT }, (_, condition) => {
    const { param, value } = askedBy(condition);
    return value === (param === 0 ? first : second);
  });
}

/** Values that each param may have. */
export const PARAM_VALUES = VALUES;

function askedBy(condition: number): { readonly param: number; readonly value: number } {
  return { param: Math.floor(condition / VALUES), value: condition % VALUES };
}
