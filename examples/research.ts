/** A morning of research: five ideas over five years of daily bars. Run with `npx node examples/research.ts`. */
import { compile, Engine, type Panel, readPanel } from "factorloom";

const DATA = `${import.meta.dirname}/data`;
const panel = await readPanel(`${DATA}/sp100_daily.csv.gz`, { groups: `${DATA}/sp100_sectors.csv` });
await using engine = await Engine.start({ threads: 2 });

// 1. The ideas. `let` names what several formulas share and is no factor itself.
const ideas = compile(`
  let returns = close / delay(close, 1) - 1
  reversal = -rank(ts_sum(returns, 5))
  momentum = rank(delay(close, 20) / delay(close, 240) - 1)
  calm = -rank(ts_std(returns, 60))
  in_sector = group_rank(-returns, sector)
  price_volume = -ts_corr(rank(close), rank(volume), 20)`);
const { table } = await engine.evaluate(ideas, panel);

// 2. What they are worth: how their ranks go with the ranks of what comes next.
const next = nextReturns(panel);
const columnOf = (name: string, from = table): (number | null)[] => [...from.getChild(name)!];
console.log(`${table.numRows} rows, ${panel.rowCount} days, ${panel.laneCount} symbols`);
console.table(
  ideas.factors.map(({ name }) => {
    const values = columnOf(name);
    const nulls = values.filter((value) => value === null).length;
    return { factor: name, nulls, "mean rank correlation": meanRankCorrelation(values).toFixed(4) };
  }),
);

// 3. One idea with two settings: what does not depend on `weight` is computed once for both.
const blend = compile(`
  param weight = 0.5
  let returns = close / delay(close, 1) - 1
  blend = weight * rank(-ts_sum(returns, 5)) + (1 - weight) * rank(-ts_std(returns, 60))`);
const weights = [0.25, 0.75];
const calls = weights.map((weight) => ({ params: { weight } }));
let call = 0;
for await (const blended of engine.evaluateMany(blend, panel, calls)) {
  const correlation = meanRankCorrelation(columnOf("blend", blended));
  console.log(`weight ${weights[call++]}: mean rank correlation ${correlation.toFixed(4)}`);
}

/** Return from each cell's close to that of the next day, NaN where one is missing; `[rows x lanes]`. */
function nextReturns({ fields, laneCount }: Panel): Float64Array {
  const close = fields.get("close")!;
  return Float64Array.from(close, (value, cell) => (close[cell + laneCount] ?? Number.NaN) / value - 1);
}

/** Mean over all days of the correlation of the ranks of a factor and of the next returns (Spearman). */
function meanRankCorrelation(values: readonly (number | null)[]): number {
  const { rowCount, laneCount, present } = panel;
  const correlations: number[] = [];
  let line = 0;
  for (let row = 0; row < rowCount; row++) {
    const pairs: [number, number][] = [];
    for (let cell = row * laneCount; cell < (row + 1) * laneCount; cell++) {
      // The table has a line for each cell that the bars have, by day, then symbol, as the panel.
      const value = present[cell] === 1 ? values[line++]! : null;
      if (value !== null && !Number.isNaN(next[cell])) pairs.push([value, next[cell]!]);
    }
    const correlation = pearson(ranks(pairs.map(([value]) => value)), ranks(pairs.map(([, back]) => back)));
    if (!Number.isNaN(correlation)) correlations.push(correlation);
  }
  return mean(correlations);
}

/** Equal values share the mean of their ranks. */
function ranks(values: readonly number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b);
  return values.map((value) => (sorted.indexOf(value) + sorted.lastIndexOf(value)) / 2);
}

/** NaN where one of them does not vary. */
function pearson(a: readonly number[], b: readonly number[]): number {
  const [meanA, meanB] = [mean(a), mean(b)];
  const sum = (of: (index: number) => number) => a.reduce((total, _, index) => total + of(index), 0);
  const covariance = sum((index) => (a[index]! - meanA) * (b[index]! - meanB));
  const [varianceA, varianceB] = [sum((i) => (a[i]! - meanA) ** 2), sum((i) => (b[i]! - meanB) ** 2)];
  return covariance / Math.sqrt(varianceA * varianceB);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
