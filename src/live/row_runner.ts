import { suppressUnhandled } from "../evaluation/awaiting.ts";
import { isOfOperator } from "../execution/plan_failures.ts";
import { type BudgetSplit, type LiveClock, splitByBudget } from "./deadline.ts";
import type { InputRow } from "./input/bars.ts";
import type { FactorGate, LiveFactor } from "./live_dag.ts";
import type { LiveCall } from "./live_params.ts";
import type { LivePlan, LiveRunOptions, RunAccount } from "./live_plan.ts";
import type { LatePolicy } from "./options.ts";
import type { FactorTag, FactorTags } from "./row.ts";

export interface RunRowOptions {
  readonly signal?: AbortSignal | undefined;
  /** The rest of the budget in ms; null without a budget. */
  readonly budgetMs: number | null;
  readonly late: LatePolicy;
  /** The next row, the newest one again over other input, or what the newest one lacks. */
  readonly row: LiveRunOptions["row"];
  /** Where the row is staged. */
  readonly slot: number;
  /** Nodes that may run: see `SelectionOptions.mayRun`. Default: all. */
  readonly mayRun?: Uint8Array | undefined;
}

/** A call of which factors are left that must not miss the newest row. */
interface UnfinishedRow {
  readonly call: LiveCall;
  readonly slot: number;
}

/** How a row was run. */
export interface RowRun {
  readonly account: RunAccount;
  readonly predictedMs: number;
  readonly tags: FactorTags;
  /** Settles when the row has ended; null if it has. */
  readonly rest: Promise<void> | null;
}

/** A row and how it was run. */
export interface RanRow {
  readonly row: InputRow;
  readonly slot: number;
  readonly run: RowRun;
}

/** A push that comes while the session catches up waits for about so long, and for one part of a node at least. */
const PIECE_MS = 1;

/** What is run of that which was left out: by default all gates. */
interface RestOptions extends Pick<LiveRunOptions, "endsRest" | "pieceMs"> {
  readonly only?: number;
}

/** Runs the rows of a plan, the most urgent factors first if a budget is short. */
export class RowRunner {
  readonly #plan: LivePlan;
  readonly #clock: LiveClock;
  /** Whether factors may miss rows. */
  readonly #skipsRows: boolean;
  /** Distinct priorities, the most urgent first. */
  readonly #priorities: readonly number[];
  /** Most rows have the tags of the row before. */
  #lastTags: FactorTags = {};
  #unfinished: UnfinishedRow | null = null;
  /** The gate that was caught up last. */
  #lastGate = 0;

  constructor(plan: LivePlan, clock: LiveClock, skipsRows: boolean) {
    this.#plan = plan;
    this.#clock = clock;
    this.#skipsRows = skipsRows;
    const priorities = new Set(plan.factors.map(({ priority }) => priority));
    this.#priorities = [...priorities].sort((a, b) => b - a);
  }

  /**
   * Whether the next row runs whole: then it may overlap with others. Else no other may be under way, until its rest has
   * ended.
   */
  runsWhole(call: LiveCall, budgetMs: number | null): boolean {
    if (this.#unfinished !== null) return false;
    // Predicting costs a walk over all nodes, which a push without a budget does not need twice.
    return budgetMs === null || this.#splitOf(call, "next", budgetMs).first === this.#classes;
  }

  /**
   * Runs the staged row. The row counts once its first part is done; the signal is ignored from then on.
   *
   * @throws as `OpenPlan.run`; the row does not count then.
   */
  async run(call: LiveCall, options: RunRowOptions): Promise<RowRun> {
    const { signal, budgetMs, row, slot, mayRun } = options;
    const started = this.#clock.now();
    const classes = this.#classes;
    const { first, inTime, predictedMs } = this.#splitOf(call, row, budgetMs);
    const account = await this.#plan.run({ gates: this.#gates(call, first), slot, signal, row, mayRun });
    this.#unfinished = first < classes && !this.#skipsRows ? { call, slot } : null;
    if (first === classes) return { account, predictedMs, tags: this.#tags(call, first, "late"), rest: null };
    const leftMs = budgetMs! - (this.#clock.now() - started);
    const rest = await this.#runRest(call, { first, inTime }, leftMs, options);
    return { ...rest, account: sumOf(account, rest.account), predictedMs };
  }

  /** Runs what the newest row lacks, before the next row overwrites its input. @throws as `OpenPlan.run`. */
  async finish(): Promise<void> {
    if (this.#unfinished) await this.#complete(this.#unfinished);
  }

  /** Another row is the newest, of which nothing is left. */
  forget(): void {
    this.#unfinished = null;
  }

  /**
   * Runs what the newest row left out in pieces, condition by condition, while it may go on: a push that comes meanwhile
   * waits for one piece. The next call begins with the next condition.
   */
  async catchUp(slot: number, mayGoOn: () => boolean): Promise<void> {
    const { gates } = this.#plan;
    for (let count = 0; count < gates.length && mayGoOn(); count++) {
      this.#lastGate = (this.#lastGate + 1) % gates.length;
      const piece = { only: this.#lastGate, pieceMs: PIECE_MS };
      for (let ran = 1; ran > 0 && mayGoOn(); ) ran = (await this.#tryRest(slot, piece))?.nodesRun ?? 0;
    }
  }

  /**
   * Runs the rows that recursions have missed: their carried values are then those before the next row. If that fails,
   * condition by condition: where one of them fails no other one loses rows, and only pushes that want it fail.
   */
  async endRest(slot: number, mustStop: () => boolean = () => false): Promise<void> {
    if (!this.#plan.mayRest || this.#plan.rowCount === 0) return;
    if (await this.#tryRest(slot, { endsRest: true })) return;
    for (let gate = 0; gate < this.#plan.gates.length && !mustStop(); gate++)
      await this.#tryRest(slot, { endsRest: true, only: gate });
  }

  /** Runs the rows that recursions have missed. @throws UsageError E515 where one of them fails; as `OpenPlan.run`. */
  async runRest(slot: number): Promise<void> {
    await this.#rest(slot, { endsRest: true });
  }

  /** Runs what all gates, or one, have left out, or recursions alone. */
  async #rest(slot: number, { only, ...options }: RestOptions): Promise<RunAccount> {
    const gates = this.#plan.gates.map((_, gate) => only === undefined || gate === only);
    return await this.#plan.run({ gates, slot, row: "rest", ...options });
  }

  /** The same; null if an operator failed. */
  async #tryRest(slot: number, options: RestOptions): Promise<RunAccount | null> {
    try {
      return await this.#rest(slot, options);
    } catch (error) {
      if (!isOfOperator(error)) throw error;
      return null;
    }
  }

  async #complete({ call, slot }: UnfinishedRow): Promise<void> {
    await this.#plan.run({ gates: this.#gates(call), slot, row: "rest" });
    this.#unfinished = null;
  }

  get #classes(): number {
    return Math.max(1, this.#priorities.length);
  }

  #splitOf(
    call: LiveCall,
    row: LiveRunOptions["row"],
    budgetMs: number | null,
  ): BudgetSplit & { readonly predictedMs: number } {
    const classes = this.#classes;
    const counts = budgetMs === null ? [classes] : countsUpTo(classes);
    const predictMs = counts.map((count) => this.#plan.predictMs(this.#gates(call, count), row));
    const whole = { first: classes, inTime: classes };
    const split = budgetMs === null ? whole : splitByBudget(predictMs, budgetMs);
    return { ...split, predictedMs: predictMs.at(-1)! };
  }

  /** For each gate whether a run of the first `classes` classes, by default all, includes it. */
  #gates(call: LiveCall, classes = this.#priorities.length): boolean[] {
    const least = this.#priorities[classes - 1]!;
    return this.#plan.gates.map((one) => isWanted(one, call) && one.priority >= least);
  }

  async #runRest(
    call: LiveCall,
    { first, inTime }: BudgetSplit,
    leftMs: number,
    { late, slot }: RunRowOptions,
  ): Promise<Pick<RowRun, "account" | "tags" | "rest">> {
    let done = first;
    let account = NOTHING;
    let pending: Promise<unknown> | null = null;
    if (inTime > first && leftMs > 0) {
      const running = suppressUnhandled(
        this.#plan.run({ gates: this.#gates(call, inTime), slot, row: "rest" }),
      );
      const isInTime = await this.#clock.settlesWithin(running, leftMs);
      const ended = isInTime ? await running.catch(() => null) : null;
      if (ended) [account, done] = [ended, inTime];
      else pending = running;
    }
    const left = late === "deliver" ? "late" : "skipped";
    const tags = this.#tags(call, done, left);
    const isDone = !Object.values(tags).includes(left);
    if (isDone) this.#unfinished = null;
    const isLeft = this.#skipsRows && late === "skip";
    if (isDone || isLeft) return { account, tags, rest: pending && settled(pending) };
    const rest = async () => {
      await pending;
      await this.#complete({ call, slot });
    };
    return { account, tags, rest: suppressUnhandled(rest()) };
  }

  #tags(call: LiveCall, classes: number, left: FactorTag): FactorTags {
    const least = this.#priorities[classes - 1]!;
    const tagOf = (factor: LiveFactor): FactorTag => {
      if (!isWanted(factor, call)) return "unwanted";
      return factor.priority >= least ? "on_time" : left;
    };
    const { factors } = this.#plan;
    if (factors.some((factor) => this.#lastTags[factor.name] !== tagOf(factor))) {
      const tags = factors.map((factor) => [factor.name, tagOf(factor)]);
      this.#lastTags = Object.freeze(Object.fromEntries(tags));
    }
    return this.#lastTags;
  }
}

const NOTHING: RunAccount = { runMs: 0, criticalPathMs: 0, nodesRun: 0 };

function sumOf(a: RunAccount, b: RunAccount): RunAccount {
  return {
    runMs: a.runMs + b.runMs,
    criticalPathMs: a.criticalPathMs + b.criticalPathMs,
    nodesRun: a.nodesRun + b.nodesRun,
  };
}

function countsUpTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

function isWanted({ condition }: FactorGate | LiveFactor, { holds }: LiveCall): boolean {
  return condition === null || holds[condition] === true;
}

async function settled(promise: Promise<unknown>): Promise<void> {
  await promise.catch(() => {});
}
