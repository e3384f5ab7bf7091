import { expect, test } from "vitest";
import { FactorStatistics, type Statistics } from "../../../src/cli/statistics/factor_statistics.ts";
import { histogramText } from "../../../src/cli/statistics/histogram.ts";
import { statisticsTable } from "../../../src/cli/statistics/statistics_table.ts";
import { Seeded } from "../../support/seeded.ts";

/** The statistics of values that come in blocks of `blockRows` rows of one lane; NaN is null. */
function statisticsOf(values: Float64Array, blockRows = values.length): Statistics | null {
  const statistics = new FactorStatistics(["f"]);
  for (let first = 0; first < values.length; first += blockRows) {
    const column = values.subarray(first, first + blockRows);
    const present = new Uint8Array(column.length).fill(1);
    const times = new BigInt64Array(column.length);
    statistics.add({ rowCount: column.length, times, present, columns: new Map([["f", column]]) });
  }
  expect(statistics.rowCount).toBe(values.length);
  return statistics.results().get("f")!;
}

test("few values are described exactly", () => {
  expect(statisticsOf(Float64Array.of(3, Number.NaN, 1, 2, Infinity, 6))).toEqual({
    min: 1,
    max: 6,
    mean: 3,
    sd: Math.sqrt(14 / 3),
    median: 2.5,
    histogram: [1, 1, 0, 1, 0, 0, 0, 1],
    sample: Float64Array.of(1, 2, 3, 6),
  });
  expect(statisticsOf(Float64Array.of(5))).toMatchObject({ min: 5, median: 5, max: 5, sd: Number.NaN });
  expect(statisticsOf(Float64Array.of(5, 5))).toMatchObject({ sd: 0, histogram: [0, 0, 0, 0, 2, 0, 0, 0] });
  expect(statisticsOf(Float64Array.of(Number.NaN, -Infinity))).toBeNull();
  expect(statisticsOf(new Float64Array(0))).toBeNull();
  const large = statisticsOf(Float64Array.of(-1.7e308, 1.7e308))!;
  expect([large.median, large.histogram]).toEqual([0, [1, 0, 0, 0, 0, 0, 0, 1]]);
});

test("many values: exact moments, a median near the true one, whatever the blocks", () => {
  const random = new Seeded();
  const values = Float64Array.from({ length: 300_000 }, () => 1e6 + random.uniform());
  for (let i = 0; i < 1000; i++) values[random.below(values.length)] = Number.NaN;
  const whole = statisticsOf(values)!;
  expect(statisticsOf(values, 77)).toEqual(whole);
  const finite = values.filter((value) => !Number.isNaN(value)).sort();
  const mean = finite.reduce((sum, value) => sum + (value - 1e6), 0) / finite.length + 1e6;
  const squares = finite.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  expect([whole.min, whole.max]).toEqual([finite[0], finite.at(-1)]);
  expect(whole.mean).toBeCloseTo(mean, 6);
  expect(whole.sd).toBeCloseTo(Math.sqrt(squares / (finite.length - 1)), 6);
  // Six standard deviations of the rank of a sample's median.
  const rank = finite.findIndex((value) => value >= whole.median) / finite.length;
  expect(Math.abs(rank - 0.5), `seed ${random.seed}`).toBeLessThan(0.14);
  for (const count of whole.histogram)
    expect(Math.abs(count / whole.histogram.reduce((sum, one) => sum + one) - 1 / 8)).toBeLessThan(0.1);
});

test("cells without a row do not count", () => {
  const statistics = new FactorStatistics(["f", "unwanted"]);
  const columns = new Map([
    ["f", Float64Array.of(1, 100, 3)],
    ["unwanted", null],
  ]);
  statistics.add({ rowCount: 1, times: BigInt64Array.of(0n), present: Uint8Array.of(1, 0, 1), columns });
  expect(statistics.rowCount).toBe(2);
  expect(statistics.results().get("f")).toMatchObject({ min: 1, max: 3, mean: 2 });
  expect(statistics.results().get("unwanted")).toBeNull();
});

test("a histogram is drawn with eight heights, and nothing for no value", () => {
  expect(histogramText([0, 1, 2, 3, 4, 5, 6, 7, 8, 100])).toBe(" ▁▁▁▁▁▁▁▁█");
  expect(histogramText([8, 4, 1])).toBe("█▄▁");
});

test("a narrow terminal has the columns that are wanted most; of many factors the emptiest come first", () => {
  const statistics = statisticsOf(Float64Array.of(1, 2, 4))!;
  const factors = Array.from({ length: 22 }, (_, i) => ({
    name: `f${i}`,
    nullCount: i,
    nonFiniteCount: 0,
    statistics: i === 21 ? null : statistics,
  }));
  const lines = (width: number, printsAll = false) =>
    statisticsTable(factors, 100, printsAll, width).split("\n");
  expect(lines(80)[0]).toBe("factor  coverage  nulls  min  median  max   mean     sd  histogram");
  expect(lines(30)[0]).toBe("factor  coverage  min  max");
  expect(lines(10)[0]).toBe("factor  coverage");
  for (const width of [40, 60, 80])
    for (const line of lines(width)) expect(line.length).toBeLessThanOrEqual(width);
  expect(lines(80).slice(1, 3)).toEqual([
    "f21       79.0 %     21",
    "f20       80.0 %     20    1       2    4  2.333  1.528  █ █    █",
  ]);
  expect(lines(80).at(-1)).toBe("… 2 factors with fewer nulls: --all");
  expect(lines(80, true)).toHaveLength(23);
});

test("columns of values are left out where no factor has statistics, as of results that workers write", () => {
  const factors = [{ name: "f", nullCount: 1, nonFiniteCount: 0, statistics: null }];
  expect(statisticsTable(factors, 4, false, 80)).toBe("factor  coverage  nulls\nf         75.0 %      1");
});
