import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Table } from "apache-arrow";
import {
  type Bar,
  type Engine,
  type LiveSession,
  type OpenOptions,
  type Panel,
  type Program,
  readCheckpoint,
  writeCheckpoint,
} from "../../src/index.ts";
import type { Seeded } from "../support/seeded.ts";
import { compiled, FIELDS, type ProgramText, RandomPrograms } from "./random_programs.ts";

type Params = Readonly<Record<string, number>>;
type Priorities = Readonly<Record<string, number>>;

const SYMBOLS = ["E", "B", "D", "A", "C", "F", "G"];
const FIRST_SYMBOLS = 4;
const SECTORS = { A: "x", B: "y", C: "x", D: "x", E: "y", F: "y", G: null };
const TIME = { name: "minute", type: { kind: "integer", bits: 64 } } as const;

/** A row that stands: its bar, the params that it was run with, and what the session gave for it. */
interface PushedRow {
  readonly bar: Bar;
  readonly params: Params;
  readonly program: ProgramText;
  readonly short: ReadonlySet<string>;
  /** For each factor the bits of each symbol, null for a row of the warm-up. */
  readonly values: ReadonlyMap<string, string> | null;
}

/** How often params change, and how much they decide. */
export interface LifeHabits {
  readonly conditionShare: number;
  /** One of these shares of pushes, drawn for each life, has other params than the push before. */
  readonly changeShares: readonly number[];
  /** Most bars of one push. */
  readonly barsMost: number;
}

export interface LifeCounts {
  cells: number;
  /** Nodes that pushes left out. */
  pruned: number;
  readonly steps: Map<string, number>;
  readonly short: Set<string>;
  factors: number;
}

/** A session to which random things happen, and what it has to give. */
export class RandomLife {
  readonly #random: Seeded;
  readonly #engines: readonly Engine[];
  readonly #folder: string;
  readonly #counts: LifeCounts;
  readonly #programs: RandomPrograms;
  readonly #retainRows: number | undefined;
  readonly #barsMost: number;
  readonly #changeShare: number;
  #given: Params | null = null;
  #rows: PushedRow[] = [];
  #session!: LiveSession;
  #text: ProgramText;
  #program: Program;
  #opening: Params = {};
  #priorities: Priorities = {};
  #short: ReadonlySet<string> = new Set();
  #symbolCount = FIRST_SYMBOLS;
  #isRevisable = false;

  constructor(
    random: Seeded,
    engines: readonly Engine[],
    folder: string,
    counts: LifeCounts,
    { conditionShare, changeShares, barsMost }: LifeHabits,
  ) {
    this.#random = random;
    this.#engines = engines;
    this.#folder = folder;
    this.#counts = counts;
    this.#programs = new RandomPrograms(random, conditionShare);
    this.#barsMost = barsMost;
    this.#changeShare = changeShares[random.below(changeShares.length)]!;
    this.#retainRows = random.uniform() < 0.3 ? undefined : random.below(70);
    this.#text = this.#programs.program();
    this.#program = compiled(this.#text);
  }

  async run(): Promise<void> {
    const warmUpRows = this.#retainRows === undefined ? 250 + this.#random.below(80) : this.#random.below(90);
    const bars = Array.from({ length: warmUpRows }, (_, row) =>
      this.#bar(row, SYMBOLS.slice(0, FIRST_SYMBOLS)),
    );
    await this.#open({
      symbols: SYMBOLS.slice(0, FIRST_SYMBOLS),
      groups: { sector: SECTORS },
      ...(bars.length > 0 ? { warmup: panelOf(bars) } : {}),
      time: TIME,
    });
    for (const bar of bars) this.#note(bar, this.#resolved({}), null);
    for (let step = 10 + this.#random.below(15); step > 0; step--) await this.#step();
    await this.#push(1 + this.#random.below(8));
    await this.#session.close();
    await this.#compare();
  }

  async #open(options: OpenOptions, engine = this.#engines[0]!): Promise<void> {
    this.#isRevisable = this.#random.uniform() < 0.6;
    this.#session = await engine.open(this.#program, {
      revisable: this.#isRevisable,
      retainRows: this.#retainRows,
      priorities: this.#priorities,
      spareSymbols: SYMBOLS.length - FIRST_SYMBOLS,
      catchUp: this.#random.uniform() < 0.3 ? "idle" : "on_demand",
      ...options,
    });
  }

  async #step(): Promise<void> {
    const [name, step] = STEPS[this.#random.below(STEPS.length)]!;
    if (await step(this)) this.#counts.steps.set(name, (this.#counts.steps.get(name) ?? 0) + 1);
  }

  async pushOne(): Promise<boolean> {
    await this.#push(1);
    return true;
  }

  async pushSome(): Promise<boolean> {
    const { params, given } = this.#params();
    const bars = Array.from({ length: 2 + this.#random.below(this.#barsMost - 1) }, (_, index) =>
      this.#bar(this.#rows.length + index),
    );
    const shown = bars.map((bar) => this.#shown(bar));
    const { table, timing } = await this.#session.push(shown, given ? { params: given } : {});
    this.#counts.pruned += timing.nodesPruned;
    for (const bar of bars) this.#note(bar, params, valuesOf(table, bar));
    return true;
  }

  async revise(): Promise<boolean> {
    const last = this.#rows.at(-1);
    if (!this.#isRevisable || !last?.values) return false;
    await this.#push(1);
    const times = 1 + this.#random.below(2);
    for (let time = 0; time < times; time++) {
      const { params, given } = this.#params();
      this.#rows.pop();
      const bar = this.#bar(this.#rows.length);
      const { table } = await this.#session.revise(this.#shown(bar), given ? { params: given } : {});
      this.#note(bar, params, valuesOf(table, bar));
    }
    return true;
  }

  /** A push that is aborted has not been there, unless it has come too far. */
  async pushCutOff(): Promise<boolean> {
    const bar = this.#bar(this.#rows.length);
    const abort = new AbortController();
    const pushing = this.#session.push(this.#shown(bar), { signal: abort.signal });
    const settled = pushing.then(({ table }) => table, noTableIfAborted);
    for (let turn = this.#random.below(4); turn > 0; turn--)
      await new Promise<void>((resolve) => setImmediate(resolve));
    abort.abort();
    const table = await settled;
    if (table) this.#note(bar, this.#resolved({}), valuesOf(table, bar));
    return table === null;
  }

  /** The bar before a push that was aborted is the newest still. */
  async reviseBehindCut(): Promise<boolean> {
    if (!this.#isRevisable) return false;
    await this.#push(1);
    if (!(await this.pushCutOff())) return false;
    const { params, given } = this.#params();
    const bar = this.#bar(this.#rows.length - 1);
    const { table } = await this.#session.revise(this.#shown(bar), given ? { params: given } : {});
    this.#rows.pop();
    this.#note(bar, params, valuesOf(table, bar));
    return true;
  }

  async addSymbol(): Promise<boolean> {
    if (this.#symbolCount === SYMBOLS.length) return false;
    await this.#session.addSymbols([SYMBOLS[this.#symbolCount++]!]);
    return true;
  }

  async restoreElsewhere(): Promise<boolean> {
    const path = join(this.#folder, "life.checkpoint");
    await writeCheckpoint(path, await this.#session.checkpoint());
    await this.#session.close();
    await this.#open({ checkpoint: await readCheckpoint(path) }, this.#engines[this.#random.below(2)]);
    return true;
  }

  async restoreInPlace(): Promise<boolean> {
    const checkpoint = await this.#session.checkpoint();
    const [rows, symbolCount] = [this.#rows.length, this.#symbolCount];
    await this.#push(this.#random.below(12));
    await this.#session.restore(checkpoint);
    this.#rows.length = rows;
    this.#symbolCount = symbolCount;
    return true;
  }

  async updateUnchanged(): Promise<boolean> {
    return await this.#update(this.#text, {}, true);
  }

  async updateParams(): Promise<boolean> {
    return await this.#update(this.#text, { params: { q: this.#random.below(4) } }, true);
  }

  async updatePriorities(): Promise<boolean> {
    const names = this.#program.factors.map(({ name }) => name);
    const given = names.filter(() => this.#random.uniform() < 0.5);
    this.#priorities = Object.fromEntries(given.map((name) => [name, this.#random.below(4)]));
    return await this.#update(this.#text, { priorities: this.#priorities }, this.#retainRows === undefined);
  }

  async updateChanged(): Promise<boolean> {
    const text = this.#programs.changed(this.#text);
    const isReordered = new Set(text.factors).symmetricDifference(new Set(this.#text.factors)).size === 0;
    return await this.#update(text, {}, isReordered && this.#retainRows === undefined);
  }

  async updateBackAndForth(): Promise<boolean> {
    const before = this.#text;
    await this.updateChanged();
    await this.#push(this.#random.below(15));
    return await this.#update(before, {}, false);
  }

  /** @param mayShorten false where factors that are not short may not become so */
  async #update(
    text: ProgramText,
    options: { params?: Params; priorities?: Priorities },
    isKept: boolean,
  ): Promise<boolean> {
    const before = this.#short;
    this.#text = text;
    this.#program = compiled(text);
    const names = new Set(this.#program.factors.map(({ name }) => name));
    this.#opening = { ...this.#opening, ...options.params };
    this.#priorities = Object.fromEntries(
      Object.entries(this.#priorities).filter(([name]) => names.has(name)),
    );
    const { shortOfHistory } = await this.#session.update(this.#program, options);
    this.#short = new Set(shortOfHistory);
    for (const name of shortOfHistory) {
      this.#counts.short.add(name);
      if (isKept && !before.has(name))
        throw new Error(`${name} is short after an update that changes nothing\n${text.factors.join("\n")}`);
    }
    return true;
  }

  async #push(count: number): Promise<void> {
    for (let one = 0; one < count; one++) {
      const { params, given } = this.#params();
      const bar = this.#bar(this.#rows.length);
      const { table, timing } = await this.#session.push(this.#shown(bar), given ? { params: given } : {});
      this.#counts.pruned += timing.nodesPruned;
      this.#note(bar, params, valuesOf(table, bar));
    }
  }

  #params(): { params: Params; given: Params | null } {
    if (this.#random.uniform() < this.#changeShare) {
      const isGiven = this.#random.uniform() < 0.5;
      this.#given = isGiven ? { p: this.#random.below(3), q: this.#random.below(5) / 2 } : null;
    }
    return { params: this.#resolved(this.#given ?? {}), given: this.#given };
  }

  #resolved(given: Params): Params {
    return { ...this.#text.params, ...this.#opening, ...given };
  }

  #note(bar: Bar, params: Params, values: ReadonlyMap<string, string> | null): void {
    this.#rows.push({ bar, params, program: this.#text, short: this.#short, values });
  }

  #bar(row: number, symbols: readonly string[] = this.#someSymbols()): Bar {
    const fields = FIELDS.map((name) => [name, symbols.map(() => this.#value(name))] as const);
    return { time: BigInt(row), fields: Object.fromEntries(fields), symbols };
  }

  /** The same bar; now and then it does not say which symbols it has, and the others are without a value. */
  #shown(bar: Bar): Bar {
    if (this.#random.uniform() < 0.7) return bar;
    const known = SYMBOLS.slice(0, this.#symbolCount);
    const ofKnown = (values: Bar["fields"][string]) =>
      known.map((symbol) => values[bar.symbols!.indexOf(symbol)] ?? null);
    const fields = Object.entries(bar.fields).map(([name, values]) => [name, ofKnown(values)] as const);
    return { time: bar.time, fields: Object.fromEntries(fields) };
  }

  #someSymbols(): readonly string[] {
    const known = SYMBOLS.slice(0, this.#symbolCount);
    if (this.#random.uniform() < 0.7) return known;
    const some = known.filter(() => this.#random.uniform() < 0.7);
    return some.length > 0 ? some.toReversed() : known;
  }

  /** Now and then a null or a tie; sums are not whole. */
  #value(field: string): number | null {
    if (this.#random.uniform() < 0.03) return null;
    if (this.#random.uniform() < 0.1) return 100;
    const value = 50 + 100 * this.#random.uniform();
    return field === "volume" || field === "amount" ? 1000 * value : value;
  }

  /** Compares every row with `evaluate` over all of them, by each of the programs. */
  async #compare(): Promise<void> {
    const panel = panelOf(this.#rows.map(({ bar }) => bar));
    const paramsByTime = join(this.#folder, "params.csv");
    const lines = this.#rows.map(({ params: { p, q } }, row) => `${row},${p},${q}`);
    writeFileSync(paramsByTime, ["time,p,q", ...lines, ""].join("\n"));
    for (const [text, rows] of Map.groupBy(this.#rows, ({ program }) => program)) {
      // So that everything runs in every row.
      const program = compiled(text, ["propagate_conditions"]);
      this.#counts.factors += program.factors.length;
      const table = await this.#engines[0]!.evaluate(program, panel, { paramsByTime });
      const expected = valuesOf(table);
      for (const row of rows) if (row.values) this.#compareRow(row, row.values, expected);
    }
  }

  #compareRow(
    { short, bar }: PushedRow,
    values: PushedRow["values"] & {},
    expected: ReadonlyMap<string, string>,
  ): void {
    for (const [key, found] of values) {
      const factor = key.slice(key.lastIndexOf(" ") + 1);
      if (short.has(factor)) continue;
      this.#counts.cells++;
      if (found === expected.get(key)) continue;
      const formula = this.#rows
        .flatMap(({ program }) => program.factors)
        .find((line) => line.startsWith(`${factor} `));
      throw new Error(`row ${bar.time}, ${key}: ${found} instead of ${expected.get(key)}\n${formula}`);
    }
  }
}

const STEPS: readonly (readonly [string, (life: RandomLife) => Promise<boolean>])[] = [
  ["push", (life) => life.pushOne()],
  ["push", (life) => life.pushOne()],
  ["push several", (life) => life.pushSome()],
  ["push several", (life) => life.pushSome()],
  ["revise", (life) => life.revise()],
  ["revise", (life) => life.revise()],
  ["push, cut off", (life) => life.pushCutOff()],
  ["revise behind a cut", (life) => life.reviseBehindCut()],
  ["add a symbol", (life) => life.addSymbol()],
  ["restore elsewhere", (life) => life.restoreElsewhere()],
  ["restore in place", (life) => life.restoreInPlace()],
  ["update, unchanged", (life) => life.updateUnchanged()],
  ["update, params", (life) => life.updateParams()],
  ["update, priorities", (life) => life.updatePriorities()],
  ["update, changed", (life) => life.updateChanged()],
  ["update, changed", (life) => life.updateChanged()],
  ["update, back and forth", (life) => life.updateBackAndForth()],
];

export const STEP_NAMES = new Set(STEPS.map(([name]) => name));

function noTableIfAborted(error: unknown): null {
  if ((error as Error).name === "AbortError") return null;
  throw error;
}

/** The bits of each cell by time, symbol and factor; of the symbols of one bar, or of all rows. */
function valuesOf(table: Table, bar?: Bar): Map<string, string> {
  const [times, symbols] = [table.getChildAt(0)!, table.getChildAt(1)!];
  const values = new Map<string, string>();
  table.schema.fields.slice(2).forEach(({ name }, index) => {
    const column = table.getChildAt(index + 2)!;
    for (let row = 0; row < table.numRows; row++) {
      if (bar && !(times.get(row) === bar.time && bar.symbols!.includes(symbols.get(row)))) continue;
      const value = column.get(row);
      values.set(
        `${times.get(row)} ${symbols.get(row)} ${name}`,
        Object.is(value, -0) ? "-0" : String(value),
      );
    }
  });
  return values;
}

/** The bars as a panel of all symbols that they have. */
function panelOf(bars: readonly Bar[]): Panel {
  const symbols = [...new Set(bars.flatMap(({ symbols: some }) => some!))].sort();
  const cellCount = bars.length * symbols.length;
  const present = new Uint8Array(cellCount);
  const column = () => new Float64Array(new SharedArrayBuffer(8 * cellCount)).fill(Number.NaN);
  const fields = new Map(FIELDS.map((name) => [name, column()]));
  bars.forEach((bar, row) => {
    bar.symbols!.forEach((symbol, index) => {
      const cell = row * symbols.length + symbols.indexOf(symbol);
      present[cell] = 1;
      for (const name of FIELDS) fields.get(name)![cell] = bar.fields[name]![index] ?? Number.NaN;
    });
  });
  const labels = ["x", "y"];
  const codes = new Int32Array(new SharedArrayBuffer(4 * symbols.length));
  codes.set(symbols.map((symbol) => labels.indexOf(SECTORS[symbol as keyof typeof SECTORS] ?? "")));
  return {
    rowCount: bars.length,
    laneCount: symbols.length,
    time: { ...TIME, values: BigInt64Array.from(bars, ({ time }) => time as bigint) },
    symbols,
    fields,
    groups: new Map([["sector", { name: "sector", labels, codes, changesOverTime: false }]]),
    present,
  };
}
