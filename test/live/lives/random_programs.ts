import { readFileSync } from "node:fs";
import { finalDag } from "../../../src/compile.ts";
import { columnsOf } from "../../../src/evaluation/wanted_factors.ts";
import { compile, defineOperator, type Program } from "../../../src/index.ts";
import type { Seeded } from "../../support/seeded.ts";

export const FIELDS = ["open", "high", "low", "close", "volume", "vwap", "amount", "market"];

const facts = {
  result: "series",
  unit: "other",
  parameters: [{ name: "x", kind: "series" }],
  source: "made for a test",
  costNs: () => 1,
  nullWhere: {},
  examples: [{ formula: "x", inputs: { x: [1] }, output: [1] }],
} as const;

/** Operators of the user: they are run by their references. */
const OPERATORS = [
  defineOperator({
    ...facts,
    name: "own_total",
    axis: "recursive",
    summary: "Sum of all values so far, halved in each row.",
    nulls: "Count as 1.",
    initialState: () => [0],
    reference: ([value], _settings, state) => {
      state[0] = state[0]! / 2 + (Number.isNaN(value) ? 1 : value!);
      return state[0];
    },
  }),
  defineOperator({
    ...facts,
    name: "own_filled",
    axis: "elementwise",
    summary: "The value.",
    nulls: "Become 90.",
    seesNulls: true,
    reference: (value) => (Number.isNaN(value) ? 90 : value),
  }),
  defineOperator({
    ...facts,
    name: "own_slow",
    axis: "elementwise",
    summary: "The value; takes 2 ms above 70.",
    nulls: "Null where x is null.",
    reference: (value) => {
      const end = value > 70 ? performance.now() + 2 : 0;
      while (performance.now() < end);
      return value;
    },
  }),
];

/** The text of a program as parts, so that an update may change some of them. */
export interface ProgramText {
  readonly dialect: "native" | "gtja191" | "qlib" | "alpha101";
  readonly params: Readonly<Record<string, number | string>>;
  /** One line per factor. */
  readonly factors: readonly string[];
}

export function compiled(
  { dialect, params, factors }: ProgramText,
  disabledPasses: readonly string[] = [],
): Program {
  const declared = Object.entries(params).map(([name, value]) => `param ${name} = ${JSON.stringify(value)}`);
  return compile([...declared, ...factors].join("\n"), {
    dialect,
    fields: FIELDS,
    groups: ["sector"],
    operators: OPERATORS,
    disabledPasses,
  });
}

/** Programs of random formulas: windows over windows, recursions, windows over those, ranks, groups, conditions. */
export class RandomPrograms {
  readonly #random: Seeded;
  readonly #conditionShare: number;
  #named = 0;

  /** @param conditionShare how many factors have a condition */
  constructor(random: Seeded, conditionShare: number) {
    this.#random = random;
    this.#conditionShare = conditionShare;
  }

  program(): ProgramText {
    const dialect = this.#pick(["native", "native", "native", "native", "gtja191", "qlib"] as const);
    const count = 2 + this.#random.below(4);
    return {
      dialect,
      params: { p: 1, q: 1 + this.#random.below(3) },
      factors: Array.from({ length: count }, () => this.#factor(dialect)),
    };
  }

  /** One factor is added, removed or changed, all are put into another order, or a default of a param is another. */
  changed({ dialect, params, factors }: ProgramText): ProgramText {
    const at = this.#random.below(factors.length);
    const factor = this.#factor(dialect === "alpha101" ? "native" : dialect);
    switch (this.#random.below(5)) {
      case 0:
        return { dialect, params, factors: [...factors, factor] };
      case 1:
        return {
          dialect,
          params,
          factors: factors.length > 1 ? factors.toSpliced(at, 1) : [...factors, factor],
        };
      case 2:
        return { dialect, params, factors: [...factors.slice(at), ...factors.slice(0, at)] };
      case 3:
        return { dialect, params: { ...params, q: 1 + this.#random.below(3) }, factors };
      default:
        return { dialect, params, factors: factors.with(at, factor) };
    }
  }

  #factor(dialect: "native" | "gtja191" | "qlib"): string {
    const formula = dialect === "native" ? this.#formula() : this.#pick(PUBLISHED[dialect]);
    const condition =
      this.#random.uniform() < this.#conditionShare ? ` when p == ${1 + this.#random.below(2)}` : "";
    const priority = this.#random.uniform() < 0.2 ? ` priority ${this.#random.below(3)}` : "";
    return `f${this.#named++} = ${formula}${condition}${priority}`;
  }

  #formula(): string {
    switch (this.#random.below(8)) {
      case 0:
        return this.#recursion(this.#series(1));
      case 1:
        return this.#window(this.#recursion(this.#series(1)));
      case 2:
        return this.#window(this.#recursion(this.#window(this.#recursion(this.#series(1)))));
      case 3:
        return this.#window(this.#across(this.#series(2)));
      case 4:
        return this.#recursion(this.#across(this.#series(1)));
      case 5:
        return `${this.#window("q * close")} + ${this.#series(1)}`;
      case 6:
        return `${this.#across(this.#series(2))} - ${this.#window(this.#recursion(this.#across("volume")))}`;
      default:
        return this.#series(3);
    }
  }

  /** Null where the fields are. */
  #series(depth: number): string {
    const field = this.#pick([
      "close",
      "volume",
      "close - open",
      "q * close",
      "high / low",
      "close - market",
    ]);
    return depth === 0 ? field : this.#window(this.#series(depth - 1));
  }

  #window(of: string): string {
    const rows = 2 + this.#random.below(9);
    const name = this.#pick([
      "ts_mean",
      "ts_sum",
      "ts_std",
      "ts_max",
      "ts_min",
      "ts_rank",
      "ts_argmax",
      "ts_median",
    ]);
    return this.#random.uniform() < 0.1 ? `ts_corr(${of}, volume, ${rows + 1})` : `${name}(${of}, ${rows})`;
  }

  #recursion(of: string): string {
    const name = this.#pick([
      "cum_sum(#)",
      "ema(#, 4)",
      "ffill(#)",
      "cum_max(#)",
      "ema_adjusted(#, 6)",
      "own_total(#)",
    ]);
    return name.replace("#", of);
  }

  #across(of: string): string {
    const name = this.#pick([
      "rank(#)",
      "group_rank(#, sector)",
      "group_mean(#, sector)",
      "zscore(#)",
      ...SEEING_ABSENT,
    ]);
    return name.replace("#", of);
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[this.#random.below(choices.length)]!;
  }
}

/** What is across the row has values for symbols that a bar lacks. */
const SEEING_ABSENT = [
  "rank(coalesce(#, 100))",
  "rank(own_filled(#))",
  "rank(delay(#, 2))",
  "group_count(ffill(#), sector)",
  "demean(q + 0 * is_null(#))",
  "rank(market + 0 * ffill(#))",
];

/** Formulas as they were published, without those that make values of nulls or read fields that the bars lack. */
const PUBLISHED = { gtja191: published("gtja191"), qlib: published("alpha158") };

function published(name: string): string[] {
  const text = readFileSync(new URL(`../../formulas/${name}.txt`, import.meta.url), "utf8");
  const dialect = /Dialect: (\w+)/.exec(text)![1]!;
  const formulas = [...text.matchAll(/^\w+ = (.*)$/gm)].map(([, formula]) => formula!);
  return formulas.filter((formula) => {
    if (/[?<>=]/.test(formula)) return false;
    try {
      const { fields } = columnsOf(finalDag(compile(`f = ${formula}`, { dialect, fields: FIELDS })));
      return fields.every((name) => FIELDS.includes(name));
    } catch {
      return false;
    }
  });
}
