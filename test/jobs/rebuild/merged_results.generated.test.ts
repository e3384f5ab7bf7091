import fc from "fast-check";
import { expect, test } from "vitest";
import type { FactorBlock } from "../../../src/data/factors/factor_batches.ts";
import { panelSource } from "../../../src/data/panel/panel_source.ts";
import { panelFrom } from "../../../src/data/source/panel_from.ts";
import { type MergeSpec, mergedResults } from "../../../src/jobs/rebuild/merged_results.ts";

const SYMBOLS = ["A", "B", "C", "D"];
const TIMES = 12;

/** Values of the columns by `time symbol`. */
type Table = ReadonlyMap<string, Readonly<Record<string, number>>>;

const VALUE = fc.oneof(
  fc.integer({ min: 0, max: 3 }),
  fc.constantFrom(Number.NaN, -0, Number.POSITIVE_INFINITY),
);
const CELLS = (columns: readonly string[], symbols = SYMBOLS, first = 0, end = TIMES) =>
  fc.uniqueArray(
    fc.record({
      time: fc.integer({ min: first, max: end - 1 }),
      symbol: fc.constantFrom(...symbols),
      values: fc.record(Object.fromEntries(columns.map((name) => [name, VALUE]))),
    }),
    { selector: ({ time, symbol }) => `${time}${symbol}`, maxLength: 40 },
  );

const tableOf = (cells: readonly { time: number; symbol: string; values: Record<string, number> }[]): Table =>
  new Map(cells.map(({ time, symbol, values }) => [`${time} ${symbol}`, values]));

async function* blocksOf(
  table: Table,
  columns: readonly string[],
  blockRows: number,
): AsyncGenerator<FactorBlock> {
  const times = [...new Set([...table.keys()].map((key) => Number(key.split(" ")[0])))].sort((a, b) => a - b);
  for (let row = 0; row < times.length; row += blockRows) {
    const own = times.slice(row, row + blockRows);
    const cells = own.flatMap((time) => SYMBOLS.map((symbol) => table.get(`${time} ${symbol}`)));
    yield {
      rowCount: own.length,
      times: BigInt64Array.from(own, BigInt),
      present: Uint8Array.from(cells, (cell) => (cell === undefined ? 0 : 1)),
      columns: new Map(
        columns.map((name) => [name, Float64Array.from(cells, (cell) => cell?.[name] ?? Number.NaN)]),
      ),
    };
  }
}

async function sourceOf(table: Table, columns: readonly string[]) {
  const rows = [...table].map(([key, values]) => {
    const [time, symbol] = key.split(" ") as [string, string];
    return { time: BigInt(time), symbol, ...values };
  });
  const source = panelSource(await panelFrom(rows));
  return {
    source,
    nameOf: new Map(columns.map((name) => [name, name])),
  };
}

async function merged(spec: MergeSpec): Promise<{ table: Table; differing: Set<number> }> {
  const table = new Map<string, Record<string, number>>();
  const differing = new Set<number>();
  let last = -1n;
  for await (const { rowCount, times, present, columns, differs } of mergedResults(spec))
    for (let row = 0; row < rowCount; row++) {
      const time = times[row]!;
      expect(time > last).toBe(true);
      last = time;
      if (differs[row] === 1) differing.add(Number(time));
      for (const [lane, symbol] of SYMBOLS.entries()) {
        const cell = row * SYMBOLS.length + lane;
        const values = Object.fromEntries([...columns].map(([name, column]) => [name, column[cell]!]));
        if (present[cell] === 1) table.set(`${time} ${symbol}`, values);
      }
    }
  return { table, differing };
}

const finite = (value: number | undefined, keepInfinite: boolean) =>
  value !== undefined && (keepInfinite || Number.isFinite(value)) ? value : Number.NaN;

test("evaluated rows replace those of their times, carried columns stay, and what differs is exactly what changed", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc
        .record({
          oldColumns: fc.subarray(["x", "y", "z"], { minLength: 1 }),
          evaluatedColumns: fc.subarray(["x", "y", "z"], { minLength: 1 }),
          range: fc
            .tuple(fc.nat(TIMES - 1), fc.nat(TIMES - 1))
            .map((pair) => pair.sort((a, b) => a - b) as [number, number]),
          keepInfinite: fc.boolean(),
          blockRows: fc.integer({ min: 1, max: 5 }),
        })
        .chain((shape) =>
          fc.tuple(
            fc.constant(shape),
            CELLS(shape.oldColumns, ["A", "B", "D"]),
            CELLS(shape.evaluatedColumns, SYMBOLS, shape.range[0], shape.range[1] + 1),
          ),
        ),
      async ([{ oldColumns, evaluatedColumns, range, keepInfinite, blockRows }, oldCells, newCells]) => {
        const [from, to] = range;
        const written = oldCells.map((cell) => ({
          ...cell,
          values: Object.fromEntries(
            Object.entries(cell.values).map(([name, value]) => [name, finite(value, keepInfinite)]),
          ),
        }));
        const [old, now] = [tableOf(written), tableOf(newCells)];
        const columns = ["x", "y", "z"];
        const { table, differing } = await merged({
          symbols: SYMBOLS,
          columns,
          old: old.size === 0 ? null : await sourceOf(old, oldColumns),
          evaluated: blocksOf(now, evaluatedColumns, blockRows),
          evaluatedColumns: new Set(evaluatedColumns),
          from: BigInt(from),
          to: BigInt(to),
          keepInfinite,
          blockRows,
        });
        const expected = new Map<string, Record<string, number>>();
        const changed = new Set<number>();
        for (let time = 0; time < TIMES; time++)
          for (const symbol of SYMBOLS) {
            const key = `${time} ${symbol}`;
            const isEvaluated = time >= from && time <= to;
            const [before, after] = [old.get(key), isEvaluated ? now.get(key) : old.get(key)];
            if (before === undefined && after === undefined) continue;
            const values = Object.fromEntries(
              columns.map((name) => {
                const isNew = isEvaluated && evaluatedColumns.includes(name);
                return [name, finite(isNew ? after?.[name] : before?.[name], keepInfinite)];
              }),
            );
            if (after !== undefined) expected.set(key, values);
            const isSame = columns.every(
              (name) => oldColumns.includes(name) && Object.is(values[name], before?.[name]),
            );
            if (before === undefined || after === undefined || !isSame) changed.add(time);
          }
        expect(new Map([...table].sort())).toEqual(new Map([...expected].sort()));
        expect([...differing]).toEqual([...changed]);
      },
    ),
    { numRuns: 300 },
  );
});
