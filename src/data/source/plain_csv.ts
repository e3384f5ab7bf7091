/**
 * Reads small CSV files of plain cells without DuckDB, whose two dozen queries take 30 ms for a file of 20 rows; this takes
 * less than one. The panel is that of `openPanelSource`, which reads all files with quotes, text beside the keys, other
 * times, extra cells, repeated times and symbols, or any error.
 */
import { readFile, stat } from "node:fs/promises";
import type { Panel, TimeType } from "../../panel.ts";
import { findPanelKeys } from "../panel/key_columns.ts";

/** DuckDB is as fast for larger files. */
const BYTES_MAX = 256 * 1024;

/** Only ASCII without quotes; lines end in a line feed. */
const PLAIN = /^[\n !#-~]*$/;
const NUMBER = /^-?(0|[1-9]\d{0,14})(\.\d{1,15})?$/;
const SYMBOL = /^[A-Za-z0-9][\w.:=/^-]*$/;
const NAME = /^[A-Za-z]\w*$/;
const DAY_MS = 86_400_000;

interface TimeForm {
  readonly form: RegExp;
  readonly type: TimeType;
  /** Appended to the text to make it an instant for `Date`. */
  readonly rest: string;
  readonly valueOf: (ms: number) => bigint;
}

const TIME_FORMS: readonly TimeForm[] = [
  {
    form: /^(19|20)\d\d-\d\d-\d\d$/,
    type: { kind: "date" },
    rest: "T00:00:00",
    valueOf: (ms) => BigInt(ms / DAY_MS),
  },
  {
    form: /^(19|20)\d\d-\d\d-\d\d \d\d:\d\d:\d\d$/,
    type: { kind: "timestamp", unit: "us", timezone: null },
    rest: "",
    valueOf: (ms) => BigInt(ms) * 1_000n,
  },
];

/** The panel of a small and plain CSV file; null for a file that `openPanelSource` must read. */
export async function readPlainCsv(
  path: string,
  timeColumn: string | undefined,
  symbolColumn: string | undefined,
): Promise<Panel | null> {
  if (!/\.csv$/i.test(path) || (await stat(path)).size > BYTES_MAX) return null;
  const text = await readFile(path, "latin1");
  if (!PLAIN.test(text)) return null;
  const [header = "", ...lines] = text.replace(/\n$/, "").split("\n");
  const names = header.split(",");
  const rows = lines.map((line) => line.split(","));
  const isPlain =
    names.every((name) => NAME.test(name)) && rows.every(({ length }) => length === names.length);
  if (!isPlain || rows.length === 0) return null;
  let keys: ReturnType<typeof findPanelKeys>;
  try {
    keys = findPanelKeys(path, names, timeColumn, symbolColumn);
  } catch {
    return null;
  }
  return keys.time === keys.symbol ? null : panelOf(names, rows, keys.time, keys.symbol);
}

function panelOf(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  timeKey: number,
  symbolKey: number,
): Panel | null {
  const times = timesOf(rows.map((row) => row[timeKey]!));
  const symbols = [...new Set(rows.map((row) => row[symbolKey]!))].sort();
  if (times === null || !symbols.every((symbol) => SYMBOL.test(symbol))) return null;
  const laneOf = new Map(symbols.map((symbol, lane) => [symbol, lane]));
  const [rowCount, laneCount] = [times.values.length, symbols.length];
  const cells = rows.map((row) => times.rowOf.get(row[timeKey]!)! * laneCount + laneOf.get(row[symbolKey]!)!);
  if (new Set(cells).size < cells.length) return null;
  const present = new Uint8Array(rowCount * laneCount);
  for (const cell of cells) present[cell] = 1;
  const fields = new Map<string, Float64Array<SharedArrayBuffer>>();
  for (const [index, name] of names.entries()) {
    if (index === timeKey || index === symbolKey) continue;
    const column = new Float64Array(new SharedArrayBuffer(8 * rowCount * laneCount)).fill(Number.NaN);
    let hasValue = false;
    for (const [row, cell] of cells.entries()) {
      const text = rows[row]![index]!;
      if (text === "") continue;
      if (!NUMBER.test(text)) return null;
      column[cell] = Number(text);
      hasValue = true;
    }
    if (!hasValue) return null;
    fields.set(name, column);
  }
  const time = { name: names[timeKey]!, type: times.type, values: times.values };
  return { rowCount, laneCount, time, symbols, fields, groups: new Map(), present };
}

/** The distinct times, ascending, and the row of each text; null unless all have the same form and are real dates. */
function timesOf(texts: readonly string[]): {
  readonly type: TimeType;
  readonly values: BigInt64Array;
  readonly rowOf: ReadonlyMap<string, number>;
} | null {
  const form = TIME_FORMS.find((each) => each.form.test(texts[0]!));
  if (form === undefined) return null;
  // Texts of equal length sort like their times.
  const distinct = [...new Set(texts)].sort();
  const values = new BigInt64Array(distinct.length);
  for (const [row, text] of distinct.entries()) {
    if (!form.form.test(text)) return null;
    const ms = Date.parse(`${text}${form.rest}Z`);
    // `Date` reads the 31st of February as a day of March, and 24:00 as the next day.
    if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, text.length).replace("T", " ") !== text)
      return null;
    values[row] = form.valueOf(ms);
  }
  return { type: form.type, values, rowOf: new Map(distinct.map((text, row) => [text, row])) };
}
