import { suppressUnhandled } from "../evaluation/awaiting.ts";
import { type Division, divide, type LiveClock } from "./deadline.ts";
import type { LiveFactor, Switch } from "./live_dag.ts";
import type { LiveCall } from "./live_params.ts";
import type { LivePlan, RunAccount } from "./live_plan.ts";
import type { LatePolicy } from "./options.ts";
import type { FactorTag } from "./row.ts";

export interface RunRowOptions {
  readonly signal?: AbortSignal | undefined;
  /** What is left of the budget, in ms; null without one. */
  readonly budgetMs: number | null;
  readonly late: LatePolicy;
  /** True if the newest row is replaced. */
  readonly isRevision: boolean;
}

/** How a row was run. */
export interface RowRun {
  readonly account: RunAccount;
  readonly predictedMs: number;
  readonly tags: ReadonlyMap<string, FactorTag>;
  /** Settles when nothing of the row runs any more; null if that is so now. */
  readonly rest: Promise<void> | null;
}

/** Runs the rows of a plan, the most urgent factors first where a budget is short. */
export class RowRunner {
  readonly #plan: LivePlan;
  readonly #clock: LiveClock;
  /** True if rows may be left out of factors for good. */
  readonly #skipsRows: boolean;
  /** The priorities that occur, the most urgent first. */
  readonly #priorities: readonly number[];
  /** Those of most rows are those of the row before. */
  #lastTags: ReadonlyMap<string, FactorTag> = new Map();

  /** How the newest row was run, while factors wait for their part of it that must not be left out. */
  #unfinished: LiveCall | null = null;

  constructor(plan: LivePlan, clock: LiveClock, skipsRows: boolean) {
    this.#plan = plan;
    this.#clock = clock;
    this.#skipsRows = skipsRows;
    const priorities = new Set(plan.factors.map(({ priority }) => priority));
    this.#priorities = [...priorities].sort((a, b) => b - a);
  }

  /**
   * Runs the row that is staged. Once its first part is done the row stands, and the signal is not heeded any more.
   *
   * @throws as `OpenPlan.run`; the row does not stand then.
   */
  async run(call: LiveCall, options: RunRowOptions): Promise<RowRun> {
    const { signal, budgetMs, isRevision } = options;
    const started = this.#clock.now();
    const row = isRevision ? "again" : "next";
    const classes = Math.max(1, this.#priorities.length);
    const predictMs = this.#predictMs(call, row, budgetMs === null ? [classes] : countsUpTo(classes));
    const division = budgetMs === null ? ALL : divide(predictMs, budgetMs);
    const first = Math.min(division.first, classes);
    const account = await this.#plan.run({ switches: this.switches(call, first), signal, row });
    this.#unfinished = first < classes && !this.#skipsRows ? call : null;
    const predictedMs = predictMs.at(-1)!;
    if (first === classes) return { account, predictedMs, tags: this.#tags(call, first, "late"), rest: null };
    const leftMs = budgetMs! - (this.#clock.now() - started);
    const rest = await this.#runRest(call, first, division, leftMs, options);
    return { ...rest, account: together(account, rest.account), predictedMs };
  }

  /** Runs what the newest row lacks: it cannot be made up for once the next one is there. @throws as `OpenPlan.run`. */
  async finish(): Promise<void> {
    if (this.#unfinished) await this.#complete(this.#unfinished);
  }

  async #complete(call: LiveCall): Promise<void> {
    await this.#plan.run({ switches: this.switches(call), row: "rest" });
    this.#unfinished = null;
  }

  /** For each switch whether it is on in a run of the first so many classes; all of them if left out. */
  switches(call: LiveCall, classes = this.#priorities.length): boolean[] {
    const least = this.#priorities[classes - 1]!;
    return this.#plan.switches.map((one) => isWanted(one, call) && one.priority >= least);
  }

  async #runRest(
    call: LiveCall,
    first: number,
    { inTime }: Division,
    leftMs: number,
    { late }: RunRowOptions,
  ): Promise<Pick<RowRun, "account" | "tags" | "rest">> {
    let done = first;
    let account = NOTHING;
    let pending: Promise<unknown> | null = null;
    if (inTime > first && leftMs > 0) {
      const running = suppressUnhandled(
        this.#plan.run({ switches: this.switches(call, inTime), row: "rest" }),
      );
      const isInTime = await this.#clock.settlesWithin(running, leftMs);
      const ended = isInTime ? await running.catch(() => null) : null;
      if (ended) [account, done] = [ended, inTime];
      else pending = running;
    }
    const left = late === "deliver" ? "late" : "skipped";
    const tags = this.#tags(call, done, left);
    const isDone = ![...tags.values()].includes(left);
    if (isDone) this.#unfinished = null;
    const isLeft = this.#skipsRows && late === "skip";
    if (isDone || isLeft) return { account, tags, rest: pending && settled(pending) };
    const rest = async () => {
      await pending;
      await this.#complete(call);
    };
    return { account, tags, rest: suppressUnhandled(rest()) };
  }

  #predictMs(call: LiveCall, row: "next" | "again", counts: readonly number[]): number[] {
    return counts.map((classes) => this.#plan.predictMs(this.switches(call, classes), row));
  }

  #tags(call: LiveCall, classes: number, left: FactorTag): ReadonlyMap<string, FactorTag> {
    const least = this.#priorities[classes - 1]!;
    const tagOf = (factor: LiveFactor): FactorTag => {
      if (!isWanted(factor, call)) return "unwanted";
      return factor.priority >= least ? "on_time" : left;
    };
    const { factors } = this.#plan;
    if (factors.some((factor) => this.#lastTags.get(factor.name) !== tagOf(factor)))
      this.#lastTags = new Map(factors.map((factor) => [factor.name, tagOf(factor)]));
    return this.#lastTags;
  }
}

const NOTHING: RunAccount = { runMs: 0, criticalPathMs: 0, nodesRun: 0 };

/** Two runs, one after the other. */
function together(a: RunAccount, b: RunAccount): RunAccount {
  return {
    runMs: a.runMs + b.runMs,
    criticalPathMs: a.criticalPathMs + b.criticalPathMs,
    nodesRun: a.nodesRun + b.nodesRun,
  };
}

const ALL: Division = { first: Number.POSITIVE_INFINITY, inTime: Number.POSITIVE_INFINITY };

function countsUpTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

function isWanted({ condition }: Switch | LiveFactor, { holds }: LiveCall): boolean {
  return condition === null || holds[condition] === true;
}

async function settled(promise: Promise<unknown>): Promise<void> {
  await promise.catch(() => {});
}
