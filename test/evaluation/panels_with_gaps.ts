import type { GroupColumn, Panel } from "../../src/panel.ts";
import { CONDITION_FIELDS, FIELDS, GROUPS } from "../conformance/awkward_panels.ts";
import { AWKWARD_NUMBERS } from "../conformance/awkward_series.ts";
import type { Seeded } from "../support/seeded.ts";

/** The field that is the same for all instruments, also for those without a row. */
export const SERIES = "w";

/** Bars of instruments that come later, vanish and have gaps, with nulls, ties, infinities and constants. */
export function panelWithGaps(random: Seeded, rowCount: number, laneCount: number): Panel {
  const present = presence(random, rowCount, laneCount);
  const cells = rowCount * laneCount;
  const fields = FIELDS.map((name) => {
    const column = new Float64Array(new SharedArrayBuffer(8 * cells)).fill(Number.NaN);
    for (let cell = 0; cell < cells; cell++) if (present[cell] === 1) column[cell] = cellOf(random, name);
    if (name === SERIES)
      for (let row = 0; row < rowCount; row++)
        column.fill(cellOf(random, name), row * laneCount, (row + 1) * laneCount);
    return [name, column] as const;
  });
  return {
    rowCount,
    laneCount,
    time: {
      name: "date",
      type: { kind: "date" },
      values: BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(row)),
    },
    symbols: Array.from({ length: laneCount }, (_, lane) => `S${String(lane).padStart(2, "0")}`),
    fields: new Map(fields),
    groups: new Map(GROUPS.map((name) => [name, groupOf(random, name, present, laneCount)])),
    present,
    seriesNames: [SERIES],
  };
}

/** Every row has at least one instrument; some instruments exist from the first row on. */
function presence(random: Seeded, rowCount: number, laneCount: number): Uint8Array {
  const present = new Uint8Array(rowCount * laneCount);
  for (let lane = 0; lane < laneCount; lane++) {
    const first = lane < 2 ? 0 : random.below(rowCount);
    const end = lane < 2 || random.uniform() < 0.6 ? rowCount : first + random.below(rowCount - first + 1);
    const gaps = [0, 0.1, 0.5][random.below(3)]!;
    for (let row = first; row < end; row++)
      present[row * laneCount + lane] = Number(lane === 0 || random.uniform() >= gaps);
  }
  return present;
}

function cellOf(random: Seeded, field: string): number {
  const drawn = random.uniform();
  if (drawn < 0.06) return Number.NaN;
  if (CONDITION_FIELDS.includes(field)) return Number(drawn < 0.5);
  if (field === "two") return 2;
  if (drawn < 0.14) return AWKWARD_NUMBERS[random.below(AWKWARD_NUMBERS.length)]!;
  return drawn < 0.5 ? random.below(4) : 100 * random.uniform() - 30;
}

/** `g` changes over time, `h` does not: it is known even for instruments without a row yet. */
function groupOf(random: Seeded, name: string, present: Uint8Array, laneCount: number): GroupColumn {
  const changesOverTime = name === "g";
  const length = changesOverTime ? present.length : laneCount;
  const codes = new Int32Array(new SharedArrayBuffer(4 * length));
  for (let i = 0; i < length; i++) codes[i] = changesOverTime && present[i] === 0 ? -1 : random.below(4) - 1;
  return { name, labels: ["a", "b", "c"], codes, changesOverTime };
}

/** The panel before its row `end` came: the earlier rows, with the instruments that they have. */
export function prefixOf(panel: Panel, end: number): Panel {
  const lanes = panel.symbols.flatMap((_, lane) => {
    for (let row = 0; row < end; row++) if (panel.present[row * panel.laneCount + lane] === 1) return [lane];
    return [];
  });
  return pick(panel, 0, end, lanes);
}

/** Some rows and lanes of a panel. */
export function pick(panel: Panel, first: number, end: number, lanes: readonly number[]): Panel {
  const { laneCount, time, symbols } = panel;
  const cells: number[] = [];
  for (let row = first; row < end; row++) for (const lane of lanes) cells.push(row * laneCount + lane);
  const fields = [...panel.fields].map(([name, values]) => {
    const column = new Float64Array(new SharedArrayBuffer(8 * cells.length));
    column.set(cells.map((cell) => values[cell]!));
    return [name, column] as const;
  });
  const groups = [...panel.groups].map(([name, group]) => {
    const from = group.changesOverTime ? cells : lanes;
    const codes = new Int32Array(new SharedArrayBuffer(4 * from.length));
    codes.set(from.map((at) => group.codes[at]!));
    return [name, { ...group, codes }] as const;
  });
  return {
    ...panel,
    rowCount: end - first,
    laneCount: lanes.length,
    time: { ...time, values: time.values.slice(first, end) },
    symbols: lanes.map((lane) => symbols[lane]!),
    fields: new Map(fields),
    groups: new Map(groups),
    present: Uint8Array.from(cells, (cell) => panel.present[cell]!),
  };
}
