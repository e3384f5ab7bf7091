import { builtInRegistry } from "../../operators/index.ts";
import type { Program } from "../compile.ts";
import type { EngineHost } from "../evaluation/evaluation.ts";
import {
  type RecurrenceValues,
  type RecurrentPlan,
  readRecurrences,
  type TaskNumbers,
  writeRecurrences,
} from "../kernel/recurrences.ts";
import type { Registry } from "../operator/registry.ts";
import type { TimeColumn } from "../panel.ts";
import type { InputRow } from "./bars.ts";
import type { LiveClock } from "./deadline.ts";
import type { GroupCodes } from "./group_codes.ts";
import type { Lanes } from "./lanes.ts";
import type { LatencyModel } from "./latency.ts";
import { type GivenParams, type LiveCall, LiveParams } from "./live_params.ts";
import { LivePlan } from "./live_plan.ts";
import { LiveTables } from "./live_tables.ts";
import type { OpenOptions } from "./options.ts";
import { type RowRun, RowRunner, type RunRowOptions } from "./row_runner.ts";

/** What a session shares with every program that it is open for. */
export interface SessionParts {
  readonly host: EngineHost;
  readonly lanes: Lanes;
  readonly groups: GroupCodes;
  readonly time: Pick<TimeColumn, "name" | "type">;
  readonly options: OpenOptions;
  readonly clock: LiveClock;
  /** Stands in for what is measured, in tests. */
  readonly latency?: LatencyModel | undefined;
}

/** A program of a session: its open plan, and what turns rows of input into tables. */
export class LiveProgram {
  readonly program: Program;
  readonly plan: LivePlan;
  readonly params: LiveParams;
  readonly tables: LiveTables;
  readonly runner: RowRunner;
  readonly #parts: SessionParts;

  readonly #registry: Registry;
  /** The numbers of the plan's tasks among those of the session. */
  #taskNumbers: readonly number[] | null = null;

  /** @throws UsageError, DataError, ResourceError as `Engine.open`. */
  static async open(parts: SessionParts, program: Program, opening: GivenParams): Promise<LiveProgram> {
    const { host, lanes, options, latency } = parts;
    const registry = builtInRegistry.with(program.operators);
    const plan = await LivePlan.open(
      host,
      registry,
      program,
      {
        laneCount: lanes.laneCount,
        hasSpareLanes: lanes.hasSpare,
        isRevisable: options.revisable === true,
        select: options.select,
        priorities: options.priorities ?? {},
        kernel: options.kernel,
      },
      latency,
    );
    try {
      return new LiveProgram(parts, plan, registry, opening);
    } catch (error) {
      await plan.close();
      throw error;
    }
  }

  private constructor(parts: SessionParts, plan: LivePlan, registry: Registry, opening: GivenParams) {
    const { lanes, time, options, clock } = parts;
    const conditions = new Set(plan.factors.flatMap(({ condition }) => condition ?? []));
    this.program = plan.program;
    this.plan = plan;
    this.params = new LiveParams(plan.program, registry, opening, [...conditions], plan.read.params);
    this.tables = new LiveTables(plan, lanes, time, options.keepInfinite === true);
    this.runner = new RowRunner(plan, clock);
    this.#registry = registry;
    this.#parts = parts;
    this.noteSymbols();
  }

  /** There are new symbols. */
  noteSymbols(): void {
    const { lanes } = this.#parts;
    this.tables.noteSymbols();
    this.plan.input.useLanes(lanes.symbols.length);
  }

  /** Brings the row into the columns. */
  stage(row: InputRow, call: LiveCall): void {
    const { groups } = this.#parts;
    this.plan.input.stage(row, (name) => groups.ofLanes(name), call.numeric);
  }

  /** What recursive operators carry before the next row, or before the newest. */
  recurrences(numbers: TaskNumbers, row: "next" | "newest" = "next"): RecurrenceValues {
    const { open, taskNumbers } = this.#recurrent(numbers);
    return readRecurrences(open, taskNumbers, this.#generationBefore(row));
  }

  /** Lets recursive operators that another program has as well go on from what they carry there. */
  takeRecurrences(values: RecurrenceValues, numbers: TaskNumbers, row: "next" | "newest" = "next"): void {
    const { open, taskNumbers } = this.#recurrent(numbers);
    writeRecurrences(open, taskNumbers, this.#generationBefore(row), values);
  }

  #recurrent(numbers: TaskNumbers): { open: RecurrentPlan; taskNumbers: readonly number[] } {
    const open = this.plan.evaluation.recurrentPlan(this.#registry);
    this.#taskNumbers ??= numbers.of(open);
    return { open, taskNumbers: this.#taskNumbers };
  }

  #generationBefore(row: "next" | "newest"): 0 | 1 {
    const { generation } = this.plan.evaluation.openPlan.next;
    return row === "next" ? generation : generation === 0 ? 1 : 0;
  }

  /** Runs the row that is staged, with all that is wanted. @throws as `RowRunner.run`. */
  async run(call: LiveCall, options: Partial<RunRowOptions> = {}): Promise<RowRun> {
    return await this.runner.run(call, { ...ALL_WANTED, ...options });
  }
}

const ALL_WANTED: RunRowOptions = { budgetMs: null, late: "deliver", isRevision: false };
