import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compile, Engine, type Explanation, type Panel, type Program, readPanel } from "../../src/index.ts";
import { Seeded } from "../support/seeded.ts";
import { cases, trials } from "../support/trials.ts";

/**
 * The first cause of a null is one: with another input where `why` says it lies, the cell has that cause there no longer. What
 * is changed are fields in the window of the last step, and in rows before it that its inputs may read.
 */

const examples = join(import.meta.dirname, "../../examples");
/** How often other values are drawn: ranks of three instruments may stay equal. */
const DRAWS_MAX = 200;
/** As many rows before a window are changed at most. */
const ROWS_BEFORE_MAX = 256;
const FACTORS = 3;
let engine: Engine;
let panel: Panel;
beforeAll(async () => {
  engine = await Engine.start({ threads: 2 });
  panel = await readPanel(join(examples, "data/sp100_daily.csv.gz"), {
    groups: join(examples, "data/sp100_sectors.csv"),
  });
});
afterAll(async () => await engine.close());

interface Cell {
  readonly factor: string;
  readonly symbol: string;
  readonly time: string;
}

const dayOf = (value: bigint) => new Date(Number(value) * 86_400_000).toISOString().slice(0, 10);

/** Random cells that have a row and are null, of a few factors: `evaluate` of all of a set takes a second. */
async function nullCells(program: Program, count: number, random: Seeded): Promise<Cell[]> {
  const names = program.factors.map(({ name }) => name);
  const few = Array.from({ length: FACTORS }, () => names[random.below(names.length)]!);
  const { table } = await engine.evaluate(program, panel, { select: cases(few, names) });
  const [times, symbols] = [table.getChildAt(0)!, table.getChild("symbol")!];
  const withNulls = program.factors.filter(({ name }) => (table.getChild(name)?.nullCount ?? 0) > 0);
  if (withNulls.length === 0) return await nullCells(program, count, random);
  return Array.from({ length: count }, () => {
    const { name } = withNulls[random.below(withNulls.length)]!;
    const column = table.getChild(name)!;
    let row = random.below(table.numRows);
    while (column.get(row) !== null) row = (row + 1) % table.numRows;
    const time = new Date(Number(times.get(row))).toISOString().slice(0, 10);
    return { factor: name, symbol: String(symbols.get(row)), time };
  });
}

function copyOf(values: Float64Array): Float64Array<SharedArrayBuffer> {
  const copy = new Float64Array(new SharedArrayBuffer(values.byteLength));
  copy.set(values);
  return copy;
}

/** The panel where an instrument has other values from a row to another, and a row on each of them. */
function withOtherValues(symbol: string, first: number, last: number, random: Seeded): Panel {
  const lane = panel.symbols.indexOf(symbol);
  const present = panel.present.slice();
  const fields = new Map([...panel.fields].map(([name, values]) => [name, copyOf(values)] as const));
  // Up or down as far as changes the rank of the largest instrument, for some rows, then elsewhere.
  const levelOf = () => 6 * random.uniform() - 3;
  let level = levelOf();
  for (let row = first; row <= last; row++) {
    if (random.below(16) === 0) level = levelOf();
    const cell = row * panel.laneCount + lane;
    present[cell] = 1;
    for (const column of fields.values()) {
      const value = Number.isFinite(column[cell]!) ? column[cell]! : 100;
      column[cell] = (value === 0 ? 1 : value) * 10 ** (level + 2 * random.uniform() - 1);
    }
  }
  return { ...panel, fields, present };
}

/** The panel after a history of as many rows with the same values. */
function withHistory(): Panel {
  const { rowCount, time, fields, groups, present } = panel;
  const begin = time.values[0]! - time.values.at(-1)! - 1n;
  const times = BigInt64Array.from([...time.values.map((value) => value + begin), ...time.values]);
  const twice = (values: Float64Array) => {
    const both = new Float64Array(new SharedArrayBuffer(2 * values.byteLength));
    both.set(values);
    both.set(values, values.length);
    return both;
  };
  return {
    ...panel,
    rowCount: 2 * rowCount,
    time: { ...time, values: times },
    fields: new Map([...fields].map(([name, values]) => [name, twice(values)])),
    groups,
    present: Uint8Array.from([...present, ...present]),
  };
}

/** Whether the cell still has that first cause in that expression at that time. */
function isStill({ chain }: Explanation, before: Explanation): boolean {
  const [now, then] = [chain.at(-1), before.chain.at(-1)!];
  return now?.cause === then.cause && now.formula === then.formula && now.time === then.time;
}

/** The panels that change what the last step names: the longer history, or other values, drawn until one is found. */
function* changedPanels(found: Explanation, random: Seeded): Generator<Panel> {
  const { times } = found.chain.at(-1)!.window;
  // A window that begins with the panel may hold too few values because it is cut off there.
  const isCutOff = found.cause === "too_few_values" && times[0] === dayOf(panel.time.values[0]!);
  if (found.cause === "too_few_rows" || isCutOff) yield withHistory();
  if (found.cause === "too_few_rows") return;
  const days = Array.from(panel.time.values, dayOf);
  const [first, last] = [days.indexOf(times[0]!), days.indexOf(times.at(-1)!)];
  for (let draw = 0; draw < DRAWS_MAX; draw++) {
    // A mean of 50 days hardly changes with the last five: every second draw begins before the window.
    const before = draw % 2 === 0 ? 0 : Math.floor(ROWS_BEFORE_MAX ** random.uniform());
    yield withOtherValues(found.symbol, Math.max(first - before, 0), last, random);
  }
}

test.each([
  "alpha101",
  "alpha158",
  "gtja191",
])("the first causes of nulls of %s go where the input that is named changes", async (name) => {
  const random = new Seeded();
  const file = `${name}.factors`;
  const text = readFileSync(join(examples, file), "utf8");
  const program = compile(text, { file, groups: [...panel.groups.keys()] });
  for (const cell of await nullCells(program, trials(5, 300), random)) {
    const found = await engine.why(program, panel, cell);
    let isRemoved = false;
    for (const changed of changedPanels(found, random)) {
      isRemoved = !isStill(await engine.why(program, changed, cell), found);
      if (isRemoved) break;
    }
    expect(isRemoved, `seed ${random.seed}: ${JSON.stringify(cell)} ${found.cause}`).toBe(true);
  }
});
