import type { GroupColumn, Panel } from "../../src/panel.ts";
import { AWKWARD_NUMBERS, awkwardSeries, garbage, hashed } from "./awkward_series.ts";

/** Numeric fields: those with a seed hold every awkward series; `k` is 0, 1 or null; `two` is 2 everywhere. */
const SEEDS: Readonly<Record<string, number>> = { x: 1, y: 2, z: 3, v: 4, w: 5 };
export const SERIES_FIELDS: readonly string[] = Object.keys(SEEDS);
export const CONDITION_FIELDS: readonly string[] = ["k", "m", "n"];
export const NUMBER_FIELD = "two";
export const FIELDS: readonly string[] = [...SERIES_FIELDS, ...CONDITION_FIELDS, NUMBER_FIELD];
/** `g` changes over time and has nulls; `h` does not change. */
export const GROUPS: readonly string[] = ["g", "h"];

const SERIES_NAMES = Object.keys(awkwardSeries(0));
/** Lanes on which y, z, ... equal x. */
const TWIN_LANES = 3;

export const HISTORY_ROWS = 24;
/** Rows of garbage before the rows that count. */
export const GARBAGE_ROWS = 6;

type Cells = (field: string, row: number, lane: number) => number;

/** Panel from a rule for cells; groups as the comment on `GROUPS` says. */
export function panelFrom(rowCount: number, laneCount: number, cells: Cells): Panel {
  const cellCount = rowCount * laneCount;
  const fields = new Map(
    FIELDS.map((name) => {
      const column = new Float64Array(new SharedArrayBuffer(cellCount * 8));
      for (let i = 0; i < cellCount; i++) column[i] = cells(name, Math.floor(i / laneCount), i % laneCount);
      return [name, column];
    }),
  );
  const changing = (i: number) =>
    Math.floor(hashed(11, (i % laneCount) + 7 * Math.floor(i / laneCount / 6)) * 4) - 1;
  const groups = [
    groupColumn(
      "g",
      Int32Array.from({ length: cellCount }, (_, i) => changing(i)),
      true,
    ),
    groupColumn(
      "h",
      Int32Array.from({ length: laneCount }, (_, lane) => (lane % 4) - Number(lane === 5)),
      false,
    ),
  ];
  return assemble(rowCount, laneCount, fields, groups);
}

function groupColumn(name: string, codes: Int32Array, changesOverTime: boolean): GroupColumn {
  const shared = new Int32Array(new SharedArrayBuffer(codes.length * 4));
  shared.set(codes);
  return { name, labels: ["a", "b", "c", "d"], codes: shared, changesOverTime };
}

function assemble(
  rowCount: number,
  laneCount: number,
  fields: ReadonlyMap<string, Float64Array<SharedArrayBuffer>>,
  groups: readonly GroupColumn[],
): Panel {
  return {
    rowCount,
    laneCount,
    time: {
      name: "date",
      type: { kind: "date" },
      values: BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(row)),
    },
    symbols: Array.from({ length: laneCount }, (_, lane) => `L${String(lane).padStart(3, "0")}`),
    fields,
    groups: new Map(groups.map((group) => [group.name, group])),
    present: new Uint8Array(rowCount * laneCount).fill(1),
  };
}

function cellOf(field: string, series: number, index: number): number {
  if (field === NUMBER_FIELD) return 2;
  const condition = CONDITION_FIELDS.indexOf(field);
  if (condition >= 0) {
    const drawn = hashed(condition + 20, index + 100 * series);
    return drawn < 0.1 && series % 3 === 0 ? Number.NaN : Number(drawn < 0.55);
  }
  // Fields meet in other pairs of series, but on the twin lanes.
  const seed = series < SERIES_NAMES.length ? SEEDS[field]! : 1;
  const shift = series < SERIES_NAMES.length ? (seed - 1) * 4 : 0;
  const name = SERIES_NAMES[(series + shift) % SERIES_NAMES.length]!;
  return awkwardSeries(seed)[name]!(index);
}

/** Awkward series down the lanes, after `GARBAGE_ROWS` rows of garbage. */
const withGarbage = panelFrom(
  GARBAGE_ROWS + HISTORY_ROWS,
  SERIES_NAMES.length + TWIN_LANES,
  (field, row, lane) => {
    const index = row - GARBAGE_ROWS;
    if (index >= 0) return cellOf(field, lane, index);
    if (CONDITION_FIELDS.includes(field)) return Number(row % 2 === 0);
    return field === NUMBER_FIELD ? 2 : garbage(SEEDS[field]!, row * 31 + lane);
  },
);

export const range = (end: number, start = 0): number[] =>
  Array.from({ length: end - start }, (_, i) => start + i);

/** In x and y all pairs of awkward numbers meet, in z and further fields any of them. */
const pairs = panelFrom(AWKWARD_NUMBERS.length, AWKWARD_NUMBERS.length, (field, row, lane) => {
  const place = { x: row, y: lane }[field];
  if (place !== undefined) return AWKWARD_NUMBERS[place]!;
  const cell = row * AWKWARD_NUMBERS.length + lane;
  if (!SERIES_FIELDS.includes(field)) return cellOf(field, lane, row);
  return AWKWARD_NUMBERS[Math.floor(hashed(SEEDS[field]!, cell) * AWKWARD_NUMBERS.length)]!;
});

export const panels = {
  withGarbage,
  /** Awkward series down the lanes. */
  history: pickCells(
    withGarbage,
    range(GARBAGE_ROWS + HISTORY_ROWS, GARBAGE_ROWS),
    range(withGarbage.laneCount),
  ),
  /** Awkward series across the lanes, one a row. */
  rows: panelFrom(SERIES_NAMES.length + TWIN_LANES, 9, (field, row, lane) => cellOf(field, row, lane + 3)),
  pairs,
};

/** The panel of chosen rows and lanes, in the order given. */
export function pickCells(panel: Panel, rows: readonly number[], lanes: readonly number[]): Panel {
  const cells = rows.flatMap((row) => lanes.map((lane) => row * panel.laneCount + lane));
  const fields = new Map(
    [...panel.fields].map(([name, column]) => {
      const picked = new Float64Array(new SharedArrayBuffer(cells.length * 8));
      cells.forEach((cell, i) => {
        picked[i] = column[cell]!;
      });
      return [name, picked];
    }),
  );
  const groups = [...panel.groups.values()].map((group) => {
    const picked = (group.changesOverTime ? cells : lanes).map((i) => group.codes[i]!);
    const codes = new Int32Array(new SharedArrayBuffer(picked.length * 4));
    codes.set(picked);
    return { ...group, codes };
  });
  return assemble(rows.length, lanes.length, fields, groups);
}

/** The panel with other cells where the rule gives a number for a cell of a series field. */
export function replaceCells(
  panel: Panel,
  rule: (row: number, lane: number, field: string) => number | undefined,
): Panel {
  const fields = new Map(
    [...panel.fields].map(([name, column]) => {
      const replaced = new Float64Array(new SharedArrayBuffer(column.length * 8));
      column.forEach((value, i) => {
        const isSeries = SERIES_FIELDS.includes(name);
        const other = isSeries ? rule(Math.floor(i / panel.laneCount), i % panel.laneCount, name) : undefined;
        replaced[i] = other ?? value;
      });
      return [name, replaced];
    }),
  );
  return { ...panel, fields };
}

/** The code of the group of a cell, -1 for null. */
export function groupCode(panel: Panel, group: string, row: number, lane: number): number {
  const { codes, changesOverTime } = panel.groups.get(group)!;
  return codes[changesOverTime ? row * panel.laneCount + lane : lane]!;
}
