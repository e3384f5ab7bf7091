/** CSV and JSON lines, a batch at a time. */
import { createGzip } from "node:zlib";
import type { Data, RecordBatch, Schema } from "apache-arrow";
import { formatTime } from "../time/time_text.ts";
import { isNullAt, type TableColumn, tableColumns } from "./table_columns.ts";
import type { TableEncoder } from "./table_encoder.ts";

/** How a format writes what is not null. */
interface TextStyle {
  readonly null: string;
  text(value: string): string;
  double(value: number): string;
  time(value: string): string;
  /** The first line, if there is one. */
  header(names: readonly string[]): string;
  /** What stands before each cell of a line. */
  before(names: readonly string[]): readonly string[];
  readonly end: string;
}

/** Doubles look like doubles: other programs guess types from the text. */
const CSV: TextStyle = {
  null: "",
  text: (value) => (value === "" || /[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value),
  double: (value) => {
    if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
    const digits = numberText(value);
    return Number.isInteger(value) && /^-?\d+$/.test(digits) ? `${digits}.0` : digits;
  },
  time: (value) => value.replace("Z", "+00"),
  header: (names) => `${names.map(CSV.text).join(",")}\n`,
  before: (names) => names.map((_, index) => (index === 0 ? "" : ",")),
  end: "\n",
};

/** JSON has no infinities: they are texts there. */
const JSON_LINES: TextStyle = {
  null: "null",
  text: (value) => JSON.stringify(value),
  double: (value) => (Number.isFinite(value) ? numberText(value) : value > 0 ? '"inf"' : '"-inf"'),
  time: (value) => JSON.stringify(value),
  header: () => "",
  before: (names) => names.map((name, index) => `${index === 0 ? "{" : ","}${JSON.stringify(name)}:`),
  end: "}\n",
};

/** The fewest digits that give the same double. */
function numberText(value: number): string {
  return Object.is(value, -0) ? "-0.0" : String(value);
}

/** Rows of a chunk of text. */
const CHUNK_ROWS = 1024;

/** @throws UsageError E528 for a column that the format cannot hold. */
const textEncoder =
  (style: TextStyle) =>
  (schema: Schema): TableEncoder => {
    const columns = tableColumns(schema);
    const names = columns.map(({ name }) => name);
    const before = style.before(names);
    function* lines({ numRows, data }: RecordBatch): Generator<Uint8Array> {
      const cells = columns.map((column, index) => cellTexts(column, data.children[index]!, style));
      for (let first = 0; first < numRows; first += CHUNK_ROWS) {
        let text = "";
        for (let row = first; row < Math.min(numRows, first + CHUNK_ROWS); row += 1) {
          for (const [index, cell] of cells.entries()) text += before[index]! + cell(row);
          text += style.end;
        }
        yield Buffer.from(text);
      }
    }
    return {
      batchCount: 1,
      begin: () => [style.header(names)].filter(Boolean).map((header) => Buffer.from(header)),
      encode: ([batch]) => lines(batch!),
      finish: () => [],
    };
  };

export const csvEncoder = textEncoder(CSV);
export const jsonLinesEncoder = textEncoder(JSON_LINES);

/** The text of each cell of a column of a batch. */
function cellTexts(column: TableColumn, data: Data, style: TextStyle): (row: number) => string {
  const cells = column.valuesOf(data);
  const { kind, time } = column;
  const { values, labels } = cells;
  if (labels !== null) {
    const texts = labels.map((label) => style.text(label));
    return (row) => (isNullAt(cells, row) ? style.null : texts[values[row] as number]!);
  }
  if (kind === "double") {
    return (row) => {
      const value = values[row] as number;
      return Number.isNaN(value) || isNullAt(cells, row) ? style.null : style.double(value);
    };
  }
  const textOf = (value: bigint) => (time === null ? String(value) : style.time(formatTime(value, time)));
  return (row) => (isNullAt(cells, row) ? style.null : textOf(BigInt(values[row]!)));
}

/** The bytes of CSV, gzipped. */
export function gzippedCsvEncoder(schema: Schema): TableEncoder {
  const encoder = csvEncoder(schema);
  const gzip = createGzip();
  const parts: Uint8Array[] = [];
  gzip.on("data", (part: Uint8Array) => parts.push(part));
  return {
    batchCount: 1,
    begin: () => {
      for (const part of encoder.begin()) gzip.write(part);
      return [];
    },
    async *encode(batches) {
      for await (const part of encoder.encode(batches)) {
        await new Promise((resolve) => gzip.write(part, resolve));
        yield* parts.splice(0);
      }
    },
    async *finish() {
      await new Promise((resolve) => gzip.on("end", resolve).end());
      yield* parts.splice(0);
    },
  };
}
