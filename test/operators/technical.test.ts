import { describe, expect, test } from "vitest";
import { compile } from "../../src/index.ts";
import { evaluateHere } from "../conformance/evaluation.ts";
import { panelOf } from "../panels.ts";

/**
 * The indicators against plain loops that follow the textbooks, over bars of a random walk with holes in them. The loops
 * add in their own order, so values agree to 1e-9; which rows are null agrees exactly.
 */

type Series = number[];
const { NaN: none } = Number;
const ROWS = 120;

/** Repeatable noise in 0..1. */
function* noise(): Generator<number, never> {
  for (let state = 12_345; ; ) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    yield state / 2 ** 31;
  }
}

interface Bars {
  readonly high: Series;
  readonly low: Series;
  readonly close: Series;
  readonly volume: Series;
}

function randomBars(hasHoles: boolean): Bars {
  const draw = noise();
  const next = () => draw.next().value;
  let price = 100;
  const bars: Bars = { high: [], low: [], close: [], volume: [] };
  for (let row = 0; row < ROWS; row++) {
    price = Math.round((price * (0.98 + 0.04 * next()) + Number.EPSILON) * 100) / 100;
    const isHole = hasHoles && (row < 2 || row % 37 === 20);
    bars.close.push(isHole ? none : price);
    bars.high.push(isHole ? none : price + Math.round(next() * 100) / 100);
    bars.low.push(isHole ? none : price - Math.round(next() * 100) / 100);
    bars.volume.push(isHole ? none : 1000 + Math.floor(next() * 1000));
  }
  return bars;
}

/** The column of a formula over one lane of bars. */
function column(formula: string, bars: Bars): Series {
  const panel = panelOf(
    Object.fromEntries(
      Object.entries(bars).map(([name, cells]) => {
        return [name, cells.map((cell: number) => [Number.isNaN(cell) ? null : cell])];
      }),
    ),
  );
  return [...evaluateHere(compile(`result = ${formula}`, { fields: Object.keys(bars) }), panel)[0]!];
}

const rows = (cell: (row: number) => number): Series => Array.from({ length: ROWS }, (_, row) => cell(row));
const last = (x: Series): Series => [none, ...x.slice(0, -1)];
const windows = (x: Series, n: number, cell: (window: Series) => number): Series =>
  rows((row) => {
    const window = x.slice(Math.max(0, row - n + 1), row + 1);
    return window.length < n || window.some(Number.isNaN) ? none : cell(window);
  });
const add = (x: Series) => x.reduce((sum, value) => sum + value, 0);
const mean = (x: Series) => add(x) / x.length;

/** An average with a memory, seeded by the first value, unmoved by nulls. */
function smooth(x: Series, weight: number): Series {
  let y = none;
  return x.map((value) => {
    if (!Number.isNaN(value)) y = Number.isNaN(y) ? value : weight * value + (1 - weight) * y;
    return y;
  });
}
const wilder = (x: Series, n: number) => smooth(x, 1 / n);
const exponential = (x: Series, n: number) => smooth(x, 2 / (n + 1));

const typical = ({ high, low, close }: Bars) => rows((row) => (high[row]! + low[row]! + close[row]!) / 3);

function trueRange({ high, low, close }: Bars): Series {
  const before = last(close);
  return rows((row) => {
    const [h, l, c] = [high[row]!, low[row]!, before[row]!];
    return Math.max(h - l, Math.abs(h - c), Math.abs(l - c));
  });
}

function directional(bars: Bars, n: number, sign: 1 | -1): Series {
  const moves = rows((row) => {
    const up = bars.high[row]! - last(bars.high)[row]!;
    const down = last(bars.low)[row]! - bars.low[row]!;
    if (Number.isNaN(up + down)) return none;
    const [own, other] = sign === 1 ? [up, down] : [down, up];
    return own > other && own > 0 ? own : 0;
  });
  const [range, moved] = [wilder(trueRange(bars), n), wilder(moves, n)];
  return rows((row) => (100 * moved[row]!) / range[row]!);
}

function directionalIndex(bars: Bars, n: number): Series {
  const [plus, minus] = [directional(bars, n, 1), directional(bars, n, -1)];
  const index = rows((row) => (100 * Math.abs(plus[row]! - minus[row]!)) / (plus[row]! + minus[row]!));
  return wilder(index, n);
}

function stochastic({ high, low, close }: Bars, n: number, m: number): Series {
  const top = windows(high, n, (window) => Math.max(...window));
  const bottom = windows(low, n, (window) => Math.min(...window));
  return wilder(
    rows((row) => (100 * (close[row]! - bottom[row]!)) / (top[row]! - bottom[row]!)),
    m,
  );
}

function strength(x: Series, n: number): Series {
  const change = rows((row) => x[row]! - last(x)[row]!);
  const [gain, loss] = [1, -1].map((sign) =>
    wilder(
      change.map((value) => Math.max(sign * value, 0)),
      n,
    ),
  );
  return rows((row) => 100 - 100 / (1 + gain![row]! / loss![row]!));
}

function moneyFlow(bars: Bars, n: number): Series {
  const price = typical(bars);
  const flow = rows((row) => Math.sign(price[row]! - last(price)[row]!) * price[row]! * bars.volume[row]!);
  return windows(flow, n, (window) => {
    const into = add(window.filter((value) => value > 0));
    const outOf = -add(window.filter((value) => value < 0));
    return 100 - 100 / (1 + into / outOf);
  });
}

function balance({ close, volume }: Bars): Series {
  let sum = 0;
  let hasBegun = false;
  return rows((row) => {
    const signed = Math.sign(close[row]! - last(close)[row]!) * volume[row]!;
    if (!Number.isNaN(signed)) {
      sum += signed;
      hasBegun = true;
    }
    return hasBegun ? sum : none;
  });
}

function commodityChannel(bars: Bars, n: number): Series {
  return windows(typical(bars), n, (window) => {
    const middle = mean(window);
    const spread = mean(window.map((value) => Math.abs(value - middle)));
    return (window.at(-1)! - middle) / (0.015 * spread);
  });
}

function band(x: Series, n: number, k: number): Series {
  return windows(x, n, (window) => {
    const middle = mean(window);
    return middle + k * Math.sqrt(mean(window.map((value) => (value - middle) ** 2)));
  });
}

const aroon = (x: Series, n: number, extreme: (...window: number[]) => number) =>
  windows(x, n + 1, (window) => (100 * window.indexOf(extreme(...window))) / n);

const minus = (a: Series, b: Series) => rows((row) => a[row]! - b[row]!);

/** MACD with the usual 12, 26 and 9. */
const macd = (x: Series) => minus(exponential(x, 12), exponential(x, 26));

const LOOPS: readonly (readonly [string, (bars: Bars) => Series])[] = [
  ["sma(close, 10)", ({ close }) => windows(close, 10, mean)],
  ["rma(close, 10)", ({ close }) => wilder(close, 10)],
  ["mom(close, 5)", ({ close }) => rows((row) => close[row]! - (close[row - 5] ?? none))],
  ["roc(close, 5)", ({ close }) => rows((row) => 100 * (close[row]! / (close[row - 5] ?? none) - 1))],
  ["macd(close)", ({ close }) => macd(close)],
  ["macd_signal(close)", ({ close }) => exponential(macd(close), 9)],
  ["macd_histogram(close)", ({ close }) => minus(macd(close), exponential(macd(close), 9))],
  ["rsi(close)", ({ close }) => strength(close, 14)],
  ["boll_middle(close)", ({ close }) => windows(close, 20, mean)],
  ["boll_upper(close)", ({ close }) => band(close, 20, 2)],
  ["boll_lower(close, 10, 1.5)", ({ close }) => band(close, 10, -1.5)],
  [
    "boll_width(close)",
    ({ close }) => {
      const middle = windows(close, 20, mean);
      return minus(band(close, 20, 2), band(close, 20, -2)).map((width, row) => width / middle[row]!);
    },
  ],
  ["typical_price(high, low, close)", typical],
  ["true_range(high, low, close)", trueRange],
  ["atr(high, low, close)", (bars) => wilder(trueRange(bars), 14)],
  ["plus_di(high, low, close)", (bars) => directional(bars, 14, 1)],
  ["minus_di(high, low, close, 7)", (bars) => directional(bars, 7, -1)],
  ["adx(high, low, close)", (bars) => directionalIndex(bars, 14)],
  ["kdj_k(high, low, close)", (bars) => stochastic(bars, 9, 3)],
  ["kdj_d(high, low, close)", (bars) => wilder(stochastic(bars, 9, 3), 3)],
  [
    "kdj_j(high, low, close)",
    (bars) => {
      const [k, d] = [stochastic(bars, 9, 3), wilder(stochastic(bars, 9, 3), 3)];
      return rows((row) => 3 * k[row]! - 2 * d[row]!);
    },
  ],
  ["cci(high, low, close)", (bars) => commodityChannel(bars, 20)],
  ["obv(close, volume)", balance],
  ["mfi(high, low, close, volume)", (bars) => moneyFlow(bars, 14)],
  ["aroon_up(high)", ({ high }) => aroon(high, 25, Math.max)],
  ["aroon_down(low, 14)", ({ low }) => aroon(low, 14, Math.min)],
  ["aroon_osc(high, low, 9)", ({ high, low }) => minus(aroon(high, 9, Math.max), aroon(low, 9, Math.min))],
];

describe.each([
  ["without holes", randomBars(false)],
  ["with holes", randomBars(true)],
] as const)("bars %s", (_, bars) => {
  test.each(LOOPS)("%s follows its loop", (formula, loop) => {
    const [actual, expected] = [column(formula, bars), loop(bars)];
    expect(actual.map(Number.isNaN)).toEqual(expected.map(Number.isNaN));
    expect(actual.every(Number.isNaN)).toBe(false);
    for (const [row, value] of actual.entries()) {
      if (!Number.isNaN(value))
        expect(Math.abs(value - expected[row]!)).toBeLessThanOrEqual(1e-9 * (1 + Math.abs(value)));
    }
  });

  test.each([
    "rsi(close)",
    "plus_di(high, low, close)",
    "minus_di(high, low, close)",
    "adx(high, low, close)",
    "kdj_k(high, low, close)",
    "kdj_d(high, low, close)",
    "mfi(high, low, close, volume)",
    "aroon_up(high)",
    "aroon_down(low)",
  ])("%s stays within 0 and 100", (formula) => {
    const values = column(formula, bars).filter((value) => !Number.isNaN(value));
    expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...values)).toBeLessThanOrEqual(100);
  });
});

describe("edges", () => {
  const flat = (value: number) => new Array<number>(30).fill(value);
  const flatBars: Bars = { high: flat(5), low: flat(5), close: flat(5), volume: flat(1) };
  const rising: Bars = {
    high: rows((row) => row + 1),
    low: rows((row) => row),
    close: rows((row) => row + 1),
    volume: rows(() => 10),
  };

  test("prices that never move have no strength, no direction and no place in their range", () => {
    const empty = new Array(30).fill(none);
    const formulas = [
      "rsi(close)",
      "plus_di(high, low, close)",
      "adx(high, low, close)",
      "kdj_k(high, low, close)",
      "cci(high, low, close)",
      "mfi(high, low, close, volume)",
    ];
    for (const formula of formulas) expect(column(formula, flatBars), formula).toEqual(empty);
    expect(column("obv(close, volume)", flatBars).at(-1)).toBe(0);
    expect(column("boll_width(close)", flatBars).at(-1)).toBe(0);
    expect(column("atr(high, low, close)", flatBars).at(-1)).toBe(0);
  });

  test("prices that only rise are as strong as can be, exactly", () => {
    expect(column("rsi(close)", rising).slice(1)).toEqual(new Array(ROWS - 1).fill(100));
    expect(column("mfi(high, low, close, volume)", rising).at(-1)).toBe(100);
    expect(column("adx(high, low, close)", rising).at(-1)).toBe(100);
    expect(column("minus_di(high, low, close)", rising).at(-1)).toBe(0);
    expect(column("aroon_osc(high, low)", rising).at(-1)).toBe(100);
    expect(column("kdj_k(high, low, close)", rising).at(-1)).toBe(100);
  });
});

describe("operators of BRAIN that stand for formulas", () => {
  const day = (cells: (number | null)[][], formula: string) => {
    const panel = panelOf({ x: cells });
    const values = evaluateHere(compile(`result = ${formula}`, { fields: ["x"] }), panel)[0]!;
    return [...values];
  };

  test("hump limits changes by a share of the sum over all lanes", () => {
    // Limits: 0.1 * 20 = 2, then 0.1 * 15 = 1.5 (the null lane does not count).
    const cells = [
      [5, 10, -5],
      [2, 11, -2],
      [2, 13, null],
    ];
    expect(day(cells, "hump(x, 0.1)")).toEqual([5, 10, -5, 3.5, 10, -3.5, 2, 11.5, -3.5]);
  });

  test("jump_decay softens a jump", () => {
    // The documented example: from 4 to 2, force 0.1.
    expect(day([[4], [4], [4], [4], [4], [2]], "jump_decay(x, 6)").at(-1)).toBe(3.8);
    expect(day([[1], [2], [3], [4]], "jump_decay(x, 4, 1)").at(-1)).toBe(4);
  });
});
