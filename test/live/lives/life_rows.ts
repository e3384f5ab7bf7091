import type { EngineHost } from "../../../src/evaluation/evaluation.ts";
import { startHost } from "../../../src/evaluation/start_host.ts";
import { type Bar, type Panel, readPanel } from "../../../src/index.ts";
import type { Seeded } from "../../support/seeded.ts";
import { trials } from "../../support/trials.ts";
import { alpha101, barOf, example } from "../real_session.ts";
import type { BarSource, Habits } from "./random_life.ts";
import { FIELDS, type ProgramText } from "./random_programs.ts";

const NARROW: BarSource = {
  symbols: ["E", "B", "D", "A", "C", "F", "G"],
  firstCount: 4,
  sectors: { A: "x", B: "y", C: "x", D: "x", E: "y", F: "y", G: null },
  /** Now and then a null or a tie; sums are not whole. */
  draw: (random, time, symbols) => {
    const value = (field: string) => {
      if (random.uniform() < 0.03) return null;
      if (random.uniform() < 0.1) return 100;
      const price = 50 + 100 * random.uniform();
      return field === "volume" || field === "amount" ? 1000 * price : price;
    };
    const fields = FIELDS.map((name) => [name, symbols.map(() => value(name))] as const);
    return withMarket(random, { time, symbols, fields: Object.fromEntries(fields) });
  },
};

/** One instrument, so that nothing takes long. */
const ALONE: BarSource = { ...NARROW, symbols: ["A"], firstCount: 1 };

/** Real bars of a hundred instruments, of which some come late; now and then as they may look before they are complete. */
function wideBars(panel: Panel): BarSource {
  const { symbols, groups, rowCount } = panel;
  const { labels, codes } = groups.get("sector")!;
  const isLate = (_: string, lane: number) => lane % 9 === 4;
  const late = symbols.filter(isLate);
  return {
    symbols: [...symbols.filter((symbol) => !late.includes(symbol)), ...late],
    firstCount: symbols.length - late.length,
    sectors: Object.fromEntries(symbols.map((symbol, lane) => [symbol, labels[codes[lane]!] ?? null])),
    draw: (random, time, wanted) => {
      const bar = barOf(panel, (300 + time) % rowCount, wanted);
      const isWhole = random.uniform() < 0.5;
      const disturbed = (value: number) =>
        isWhole ? value : random.uniform() < 0.07 ? null : value * (1 + random.below(13) / 7);
      const fields = Object.entries(bar.fields).map(
        ([name, values]) => [name, Array.from(values, (value) => disturbed(value!))] as const,
      );
      return withMarket(random, { ...bar, time, fields: Object.fromEntries(fields) });
    },
  };
}

/** Adds a value of the market, which need not be there for all symbols of the bar, and a value for each symbol. */
function withMarket(random: Seeded, { time, symbols, fields }: Bar): Bar {
  const value = random.uniform() < 0.03 ? null : 50 + 100 * random.uniform();
  const market = symbols!.map((_, index) => (index === 0 || random.uniform() < 0.8 ? value : null));
  const others = Object.values(fields).filter((values) => values !== fields["volume"]);
  const volume = Array.from(
    fields["volume"]!,
    (one, i) => one ?? (others.some((values) => values[i] !== null) ? null : 1000),
  );
  return { time, symbols, fields: { ...fields, volume, market } };
}

const PARAMS = { p: 1, q: 2, session: "open", minute: 0, lambda: 0.5 };
const textOf = (text: string, params: ProgramText["params"] = {}): ProgramText => ({
  dialect: "native",
  params,
  factors: text
    .trim()
    .split("\n")
    .map((line) => line.trim().replaceAll("moved", "(close / delay(close, 1) - 1)")),
});

/** Recurrences, windows of all kinds, groups, conditions, numeric params, a market series. */
const ALL_KINDS = textOf(
  `
  mean = ts_mean(close, 7) - ema(close, 5) priority 2
  ranked = ts_rank(rank(volume), 6) + ts_argmax(close, 4)
  linked = ts_corr(rank(close), rank(volume), 9) priority 1
  total = cum_sum(moved)
  missing = rank(is_null(close)) + rank(minute)
  valued = ts_sum(lambda * moved, 5) + ts_mean(market, 3)
  sectored = group_neutralize(ts_std(moved, 8), sector)
  closing = rank(ts_max(high - low, 12)) * ts_median(moved, 6) when session == "close"
  closing_total = cum_sum(close) + ts_mean(rank(moved), 15) when session == "close"
  odd = ts_mean(group_rank(close, sector), 10) when minute % 2 == 1
  odd_smooth = ema(ts_std(moved, 4), 6) + ts_mean(ema(rank(close), 3), 5) when minute % 2 == 1
  five = ts_std(rank(moved), 20) + ts_min(low, 18) when minute % 5 == 0 || session == "close" priority 1
  shared = ts_mean(rank(ts_sum(volume, 6)), 9) when minute % 5 == 0 || session == "close"`,
  PARAMS,
);

const PUBLISHED: ProgramText = {
  dialect: "alpha101",
  params: {},
  factors: [alpha101().replace("dialect alpha101", "")],
};

/** Each starts when a life wants it. */
export const HOSTS: Readonly<Record<string, () => Promise<EngineHost>>> = {
  "1 thread": () => startHost({ threads: 1 }),
  "2 threads": () => startHost({ threads: 2 }),
  "3 threads": () => startHost({ threads: 3, cores: 3 }),
  "4 threads": () => startHost({ threads: 4, cores: 4 }),
  // Less than some random programs need; hardly a factor alone needs more.
  "small memories": () => startHost({ threads: 2, arenaBytesMax: 2 ** 17 }),
  "memories of 1 MiB": () => startHost({ threads: 2, arenaBytesMax: 2 ** 20 }),
  "memories of 3 MiB": () => startHost({ threads: 2, arenaBytesMax: 3 * 2 ** 20 }),
};
const ANY_HOST = [["1 thread", "2 threads", "3 threads", "4 threads"]];

const WIDE = wideBars(
  await readPanel(example("data/sp100_daily.csv.gz"), { groups: example("data/sp100_sectors.csv") }),
);

const UPDATES = {
  "update, unchanged": 1,
  "update, params": 1,
  "update, priorities": 1,
  "update, changed": 2,
  "update, back and forth": 1,
};
const ACTIONS = { burst: 5, revise: 3, also: 3, "add symbols": 1, restart: 1, restore: 1, ...UPDATES };

export const USUAL: Habits = {
  hosts: [["2 threads"]],
  bars: WIDE,
  conditions: 0.4,
  changes: [1, 0.3],
  warmUp: "short",
  steps: 12,
  actions: ACTIONS,
  pushesMost: 5,
  barsMost: 6,
  cut: 0.5,
  lost: 0,
  hurried: 0,
};

/** Lives of the same habits. */
export interface LifeRow extends Partial<Habits> {
  readonly name: string;
  readonly lives: number;
  /** What lives must have seen beside all actions. A few may leave it out by chance. */
  readonly sees: readonly string[];
}
const CUTS = ["enough", "E412", "push behind an abort"];
export const LIVES: readonly LifeRow[] = [
  {
    name: "aborts at every moment",
    lives: trials(8, 1000),
    bars: ALONE,
    program: textOf(
      `
      mean = ts_mean(close, 4)
      total = cum_sum(own_slow(close * rank(close)))
      other = ema(ts_max(rank(close), 3), 2) + close when p == 1
      another = ts_max(close, 2) when p == 2`,
      { p: 0, q: 1 },
    ),
    hosts: ANY_HOST,
    actions: { burst: 8, revise: 1, "update, unchanged": 1 },
    warmUp: "none",
    steps: 6,
    barsMost: 3,
    cut: 0.9,
    sees: [...CUTS, "enough, in part", "E371", "revise, cut off"],
  },
  {
    name: "all kinds of operators over real bars",
    lives: trials(1, 150),
    program: ALL_KINDS,
    hosts: ANY_HOST,
    pushesMost: 12,
    lost: 0.1,
    hurried: 0.15,
    sees: ["pruned", ...CUTS, "late", "skipped", "thread lost"],
  },
  {
    name: "random programs",
    lives: trials(1, 300),
    bars: NARROW,
    hosts: [["2 threads", "1 thread"], ["small memories"]],
    changes: [1],
    warmUp: "long",
    steps: 16,
    barsMost: 26,
    sees: ["pruned", "on small memories"],
  },
  {
    name: "several memories",
    lives: trials(1, 30),
    program: ALL_KINDS,
    hosts: [["memories of 1 MiB"]],
    sees: ["pruned", "on memories of 1 MiB"],
  },
  {
    name: "the 101 formulas",
    lives: trials(1, 20),
    program: PUBLISHED,
    hosts: [["2 threads"], ["memories of 3 MiB"]],
    actions: {
      burst: 5,
      revise: 3,
      also: 2,
      "add symbols": 1,
      restart: 1,
      restore: 1,
      "update, unchanged": 1,
    },
    steps: 6,
    cut: 0.3,
    sees: ["on memories of 3 MiB"],
  },
];

export const LIVES_OF_PARAMS: readonly LifeRow[] = [
  {
    name: "params that change now in every push, now after hundreds of rows",
    lives: trials(2, 300),
    bars: NARROW,
    hosts: [["2 threads", "1 thread"]],
    conditions: 0.9,
    changes: [1, 0.3, 0.1, 0.03],
    warmUp: "long",
    steps: 16,
    barsMost: 110,
    sees: ["pruned"],
  },
];
