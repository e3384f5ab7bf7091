import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Engine } from "../../../src/index.ts";
import { trials } from "../../support/trials.ts";
import { JobFolder, realBars, SILENT, type Sink } from "../job_folder.ts";
import { expectedOf, random, resultsOf } from "./job_results.ts";

/** Random lives of a job whose input changes: after each run its sink has the values of one evaluation of the last rows. */

const WINDOWS = [
  "rank(delta(close, 3))",
  "ts_mean(high - low, 4) / close",
  "group_neutralize(rank(volume), sector)",
];
const RECURSIONS = ["ema(close, 5)", "ts_max(ema(close, 3), 4)", "cum_sum(volume)"];
const [HEADER, DAYS] = (() => {
  const texts = realBars(40, 1, 6).map((one) => one.trim().split("\n"));
  return [texts[0]![0]!, texts.map(([, ...lines]) => lines)] as const;
})();
const dateOf = (line: string) => line.split(",")[0]!;

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.start({ threads: 1 });
});
afterAll(() => engine.close());

/** Lines by date. */
type Days = Map<string, readonly string[]>;

/** Input files, and the rows that a job should know after it has looked at them. */
class Input {
  readonly truth: Days = new Map();
  readonly files = new Map<string, Days>();
  readonly #folder: string;
  readonly #owners = new Map<string, string>();

  constructor(folder: string) {
    this.#folder = join(folder, "bars");
  }

  /** Writes a file; its times are its own then, unless it is as it was. */
  write(name: string, days: Days): void {
    const textOf = (one: Days | undefined) => JSON.stringify([...(one ?? [])].sort());
    const isSame = textOf(this.files.get(name)) === textOf(days);
    this.put(name, days);
    if (isSame) return;
    for (const [date, lines] of days) {
      this.truth.set(date, lines);
      this.#owners.set(date, name);
    }
  }

  put(name: string, days: Days): void {
    const text = `${[HEADER, ...[...days].sort().flatMap(([, lines]) => lines)].join("\n")}\n`;
    const path = join(this.#folder, name);
    writeFileSync(`${path}.tmp`, name.endsWith(".gz") ? gzipSync(text) : text);
    renameSync(`${path}.tmp`, path);
    this.files.set(name, days);
  }

  remove(name: string): void {
    rmSync(join(this.#folder, name));
    this.files.delete(name);
  }

  isOwn(name: string, date: string): boolean {
    return this.#owners.get(date) === name;
  }

  isAlone(date: string): boolean {
    return [...this.files.values()].filter((days) => days.has(date)).length === 1;
  }

  get bars(): string[] {
    return [...this.truth].sort().map(([, lines]) => [HEADER, ...lines].join("\n"));
  }
}

async function live(seed: number, sink: Sink): Promise<void> {
  const below = random(seed * 7919 + sink.length);
  const pick = <T>(of: readonly T[]): T => of[below(of.length)]!;
  const expressions = below(2) === 0 ? WINDOWS : [...WINDOWS, ...RECURSIONS];
  const factors = new Map([
    ["a", pick(expressions)],
    ["b", pick(expressions)],
  ]);
  const textOf = () =>
    [...factors, ["z", "close * k - open"]]
      .map(([name, expression]) => `${name} = ${expression}\n`)
      .concat("param k = 1\n")
      .join("");
  using folder = new JobFolder({ sink, formulas: textOf() });
  const input = new Input(folder.path);
  let [given, names] = [0, 0];
  const held: string[][] = [];
  const nameOf = (end = ".csv") => `f${String(below(100)).padStart(2, "0")}-${names++}${end}`;
  const nextDays = (count: number): Days => {
    const days: Days = new Map();
    while (days.size < count && given < DAYS.length) {
      const lines = [...DAYS[given++]!];
      if (below(4) === 0 && given > 4) held.push(lines);
      else days.set(dateOf(lines[0]!), below(5) === 0 ? lines.slice(1) : lines);
    }
    return days;
  };
  input.write(nameOf(), nextDays(5));
  expect(await folder.run()).toBeNull();
  const fileWith = (isWanted: (name: string, days: Days) => boolean) => {
    const found = [...input.files].filter(([name, days]) => isWanted(name, days));
    return found.length === 0 ? null : pick(found);
  };
  /** Days that were written since the last run: who of two comes last would depend on names. */
  const touched = new Set<string>();
  const isFree = (_: string, days: Days) => [...days.keys()].every((date) => !touched.has(date));
  const touch = (days: Days) => {
    for (const date of days.keys()) touched.add(date);
  };
  const changed = (lines: readonly string[]) =>
    lines.map((line, index) => {
      const cells = line.split(",");
      if (index === 0 || below(3) === 0) cells[5] = String(Number(cells[5]) + 1 + below(9));
      return cells.join(",");
    });
  const events: Record<string, () => void> = {
    new: () => {
      const days = nextDays(1 + below(3));
      if (days.size > 0) input.write(nameOf(pick([".csv", ".csv.gz"])), days);
      touch(days);
    },
    grow: () => {
      const file = fileWith(isFree);
      if (file === null) return;
      const days = new Map([...file[1], ...nextDays(1 + below(2))]);
      input.write(file[0], days);
      touch(days);
    },
    correct: () => {
      const file = fileWith(
        (name, days) => isFree(name, days) && [...days.keys()].some((d) => input.isOwn(name, d)),
      );
      if (file === null) return;
      const [name, days] = file;
      const date = pick([...days.keys()].filter((one) => input.isOwn(name, one)));
      const lines = days.get(date)!;
      const all = DAYS.find(([line]) => dateOf(line!) === date)!;
      const kinds = [changed(lines), ...(input.isAlone(date) ? [lines.slice(1), [...all]] : [])];
      const kind = pick(kinds);
      if (kind.length === 0) return;
      input.write(name, new Map([...days, [date, kind]]));
      touch(days);
    },
    redeliver: () => {
      const file = fileWith(isFree);
      if (file === null) return;
      const date = pick([...file[1].keys()]);
      const days = new Map([[date, changed(input.truth.get(date)!)]]);
      input.write(nameOf(), days);
      touch(file[1]);
    },
    late: () => {
      const lines = held.shift();
      if (lines === undefined) return;
      const days = new Map([[dateOf(lines[0]!), lines]]);
      input.write(nameOf(), days);
      touch(days);
    },
    move: () => {
      const file = fileWith(isFree);
      if (file === null) return;
      input.remove(file[0]);
      input.write(nameOf(pick([".csv", ".csv.gz"])), file[1]);
      touch(file[1]);
    },
    split: () => {
      const file = fileWith((name, days) => isFree(name, days) && days.size > 1);
      if (file === null) return;
      const [name, days] = file;
      const parts = [...days].sort();
      const at = 1 + below(parts.length - 1);
      if (below(2) === 0) input.remove(name);
      input.write(input.files.has(name) ? name : nameOf(), new Map(parts.slice(0, at)));
      input.write(nameOf(), new Map(parts.slice(at)));
      touch(days);
    },
    add: () => factors.set(`f${names++}`, pick(expressions)),
    change: () => factors.set(pick([...factors.keys()]), pick(expressions)),
  };
  const history: string[] = [];
  const check = async () => {
    const found = await resultsOf(folder);
    const expected = await expectedOf(engine, folder.path, input.bars, textOf(), 1);
    for (const [name, values] of expected)
      expect(found.get(name), `seed ${seed}: ${name} after ${history}`).toEqual(values);
  };
  for (let step = 0; step < 6; step++) {
    touched.clear();
    for (let count = 1 + below(3); count > 0; count--) {
      const event = pick(Object.keys(events));
      history.push(event);
      events[event]!();
    }
    folder.configure({ formulas: textOf() });
    const deleted = below(4) === 0 ? fileWith(isFree) : null;
    if (deleted !== null) input.remove(deleted[0]);
    const killedAt = below(3) === 0 ? pick(["staged", "prepared", "published"]) : null;
    const kill = (fields: object) => {
      if ((fields as { step?: string }).step === killedAt) throw new Error("killed");
    };
    let failure = await folder.run({ ...SILENT, debug: kill });
    if (failure !== null && String(failure).includes("killed")) failure = await folder.run();
    if (failure !== null && deleted !== null) {
      history.push("deleted");
      expect(String(failure)).toContain("it is missing");
      input.put(...deleted);
      failure = await folder.run();
    }
    expect(failure, `seed ${seed} after ${history}`).toBeNull();
    if (deleted !== null && !input.files.has(deleted[0])) input.put(...deleted);
    await check();
    const whole = below(3) === 0 ? fileWith((_, days) => [...days.keys()].some(input.isAlone, input)) : null;
    if (whole === null) continue;
    const lost = [...whole[1].keys()].find((date) => input.isAlone(date) && input.isOwn(whole[0], date));
    if (lost === undefined || whole[1].size === 1) continue;
    history.push("truncate");
    input.put(whole[0], new Map([...whole[1]].filter(([date]) => date !== lost)));
    const refusal = `E361 ${join(folder.path, "bars", whole[0])}: no longer has the rows of 1 time, ${lost}, and no other`;
    expect(String(await folder.run()), `seed ${seed} after ${history}`).toContain(refusal);
    await check();
    input.put(...whole);
    expect(await folder.run()).toBeNull();
  }
}

describe.each(["parquet", "arrow", "duckdb"] as const)("a sink of %s", (sink) => {
  test.each(Array.from({ length: trials(2, 60) }, (_, index) => index + 1))("life %i", async (seed) => {
    await live(seed, sink);
  }, 120_000);
});
