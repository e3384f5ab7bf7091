import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import {
  Field,
  Float16,
  Float32,
  Float64,
  Int64,
  List,
  Table,
  tableFromIPC,
  Utf8,
  vectorFromArray,
} from "apache-arrow";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { readPanel } from "../../../src/data/source/read_panel.ts";
import { checkNamesDiffer, checkOutputPath } from "../../../src/data/write/output_format.ts";
import { writeTable } from "../../../src/data/write/write_table.ts";
import type { Panel, TimeType } from "../../../src/panel.ts";
import { factorTable } from "../../support/factor_table.ts";
import { trials } from "../../support/trials.ts";
import { messageOf, runSql, scratchPath, writeScratch } from "../scratch.ts";

const FORMATS = ["arrow", "feather", "parquet", "csv", "csv.gz"];

function panelOf(
  type: TimeType,
  times: readonly bigint[],
  symbols: readonly string[],
  values: readonly number[],
): Panel {
  return {
    rowCount: times.length,
    laneCount: symbols.length,
    time: { name: "time", type, values: BigInt64Array.from(times) },
    symbols,
    fields: new Map([["x", new Float64Array(new SharedArrayBuffer(values.length * 8))]]),
    groups: new Map(),
    present: Uint8Array.from(values, (value) => (value === 12 ? 0 : 1)),
  };
}

async function roundTrip(panel: Panel, values: readonly number[], extension: string): Promise<Panel> {
  const path = scratchPath(`trip.${extension}`);
  const { table } = await factorTable(panel, [{ name: "x", values: Float64Array.from(values) }], {
    keepInfinite: true,
  });
  await writeTable(table, path);
  return readPanel(path);
}

/** The bits of the values, all NaN alike. */
function bitsOf(values: Iterable<number>): bigint[] {
  return [
    ...new BigInt64Array(
      Float64Array.from(values, (value) => (Number.isNaN(value) ? Number.NaN : value)).buffer,
    ),
  ];
}

const ODD_VALUES = [
  0,
  -0,
  0.1,
  1e20,
  5e-324,
  1.7976931348623157e308,
  -1 / 3,
  Infinity,
  -Infinity,
  Number.NaN,
  2 ** 53 + 2,
  1e-7,
];
const ODD_SYMBOLS = [" a ", 'b "q", c', "d\ne", "É", "\u{1F600}", "\uFF21"].sort();

describe.each(FORMATS)("a .%s file", (extension) => {
  test("gives back the values bit by bit, nulls, infinities, odd symbols and gaps", async () => {
    const panel = panelOf({ kind: "date" }, [-1n, 18262n], ODD_SYMBOLS, ODD_VALUES);
    const again = await roundTrip(panel, ODD_VALUES, extension);
    expect(again.symbols).toEqual(ODD_SYMBOLS);
    expect(again.time).toEqual(panel.time);
    expect(bitsOf(again.fields.get("x")!)).toEqual(bitsOf(ODD_VALUES));
    expect([...again.present]).toEqual([...panel.present]);
  });

  test("has only the rows of the input", async () => {
    const values = [1, 12, 12, 4];
    const panel = panelOf({ kind: "date" }, [1n, 2n], ["A", "B"], values);
    const again = await roundTrip(panel, values, extension);
    expect([...again.present]).toEqual([1, 0, 0, 1]);
  });
});

describe("types of time", () => {
  const zones = [null, "UTC", "America/New_York", "+02:00"];
  const units = [
    ["s", 1388655000n],
    ["ms", 1388655000123n],
    ["us", 1388655000123456n],
    ["ns", 1388655000123456789n],
  ] as const;
  const timestamps = zones.flatMap((timezone) =>
    units.map(([unit, value]): [TimeType, bigint] => [{ kind: "timestamp", unit, timezone }, value]),
  );
  const types: [TimeType, bigint][] = [
    [{ kind: "date" }, 16072n],
    [{ kind: "integer", bits: 32 }, -7n],
    [{ kind: "integer", bits: 64 }, 9_007_199_254_740_993n],
    ...timestamps,
  ];

  test.each(types)("%o is kept by Arrow and Parquet", async (type, value) => {
    const panel = panelOf(type, [value, value + 1n], ["A"], [1, 2]);
    for (const extension of ["arrow", "parquet"]) {
      expect((await roundTrip(panel, [1, 2], extension)).time).toEqual(panel.time);
    }
  });

  test.each(types)("%o has the same instants in CSV", async (type, value) => {
    const panel = panelOf(type, [value], ["A"], [1]);
    const { time } = await roundTrip(panel, [1], "csv");
    if (type.kind !== "timestamp") {
      expect(time.values).toEqual(panel.time.values);
      expect(time.type.kind).toBe(type.kind);
      return;
    }
    const unit = type.unit === "ns" ? "ns" : "us";
    const perUnit = { s: 1_000_000n, ms: 1000n, us: 1n, ns: 1n }[type.unit];
    expect(time.type).toEqual({ kind: "timestamp", unit, timezone: type.timezone === null ? null : "UTC" });
    expect([...time.values]).toEqual([value * perUnit]);
  });
});

describe("what other programs see", () => {
  const panel = panelOf(
    { kind: "timestamp", unit: "ms", timezone: "America/New_York" },
    [1388655000000n, 1388655060000n],
    ["A", "B,"],
    [1, 2, 3, 4],
  );
  const factors = [
    { name: "x", values: Float64Array.of(1, Number.NaN, Infinity, 0.1) },
    { name: `odd "name", y`, values: null },
  ];
  let table: Table;
  beforeAll(async () => {
    ({ table } = await factorTable(panel, factors, { keepInfinite: true }));
  });

  test("CSV: shortest digits, empty cells for null, inf, quotes where needed", async () => {
    await writeTable(table, scratchPath("see.csv"));
    expect(readFileSync(scratchPath("see.csv"), "utf8")).toMatchInlineSnapshot(`
      "time,symbol,x,"odd ""name"", y"
      2014-01-02 09:30:00+00,A,1.0,
      2014-01-02 09:30:00+00,"B,",,
      2014-01-02 09:31:00+00,A,inf,
      2014-01-02 09:31:00+00,"B,",0.1,
      "
    `);
  });

  test("numbers of any width: empty cells for null and for NaN", async () => {
    const numbers = [1, null, Number.NaN, 2];
    const types = [new Float16(), new Float32(), new Float64()];
    const columns = types.map((type) => [String(type), vectorFromArray(numbers, type)]);
    await writeTable(new Table(Object.fromEntries(columns)), scratchPath("widths.csv"));
    const lines = readFileSync(scratchPath("widths.csv"), "utf8").split("\n");
    expect(lines.slice(1)).toEqual(["1.0,1.0,1.0", ",,", ",,", "2.0,2.0,2.0", ""]);
  });

  test("Parquet: ZSTD, names, types, nulls, and the Arrow schema beside them", async () => {
    const path = scratchPath("see.parquet");
    await writeTable(table, path);
    expect(await runSql(`SELECT column_name, column_type FROM (DESCRIBE FROM '${path}')`)).toEqual([
      ["time", "TIMESTAMP WITH TIME ZONE"],
      ["symbol", "VARCHAR"],
      ["x", "DOUBLE"],
      [`odd "name", y`, "DOUBLE"],
    ]);
    expect(await runSql(`SELECT x FROM '${path}'`)).toEqual([[1], [null], [Infinity], [0.1]]);
    expect(await runSql(`SELECT DISTINCT compression FROM parquet_metadata('${path}')`)).toEqual([["ZSTD"]]);
    expect(await runSql(`SELECT decode(key) FROM parquet_kv_metadata('${path}')`)).toEqual([
      ["ARROW:schema"],
    ]);
  });

  test("Arrow: an IPC file with the metadata of the factors", async () => {
    await writeTable(table, scratchPath("see.arrow"));
    const bytes = readFileSync(scratchPath("see.arrow"));
    expect(bytes.subarray(0, 6).toString()).toBe("ARROW1");
    const again = tableFromIPC(bytes);
    expect(again.schema.fields.map(String)).toEqual(table.schema.fields.map(String));
    expect(again.schema.fields[2]!.metadata).toEqual(new Map([["nonFinite", "1"]]));
    expect([...again.getChild("x")!]).toEqual([1, null, Infinity, 0.1]);
  });

  test.each(["arrow", "parquet", "csv"])("%s: the same bytes for the same table", async (extension) => {
    const bytes = [];
    for (const name of [`first.${extension}`, `second.${extension}`]) {
      await writeTable((await factorTable(panel, factors, { keepInfinite: true })).table, scratchPath(name));
      bytes.push(readFileSync(scratchPath(name)));
    }
    expect(bytes[0]!.equals(bytes[1]!)).toBe(true);
  });

  test("Parquet and CSV keep the order of a table of many batches", async () => {
    const times = Array.from({ length: 3000 }, (_, row) => BigInt(row));
    const values = Array.from({ length: 300_000 }, (_, cell) => cell);
    const symbols = Array.from({ length: 100 }, (_, lane) => `S${100 + lane}`);
    const large = panelOf({ kind: "integer", bits: 32 }, times, symbols, values);
    const { table: output } = await factorTable(large, [{ name: "x", values: Float64Array.from(values) }]);
    for (const extension of ["parquet", "csv"]) {
      const path = scratchPath(`large.${extension}`);
      await writeTable(output, path);
      const sql = `SELECT count(*) FILTER (x < before) FROM (SELECT x, lag(x) OVER () AS before FROM '${path}')`;
      expect(await runSql(sql)).toEqual([[0n]]);
    }
  });
});

test("any dense panel comes back with identical bits from every format", async () => {
  const numbers = fc.oneof(fc.double(), fc.constantFrom(0, -0, Infinity, -Infinity, Number.NaN));
  const cases = fc
    .record({
      times: fc.uniqueArray(fc.integer({ min: -100_000, max: 100_000 }), { minLength: 1, maxLength: 8 }),
      symbols: fc.uniqueArray(
        fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }).filter((text) => !text.includes("\0")),
        {
          minLength: 1,
          maxLength: 5,
        },
      ),
    })
    .chain(({ times, symbols }) => {
      const count = times.length * symbols.length;
      return fc.record({
        times: fc.constant(times.sort((a, b) => a - b).map(BigInt)),
        symbols: fc.constant(symbols.sort()),
        values: fc.array(numbers, { minLength: count, maxLength: count }),
      });
    });
  await fc.assert(
    fc.asyncProperty(
      cases,
      fc.constantFrom("arrow", "parquet", "csv"),
      async ({ times, symbols, values }, extension) => {
        const panel = {
          ...panelOf({ kind: "date" }, times, symbols, values),
          present: new Uint8Array(values.length).fill(1),
        };
        const again = await roundTrip(panel, values, extension);
        expect(again.time).toEqual(panel.time);
        expect(again.symbols).toEqual(symbols);
        expect(bitsOf(again.fields.get("x")!)).toEqual(bitsOf(values));
      },
    ),
    { numRuns: trials(10, 30) },
  );
});

describe("the output path", () => {
  const table = new Table({
    time: vectorFromArray([1n], new Int64()),
    symbol: vectorFromArray(["A"], new Utf8()),
  });

  test("may have quotes, spaces and brackets, and a file that is there is replaced", async () => {
    for (const name of ['it\'s a "b" [1]*.csv', "it's a [1].parquet", "it's.arrow"]) {
      writeScratch(name, "old");
      await writeTable(table, scratchPath(name));
      expect((await readPanel(scratchPath(name))).symbols).toEqual(["A"]);
    }
  });

  test.each([
    ["out.xlsx", "E544 out.xlsx: this kind of output is not known"],
    ["out", "E544 out: this kind of output is not known"],
    ["none/out.csv", "E544 none/out.csv: there is no folder none"],
    ["folder.csv", "E544 folder.csv: cannot be written (it is a folder)"],
    ["file.txt/out.csv", "E544 file.txt/out.csv: cannot be written (file.txt is not a folder)"],
  ])("%s is refused", async (name, expected) => {
    mkdirSync(scratchPath("folder.csv"), { recursive: true });
    writeScratch("file.txt", "");
    const message = await messageOf(checkOutputPath(scratchPath(name)));
    expect(message.split("\n")[0]).toBe(`UsageError: ${expected}`);
    expect(await messageOf(writeTable(table, scratchPath(name)))).toBe(message);
  });

  test("may be a symbolic link, also to a file that is not there yet", async () => {
    const folder = scratchPath("elsewhere");
    mkdirSync(folder, { recursive: true });
    symlinkSync(join("elsewhere", "target.csv"), scratchPath("link.csv"));
    for (let time = 0; time < 2; time++) {
      await writeTable(table, scratchPath("link.csv"));
      expect(lstatSync(scratchPath("link.csv")).isSymbolicLink()).toBe(true);
      expect(readdirSync(folder)).toEqual(["target.csv"]);
    }
  });
  test("is refused for names that differ only by case, unless the format is Arrow", async () => {
    const names = ["time", "symbol", "x", "X"];
    const check = (file: string, format: "csv" | "arrow") =>
      messageOf(() => checkNamesDiffer(file, format, names));
    expect(await check("out.csv", "csv")).toMatchInlineSnapshot(`
      "DataError: E314 out.csv: the output columns "x" and "X" differ only by case, which this format cannot hold
        rename one factor, or write .arrow"
    `);
    expect(await check("out.arrow", "arrow")).toBe("no error");
  });

  test("a failure leaves no temporary file and the old file as it was", async () => {
    const path = writeScratch("kept.csv", "old");
    const before = readdirSync(scratchPath("")).sort();
    const type = new List(new Field("item", new Utf8()));
    const unusable = new Table({ x: vectorFromArray([["A"]], type) });
    expect(await messageOf(writeTable(unusable, path))).toContain(
      'UsageError: E528 writing takes columns of times, text and numbers, got "x" of type List<Utf8>',
    );
    expect(readdirSync(scratchPath("")).sort()).toEqual(before);
    expect(readFileSync(path, "utf8")).toBe("old");
  });

  test("a failure of the file system is an error of the environment", async () => {
    expect(await messageOf(writeTable(table, "/proc/out.csv"))).toMatch(
      /^(ResourceError: E442|UsageError: E544) \/proc\/out.csv: cannot be written/,
    );
    expect(await messageOf(writeTable(table, "/proc/out.arrow"))).toMatch(
      /^(ResourceError: E442|UsageError: E544) \/proc\/out.arrow: cannot be written/,
    );
  });
});
