import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Table } from "apache-arrow";
import { expect } from "vitest";
import type { EngineHost } from "../../../src/evaluation/evaluation.ts";
import {
  type Bar,
  type BarInput,
  type Engine,
  type LiveRow,
  type LiveSession,
  type OpenOptions,
  type Panel,
  readCheckpoint,
  writeCheckpoint,
} from "../../../src/index.ts";
import { openSession } from "../../../src/live/session/open_session.ts";
import type { Seeded } from "../../support/seeded.ts";
import { compiled, FIELDS, type ProgramText, RandomPrograms } from "./random_programs.ts";

type Params = ProgramText["params"];
/** By time, then by factor: the bits of each symbol that has a row. */
type Values = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;

const TIME = { name: "minute", type: { kind: "integer", bits: 64 } } as const;

/** Where bars come from. The field `market` has one value for all symbols. */
export interface BarSource {
  /** Those that a session begins with, then those that it may add. */
  readonly symbols: readonly string[];
  readonly firstCount: number;
  readonly sectors: Readonly<Record<string, string | null>>;
  draw(random: Seeded, time: number, symbols: readonly string[]): Bar;
}

type Action =
  | "burst"
  | "revise"
  | "also"
  | "add symbols"
  | "restart"
  | "restore"
  | `update, ${"unchanged" | "params" | "priorities" | "changed" | "back and forth"}`;

/** What a life is made of, and how often things happen in it. */
export interface Habits {
  /** Names of hosts. A life draws one of these sets, and goes on from checkpoints in any host of its set. */
  readonly hosts: readonly (readonly string[])[];
  readonly bars: BarSource;
  /** What a life begins with; by default random formulas. */
  readonly program?: ProgramText;
  /** How many random factors have a condition. */
  readonly conditions: number;
  /** One of these shares of pushes, drawn for each life, has other params than the push before. */
  readonly changes: readonly number[];
  readonly warmUp: "none" | "short" | "long";
  readonly steps: number;
  readonly actions: Readonly<Partial<Record<Action, number>>>;
  /** Most pushes of a burst, and most bars of a push. */
  readonly pushesMost: number;
  readonly barsMost: number;
  /** Shares of bursts in which a push is aborted, and in which a thread is lost. */
  readonly cut: number;
  readonly lost: number;
  /** Share of pushes that have a budget. */
  readonly hurried: number;
}

/** A row that stands: its bar, the params that it was run with, and what the session gave for it. */
interface Standing {
  readonly bar: Bar;
  readonly params: Params;
  readonly text: ProgramText;
  readonly short: ReadonlySet<string>;
  /** Null for a row that nobody has seen: of a warm-up, or of a push that was cut off behind it. */
  readonly values: Values | null;
}

interface Sent {
  readonly bars: readonly Bar[];
  readonly params: Params;
  readonly end: Promise<{ readonly values: Values | null; readonly why: string; readonly kept: number }>;
}

/** What a life needs beside its habits, and whom it tells what it has seen. */
export interface Surroundings {
  readonly host: (name: string) => Promise<EngineHost>;
  readonly calm: Engine;
  readonly folder: string;
  readonly note: (what: string, count?: number) => void;
}

/** A session to which random things happen, and what it has to give. */
export class RandomLife {
  /** What happens; false where it could not. */
  static readonly #actions: Readonly<Record<Action, (life: RandomLife) => Promise<boolean>>> = {
    burst: (life) => life.#burst(),
    revise: (life) => life.#revise(),
    also: (life) => life.#also(),
    "add symbols": (life) => life.#addSymbols(),
    restart: async (life) => await life.#goOn(await life.#session.checkpoint(), life.#rows.length),
    restore: (life) => life.#restore(),
    "update, unchanged": (life) => life.#update(life.#text, {}, true),
    "update, params": (life) => life.#update(life.#text, { params: { q: life.#random.below(4) } }, true),
    "update, priorities": (life) => life.#updatePriorities(),
    "update, changed": (life) => life.#updateChanged(),
    "update, back and forth": async (life) => {
      const before = life.#text;
      await life.#updateChanged();
      await life.#burst();
      return await life.#update(before, {}, false);
    },
  };
  readonly trail: string[] = [];
  readonly #random: Seeded;
  readonly #habits: Habits;
  readonly #around: Surroundings;
  readonly hosts: readonly string[];
  readonly #programs: RandomPrograms;
  readonly #retainRows: number | undefined;
  readonly #changes: number;
  /** Times at which windows restart. */
  readonly #restarts: readonly string[];
  #rows: Standing[] = [];
  /** Further calls over rows, by the index of the row. */
  readonly #calls: { readonly index: number; readonly call: Standing }[] = [];
  #session!: LiveSession;
  #host!: EngineHost;
  #text: ProgramText;
  #given: Params | null = null;
  #opening: Params = {};
  #priorities: Readonly<Record<string, number>> = {};
  #short: ReadonlySet<string> = new Set();
  #symbolCount: number;
  #time = 0;
  #isRevisable = false;
  #hasNewest = false;

  constructor(random: Seeded, habits: Habits, around: Surroundings) {
    this.#random = random;
    this.#habits = habits;
    this.#around = around;
    this.hosts = this.#pick(habits.hosts);
    this.#programs = new RandomPrograms(random, habits.conditions);
    this.#changes = this.#pick(habits.changes);
    this.#retainRows = this.#happens(0.3) ? undefined : random.below(70);
    this.#text = habits.program ?? this.#programs.program();
    this.#symbolCount = habits.bars.firstCount;
    const restarts = this.#happens(0.3) ? 1 + random.below(6) : 0;
    this.#restarts = Array.from({ length: restarts }, () => String(random.below(150)));
  }

  async run(): Promise<void> {
    const { bars: source, warmUp, steps, actions } = this.#habits;
    const long = this.#retainRows === undefined ? 250 + this.#random.below(80) : this.#random.below(90);
    const rowCount = { none: 0, short: this.#random.below(20), long }[warmUp];
    const bars = Array.from({ length: rowCount }, () => source.draw(this.#random, this.#time++, this.#known));
    if (this.#happens(0.3)) this.#opening = this.#drawnParams();
    await this.#open({
      params: this.#opening,
      symbols: this.#known,
      groups: { sector: this.#happens(0.5) ? source.sectors : this.#sectorsOfLater() },
      warmup: this.#panelOf(bars),
      time: TIME,
      spareSymbols:
        source.symbols.length -
        this.#symbolCount +
        this.#pick(source.symbols.length > 50 ? [0, 1, 57] : [0, 1]),
    });
    for (const bar of bars) this.#stand(bar, this.#resolved({}), null);
    const names = Object.entries(actions).flatMap(([name, weight]) => Array<string>(weight).fill(name));
    try {
      for (let step = 0; step < steps; step++) await this.#act(this.#pick(names) as Action);
      // A checkpoint may have been taken before the last push, and gone on from.
      do await this.#burst(1);
      while (!this.#rows.at(-1)?.values);
    } finally {
      await this.#session.close();
    }
    await this.#compare();
  }

  async #act(name: Action): Promise<void> {
    this.trail.push(name);
    if (await RandomLife.#actions[name](this)) this.#around.note(name);
  }

  async #open(options: OpenOptions): Promise<void> {
    const name = this.#pick(this.hosts);
    this.#host = await this.#around.host(name);
    this.#isRevisable = this.#happens(0.5);
    this.#hasNewest = false;
    this.#session = await openSession(this.#host, compiled(this.#text), {
      revisable: this.#isRevisable,
      retainRows: this.#retainRows,
      priorities: this.#priorities,
      catchUp: this.#happens(0.5) ? "idle" : "on_demand",
      restarts: this.#restarts,
      ...options,
    });
    if (options.checkpoint) this.#around.note(`on ${name}`);
    this.#noteShort();
  }

  /**
   * Pushes that are not awaited, now and then with some time between them. One may be aborted at any moment, one may be
   * wrong, a thread may be lost, a checkpoint may be taken among them. The rows that stand come in order.
   */
  async #burst(pushCount = 1 + this.#random.below(this.#habits.pushesMost)): Promise<boolean> {
    const { cut, lost } = this.#habits;
    const cutAt = this.#happens(cut) ? this.#random.below(pushCount) : -1;
    const wrongAt = this.#rows.length > 0 && this.#happens(0.1) ? this.#random.below(pushCount) : -1;
    const savedAt = this.#happens(0.15) ? this.#random.below(pushCount) : -1;
    const losing = this.#happens(lost) ? this.#loseThread() : null;
    const controller = new AbortController();
    const sent: Sent[] = [];
    let saving: Promise<Uint8Array> | null = null;
    for (let index = 0; index < pushCount; index++) {
      if (index === savedAt) saving = this.#session.checkpoint();
      sent.push(this.#send(index === wrongAt, index === cutAt ? controller.signal : undefined));
      if (this.#happens(0.2)) await this.#moment();
    }
    if (cutAt >= 0) {
      await this.#moment();
      controller.abort(new Error("enough"));
      if (this.#happens(0.2)) await sent[cutAt]!.end;
      for (let more = this.#random.below(4) - 1; more > 0; more--) sent.push(this.#send());
    }
    const rowsSaved = await this.#settle(sent, { cutAt, wrongAt, pushCount, savedAt });
    // A part that is lost twice is an error of its own.
    await losing;
    const checkpoint = await saving;
    if (checkpoint && this.#happens(0.7)) await this.#goOn(checkpoint, rowsSaved);
    else if (cutAt >= 0 && this.#happens(0.5)) await this.#act("restart");
    return true;
  }

  /** Notes the rows that stand, and how many of them stood before the push at `savedAt`. */
  async #settle(
    sent: readonly Sent[],
    at: Readonly<Record<"cutAt" | "wrongAt" | "pushCount" | "savedAt", number>>,
  ): Promise<number> {
    const order: number[] = [];
    for (const [index, { end }] of sent.entries()) void end.then(({ values }) => values && order.push(index));
    let [isCut, rowsSaved] = [false, this.#rows.length];
    for (const [index, { bars, params, end }] of sent.entries()) {
      if (index === at.savedAt) rowsSaved = this.#rows.length;
      const { values, why, kept } = await end;
      for (const bar of bars.slice(0, kept)) this.#stand(bar, params, values);
      if (kept > 0) this.#hasNewest = true;
      if (why === "") {
        if (index >= at.pushCount && isCut) this.#around.note("push behind an abort");
      } else if (why.startsWith("E412 the push was aborted")) {
        // It alone: those behind it are kept.
        expect(index).toBe(at.cutAt);
        isCut = true;
      } else expect([index, why]).toEqual([at.wrongAt, expect.stringMatching(/^E371 /)]);
      const [reason] = why.split(" ");
      if (reason) this.#around.note(kept > 0 ? `${reason}, in part` : reason);
    }
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(Number(this.#session.lastTime ?? -1)).toBe(this.#rows.at(-1)?.bar.time ?? -1);
    return rowsSaved;
  }

  #send(isWrong = false, signal?: AbortSignal): Sent {
    const mostBars = this.#happens(signal ? 0.6 : 0.3) ? this.#habits.barsMost : 1;
    const count = 1 + this.#random.below(mostBars);
    const bars = Array.from({ length: count }, () => this.#bar(this.#time++));
    if (!isWrong) return this.#call("push", bars, signal);
    return this.#call("push", [{ ...bars[0]!, time: this.#rows.at(-1)!.bar.time }], signal);
  }

  #call(what: "push" | "revise", bars: readonly Bar[], signal: AbortSignal | undefined): Sent {
    const { params, given } = this.#params();
    const { input, rowCount } = this.#shown(bars);
    const isHurried = bars.length === 1 && this.#happens(this.#habits.hurried);
    const late = this.#happens(0.3) ? "skip" : "deliver";
    const budget = isHurried ? ({ budgetMs: 3 * this.#random.uniform(), late } as const) : {};
    const options = { params: given ?? undefined, signal, ...budget };
    const before = this.#session.lastTime;
    const take = async (row: LiveRow) => {
      const { table } = (await row.late) ?? row;
      expect(table.numRows).toBe(rowCount);
      this.#checkTags(row, params, isHurried);
      const values = valuesOf(table, bars, row);
      return { values, why: "", kept: bars.length };
    };
    const refuse = ({ message }: Error) => {
      // Of several bars, those that had come through stand.
      const last = this.#session.lastTime;
      const isKept = ({ time }: Bar) =>
        last !== null && (time as number) <= last && !((time as number) <= (before ?? -1n));
      return { values: null, why: message, kept: what === "push" ? bars.filter(isKept).length : 0 };
    };
    const end = this.#session[what](input, options).then(take, refuse);
    return { bars, params, end };
  }

  #checkTags({ tags, timing, late }: LiveRow, params: Params, isHurried: boolean, isAlso = false): void {
    for (const [name, tag] of Object.entries(tags)) {
      const isWanted = wants(this.#text, name, params);
      expect(tag === "unwanted", `${name} is ${tag}`).toBe(!isWanted);
      if (isWanted && !isHurried) expect(tag).toBe("on_time");
    }
    const tagged = new Set(Object.values(tags));
    if (tagged.size === 1 && tagged.has("on_time") && !isHurried && !isAlso)
      expect(timing.nodesPruned).toBe(0);
    if (late) this.#around.note("late");
    if (tagged.has("skipped")) this.#around.note("skipped");
    this.#around.note("pruned", timing.nodesPruned);
  }

  /** Some microtasks, turns of the event loop or ms. */
  async #moment(): Promise<void> {
    const [kind, count] = [this.#random.below(3), this.#random.below(40)];
    if (kind === 2) await wait(count / 10);
    for (let turn = 0; turn < count && kind < 2; turn++)
      await (kind === 0 || turn % 8 ? null : new Promise<void>((resolve) => setImmediate(resolve)));
  }

  async #loseThread(): Promise<void> {
    const { pool, threads } = this.#host;
    const thread = this.#random.below(threads);
    await wait(this.#random.below(4));
    pool.restartExecutor(thread);
    this.#around.note("thread lost");
  }

  /** A revision that is aborted leaves the row as it was. */
  async #revise(): Promise<boolean> {
    if (!this.#isRevisable || !this.#hasNewest) return false;
    for (let times = 1 + this.#random.below(2); times > 0; times--) {
      const { time } = this.#rows.at(-1)!.bar;
      const controller = new AbortController();
      const isCut = this.#happens(this.#habits.cut / 2);
      const { bars, params, end } = this.#call("revise", [this.#bar(Number(time))], controller.signal);
      if (isCut) await this.#moment();
      if (isCut) controller.abort(new Error("enough"));
      const { values, why } = await end;
      expect(why.slice(0, 4)).toBe(why && isCut ? "E412" : "");
      if (why) this.#around.note("revise, cut off");
      if (why) continue;
      this.#rows.pop();
      this.#stand(bars[0]!, params, values);
    }
    return true;
  }

  /** Another call over the newest bar, whose params decide conditions otherwise. */
  async #also(): Promise<boolean> {
    const newest = this.#rows.at(-1);
    if (!this.#hasNewest || !newest?.values || newest.text !== this.#text) return false;
    const decided = {
      p: this.#random.below(3),
      session: this.#pick(["open", "close"]),
      minute: this.#random.below(12),
    };
    const own = Object.entries(decided).filter(([name]) => name in newest.params);
    const params = { ...newest.params, ...Object.fromEntries(own) };
    const isHurried = this.#happens(this.#habits.hurried);
    const budget = isHurried ? { budgetMs: 3 * this.#random.uniform() } : {};
    const row = await this.#session.also({ params, ...budget }).catch((error: Error) => {
      // Formulas use a param that differs as a value.
      if (error.message.startsWith("E528 the param ")) return null;
      throw error;
    });
    if (row === null) return false;
    this.#checkTags(row, params, isHurried, true);
    const { table } = (await row.late) ?? row;
    const values = valuesOf(table, [newest.bar], row);
    this.#calls.push({ index: this.#rows.length - 1, call: { ...newest, params, values } });
    return true;
  }

  async #addSymbols(): Promise<boolean> {
    const { symbols } = this.#habits.bars;
    const before = this.#symbolCount;
    this.#symbolCount = Math.min(symbols.length, before + Math.ceil((symbols.length - before) / 2));
    await this.#session.addSymbols(symbols.slice(before, this.#symbolCount));
    return this.#symbolCount > before;
  }

  async #goOn(checkpoint: Uint8Array, rowCount: number): Promise<boolean> {
    const path = join(this.#around.folder, "life.checkpoint");
    await writeCheckpoint(path, checkpoint);
    await this.#session.close();
    this.#rows.length = rowCount;
    await this.#open({ checkpoint: await readCheckpoint(path) });
    return true;
  }

  async #restore(): Promise<boolean> {
    const checkpoint = await this.#session.checkpoint();
    const [rowCount, session] = [this.#rows.length, this.#session];
    await this.#burst();
    // A burst may have gone on elsewhere.
    if (session !== this.#session) return false;
    await this.#session.restore(checkpoint);
    this.#rows.length = rowCount;
    this.#hasNewest = false;
    this.#noteShort();
    return true;
  }

  async #updatePriorities(): Promise<boolean> {
    const names = compiled(this.#text).factors.map(({ name }) => name);
    const given = names.filter(() => this.#happens(0.5));
    this.#priorities = Object.fromEntries(given.map((name) => [name, this.#random.below(4)]));
    return await this.#update(this.#text, { priorities: this.#priorities }, this.#retainRows === undefined);
  }

  async #updateChanged(): Promise<boolean> {
    const text = this.#programs.changed(this.#text);
    const isReordered = new Set(text.factors).symmetricDifference(new Set(this.#text.factors)).size === 0;
    return await this.#update(text, {}, isReordered && this.#retainRows === undefined);
  }

  /** @param isKept whether factors that are not short may not become so */
  async #update(
    text: ProgramText,
    options: { params?: Params; priorities?: Readonly<Record<string, number>> },
    isKept: boolean,
  ): Promise<boolean> {
    const before = this.#short;
    const program = compiled(text);
    this.#text = text;
    this.#opening = { ...this.#opening, ...options.params };
    const names = new Set(program.factors.map(({ name }) => name));
    const kept = Object.entries(this.#priorities).filter(([name]) => names.has(name));
    this.#priorities = Object.fromEntries(kept);
    const { shortOfHistory } = await this.#session.update(program, options);
    expect(shortOfHistory).toEqual(this.#session.shortOfHistory);
    if (this.#retainRows === 0) this.#hasNewest = false;
    this.#noteShort();
    const shorter = isKept ? this.#short.difference(before) : [];
    expect([...shorter], "short after an update that changes nothing").toEqual([]);
    return true;
  }

  #noteShort(): void {
    this.#short = new Set(Object.keys(this.#session.shortOfHistory));
    this.#around.note("short", this.#short.size);
  }

  #params(): { params: Params; given: Params | null } {
    if (this.#happens(this.#changes)) this.#given = this.#happens(0.5) ? this.#drawnParams() : null;
    return { params: this.#resolved(this.#given ?? {}), given: this.#given };
  }

  #drawnParams(): Params {
    const all = {
      p: this.#random.below(3),
      q: this.#random.below(5) / 2,
      session: this.#pick(["open", "close"]),
      minute: this.#random.below(12),
      lambda: this.#random.uniform(),
    };
    return Object.fromEntries(Object.entries(all).filter(([name]) => name in this.#text.params));
  }

  #resolved(given: Params): Params {
    return { ...this.#text.params, ...this.#opening, ...given };
  }

  #stand(bar: Bar, params: Params, values: Values | null): void {
    this.#rows.push({ bar, params, text: this.#text, short: this.#short, values });
  }

  get #known(): readonly string[] {
    return this.#habits.bars.symbols.slice(0, this.#symbolCount);
  }

  #bar(time: number): Bar {
    const some = this.#known.filter(() => this.#happens(0.7));
    const symbols = this.#happens(0.7) || some.length === 0 ? this.#known : some.toReversed();
    return this.#habits.bars.draw(this.#random, time, symbols);
  }

  /** The same bars as a panel, or without the names of their symbols: the others are then without a value. */
  #shown(bars: readonly Bar[]): { input: BarInput; rowCount: number } {
    const named = bars.reduce((sum, { symbols }) => sum + symbols!.length, 0);
    const kind = this.#random.below(4);
    if (kind === 0) return { input: this.#panelOf(bars), rowCount: named };
    const ofKnown = ({ time, fields, symbols }: Bar): Bar => {
      const at = this.#known.map((symbol) => symbols!.indexOf(symbol));
      const all = Object.entries(fields).map(([name, values]) => [name, at.map((i) => values[i] ?? null)]);
      return { time, fields: Object.fromEntries(all) };
    };
    const shown = kind === 1 ? bars.map(ofKnown) : bars;
    const rowCount = kind === 1 ? bars.length * this.#symbolCount : named;
    return { input: shown.length === 1 ? shown[0]! : shown, rowCount };
  }

  /** Those of symbols that may be added: a warm-up panel has those of its own. */
  #sectorsOfLater(): BarSource["sectors"] {
    const { sectors } = this.#habits.bars;
    return Object.fromEntries(Object.entries(sectors).filter(([symbol]) => !this.#known.includes(symbol)));
  }

  /** The bars as a panel of all symbols so far. */
  #panelOf(bars: readonly Bar[]): Panel {
    const symbols = this.#known.toSorted();
    const laneOf = new Map(symbols.map((symbol, lane) => [symbol, lane]));
    const laneCount = symbols.length;
    const present = new Uint8Array(bars.length * laneCount);
    const column = () => new Float64Array(new SharedArrayBuffer(8 * present.length)).fill(Number.NaN);
    const names = Object.keys(bars[0]?.fields ?? Object.fromEntries(FIELDS.map((name) => [name, []])));
    const fields = new Map(names.map((name) => [name, column()]));
    for (const [row, bar] of bars.entries()) {
      const cells = bar.symbols!.map((symbol) => row * laneCount + laneOf.get(symbol)!);
      for (const cell of cells) present[cell] = 1;
      for (const [name, values] of fields)
        for (const [i, cell] of cells.entries()) values[cell] = bar.fields[name]![i] ?? Number.NaN;
      const market = Array.from(bar.fields["market"]!).find((value) => value !== null) ?? Number.NaN;
      fields.get("market")!.fill(market, row * laneCount, (row + 1) * laneCount);
    }
    const { sectors } = this.#habits.bars;
    const labels = [...new Set(Object.values(sectors))].filter((label) => label !== null);
    const codes = new Int32Array(new SharedArrayBuffer(4 * laneCount));
    codes.set(symbols.map((symbol) => labels.indexOf(sectors[symbol] ?? "")));
    return {
      rowCount: bars.length,
      laneCount,
      time: { ...TIME, values: BigInt64Array.from(bars, ({ time }) => BigInt(time as number)) },
      symbols,
      fields,
      groups: new Map([["sector", { name: "sector", labels, codes, changesOverTime: false }]]),
      present,
      seriesNames: ["market"],
    };
  }

  /** Compares every row with `evaluate` over all of them, by each of the programs; and further calls over a row. */
  async #compare(): Promise<void> {
    for (const [text, rows] of Map.groupBy(this.#rows, (row) => row.text)) {
      const expected = await this.#evaluated(text, this.#rows);
      for (const row of rows) if (row.values) this.#compareRow(row, row.values, expected);
    }
    for (const { index, call } of this.#calls)
      if (this.#rows[index]?.bar === call.bar)
        this.#compareRow(call, call.values!, await this.#evaluated(call.text, this.#rows.with(index, call)));
  }

  async #evaluated(text: ProgramText, rows: readonly Standing[]): Promise<Values> {
    const panel = this.#panelOf(rows.map(({ bar }) => bar));
    const paramsByTime = join(this.#around.folder, "params.csv");
    const names = Object.keys(this.#text.params);
    const lines = rows.map(({ bar, params }) => [bar.time, ...names.map((name) => params[name])].join());
    writeFileSync(paramsByTime, [["time", ...names].join(), ...lines, ""].join("\n"));
    // So that everything runs in every row.
    const program = compiled(text, ["propagate_conditions"]);
    this.#around.note("factors", program.factors.length);
    const options = { restarts: this.#restarts, ...(names.length > 0 ? { paramsByTime } : {}) };
    return valuesOf((await this.#around.calm.evaluate(program, panel, options)).table);
  }

  #compareRow({ short, bar, text }: Standing, values: Values, expected: Values): void {
    const time = String(bar.time);
    for (const [factor, found] of values.get(time)!) {
      if (short.has(factor)) continue;
      const right = expected.get(time)!.get(factor)!;
      this.#around.note("cells", right.length);
      if (right.length === found.length && right.every((value, i) => value === found[i])) continue;
      const formula = text.factors.find((line) => line.startsWith(`${factor} `));
      expect(found, `row ${time}: ${formula ?? factor}`).toEqual(right);
    }
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[this.#random.below(choices.length)]!;
  }

  #happens(share: number): boolean {
    return this.#random.uniform() < share;
  }
}

/** Whether these params want a factor. Its condition reads like JavaScript. */
function wants({ factors }: ProgramText, name: string, params: Params): boolean {
  const line = factors.find((one) => one.startsWith(`${name} = `)) ?? "";
  const [, condition] = / when (.*?)(?: priority \d+)?$/.exec(line) ?? [];
  if (condition === undefined) return true;
  return new Function(...Object.keys(params), `return ${condition}`)(...Object.values(params));
}

/** Those of a whole table, or of some bars of it, without factors that a row has skipped. */
function valuesOf(table: Table, bars?: readonly Bar[], row?: LiveRow): Values {
  const [times, symbols] = [table.getChildAt(0)!, table.getChildAt(1)!].map((column) => [...column]);
  const asked = bars && new Map(bars.map((bar) => [String(bar.time), new Set(bar.symbols)]));
  const byTime = new Map<string, Map<string, string[]>>();
  for (const { name } of table.schema.fields.slice(2)) {
    if (row?.tags[name] === "skipped") continue;
    for (const [at, value] of [...table.getChild(name)!].entries()) {
      const time = String(times![at]);
      if (asked && !asked.get(time)?.has(symbols![at])) continue;
      const factors = byTime.get(time) ?? new Map<string, string[]>();
      byTime.set(time, factors);
      const values = factors.get(name) ?? [];
      factors.set(name, values);
      values.push(Object.is(value, -0) ? "-0" : String(value));
    }
  }
  return byTime;
}
