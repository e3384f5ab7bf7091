import { describe, expect, test } from "vitest";
import { diffResults } from "../../src/difference/result_difference.ts";
import type { Panel } from "../../src/panel.ts";

/** Numbers in 0..1 from a seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const LANES = ["A", "B", "C", "D"];
const FACTORS = ["x", "y", "z"];
const ROWS = 30;

interface Cell {
  readonly row: number;
  readonly symbol: string;
  readonly values: Map<string, number>;
}

/** A panel of these cells, dense over the times and symbols that they have. */
function panelOf(cells: readonly Cell[], factors: readonly string[]): Panel {
  const times = [...new Set(cells.map(({ row }) => row))].sort((a, b) => a - b);
  const symbols = [...new Set(cells.map(({ symbol }) => symbol))].sort();
  const size = times.length * symbols.length;
  const fields = new Map(
    factors.map((name) => [name, new Float64Array(new SharedArrayBuffer(8 * size)).fill(Number.NaN)]),
  );
  const present = new Uint8Array(size);
  for (const { row, symbol, values } of cells) {
    const cell = times.indexOf(row) * symbols.length + symbols.indexOf(symbol);
    present[cell] = 1;
    for (const [name, column] of fields) column[cell] = values.get(name) as number;
  }
  const time = {
    name: "time",
    type: { kind: "integer", bits: 64 },
    values: BigInt64Array.from(times, BigInt),
  } as const;
  const [rowCount, laneCount] = [times.length, symbols.length];
  return { rowCount, laneCount, time, symbols, fields, groups: new Map(), present };
}

function cellsOf(random: () => number): Cell[] {
  return Array.from({ length: ROWS * LANES.length }, (_, index) => ({
    row: Math.floor(index / LANES.length),
    symbol: LANES[index % LANES.length] as string,
    values: new Map(FACTORS.map((name) => [name, random() < 0.1 ? Number.NaN : 1 + random()])),
  })).filter(() => random() < 0.8);
}

const copyOf = (cells: readonly Cell[]) => cells.map((cell) => ({ ...cell, values: new Map(cell.values) }));
const diffCells = (a: readonly Cell[], b: readonly Cell[], tolerance = 0, factorsOfB = FACTORS) =>
  diffResults(panelOf(a, FACTORS), panelOf(b, factorsOfB), { tolerance });

const seeds = Array.from({ length: 40 }, (_, seed) => seed + 1);

describe("generated results", () => {
  test.each(seeds)("exactly what was changed is reported, seed %i", async (seed) => {
    const random = randomOf(seed);
    const cells = cellsOf(random);
    expect(await diffCells(cells, copyOf(cells))).toMatchObject({ isSame: true, rowCount: cells.length });

    const name = FACTORS[Math.floor(random() * FACTORS.length)] as string;
    const changed = copyOf(cells);
    const touched: Cell[] = [];
    let nullCount = 0;
    for (const cell of changed) {
      if (random() >= 0.1) continue;
      const before = cell.values.get(name) as number;
      const isToNull = random() < 0.3;
      // Values are in 1..2, where neighbouring doubles are Number.EPSILON apart.
      const after = isToNull || Number.isNaN(before) ? 1.5 : before - 3 * Number.EPSILON;
      cell.values.set(name, isToNull && !Number.isNaN(before) ? Number.NaN : after);
      if (isToNull || Number.isNaN(before)) nullCount++;
      touched.push(cell);
    }
    const found = await diffCells(cells, changed);
    expect(found.isSame).toBe(touched.length === 0);
    expect(found.differences.map((one) => [one.name, one.cellCount, one.nullCount])).toEqual(
      touched.length === 0 ? [] : [[name, touched.length, nullCount]],
    );
    const [difference] = found.differences;
    if (difference) {
      const { time, symbol } = difference.first;
      expect([time, symbol]).toEqual([String(touched[0]?.row), touched[0]?.symbol]);
      const hasDistance = nullCount < touched.length;
      expect(difference.absoluteMax).toBe(hasDistance ? 3 * Number.EPSILON : 0);
      expect(difference.ulpMax).toBe(hasDistance ? 3 : 0);
      expect(difference.relativeMax > 0).toBe(hasDistance);
    }
    const tolerated = await diffCells(cells, changed, 1e-12);
    expect(tolerated.differences.map(({ cellCount }) => cellCount)).toEqual(
      nullCount === 0 ? [] : [nullCount],
    );
  });

  test.each(seeds)("rows and factors of one side are counted apart, seed %i", async (seed) => {
    const random = randomOf(seed);
    const cells = cellsOf(random);
    const without = LANES[seed % LANES.length];
    const a = cells.filter(() => random() < 0.7);
    const b = cells.filter(({ symbol }) => symbol !== without && random() < 0.7);
    const both = a.filter((cell) => b.includes(cell)).length;
    expect(await diffCells(a, b, 0, ["w", "x"])).toMatchObject({
      compared: ["x"],
      onlyInA: ["y", "z"],
      onlyInB: ["w"],
      rowCount: both,
      rowsOnlyInA: a.length - both,
      rowsOnlyInB: b.length - both,
      differences: [],
      isSame: false,
    });
  });
});

const one = (value: number): Cell[] => [{ row: 0, symbol: "A", values: new Map([["x", value]]) }];

test.each([
  [0, -0, 0, false],
  [0, -0, 1e-300, true],
  [Number.POSITIVE_INFINITY, 1, 1e300, false],
  [Number.NaN, 1, 1e300, false],
  [Number.NaN, Number.NaN, 0, true],
  [1, 1.25, 0.1, false],
  [1, 1.25, 0.125, true],
])("%d and %d with tolerance %d: %s", async (a, b, tolerance, isSame) => {
  const [left, right] = [one(a), one(b)].map((cells) => panelOf(cells, ["x"]));
  expect((await diffResults(left!, right!, { tolerance })).isSame).toBe(isSame);
});

test("a factor that is text in one of the two is named", async () => {
  const texts = {
    name: "x",
    labels: ["1,5"],
    codes: new Int32Array(new SharedArrayBuffer(4)),
    changesOverTime: true,
  };
  const numbers = panelOf(one(1), ["x"]);
  const other = { ...numbers, fields: new Map(), groups: new Map([["x", texts]]) };
  const message = (which: string) =>
    `E386 the two results have no factor in common\n  x of the ${which} is a column of text`;
  await expect(diffResults(numbers, other)).rejects.toThrow(message("second"));
  await expect(diffResults(other, numbers)).rejects.toThrow(message("first"));
});

test("results without a common row are refused", async () => {
  const late = one(1).map((cell) => ({ ...cell, row: 1 }));
  await expect(diffCells(one(1), late)).rejects.toThrow("E386 the two results have no row in common");
});
