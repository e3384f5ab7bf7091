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
import type { LiveClock } from "./deadline.ts";
import { type ExactPoint, exactRowOfOutput, exactRows, type Reach, reachOf } from "./history.ts";
import type { InputRow } from "./input/bars.ts";
import type { GroupCodes } from "./input/group_codes.ts";
import type { Lanes } from "./input/lanes.ts";
import type { RecurrencePoint } from "./input/retained_rows.ts";
import type { LatencyModel } from "./latency.ts";
import { type GivenParams, type LiveCall, LiveParams } from "./live_params.ts";
import { LivePlan, type LivePlanSpec } from "./live_plan.ts";
import { LiveTables } from "./live_tables.ts";
import type { OpenOptions } from "./options.ts";
import { type RowRun, RowRunner, type RunRowOptions } from "./row_runner.ts";

/** What a session shares with every program that it is open for. */
export interface SessionParts {
  readonly host: EngineHost;
  readonly lanes: Lanes;
  readonly groups: GroupCodes;
  readonly time: Pick<TimeColumn, "name" | "type">;
  /** Fields that hold values where symbols have no row: those of the warm-up that do. */
  readonly series: readonly string[];
  readonly options: OpenOptions;
  readonly clock: LiveClock;
  /** Stands in for what is measured, in tests. */
  readonly latency?: LatencyModel | undefined;
}

/** By the tasks of a plan: their numbers, and the rows from which on they are exact. */
export interface SavedHistory {
  readonly numbers: readonly number[];
  readonly exactRows: readonly number[];
}

/** A program of a session: its open plan, and what turns rows of input into tables. */
export class LiveProgram {
  readonly plan: LivePlan;
  readonly tables: LiveTables;
  readonly runner: RowRunner;
  readonly #registry: Registry;
  #parts: SessionParts;
  #params: LiveParams;
  /** The numbers of the plan's tasks among those of the session. */
  #taskNumbers: readonly number[] | null = null;
  /** For each task the row of the session from which on it is as if it had always been there (`exactRows`). */
  #exactRows: readonly number[];

  /** @throws UsageError, DataError, ResourceError as `Engine.open`. */
  static async open(parts: SessionParts, program: Program, opening: GivenParams): Promise<LiveProgram> {
    const { host, latency } = parts;
    const registry = builtInRegistry.with(program.operators);
    const plan = await LivePlan.open(host, registry, program, specOf(parts), latency);
    try {
      return new LiveProgram(parts, program, plan, registry, opening);
    } catch (error) {
      await plan.close();
      throw error;
    }
  }

  private constructor(
    parts: SessionParts,
    program: Program,
    plan: LivePlan,
    registry: Registry,
    opening: GivenParams,
  ) {
    const { lanes, time, options, clock } = parts;
    this.plan = plan;
    this.#params = paramsOf(program, plan, registry, opening);
    this.tables = new LiveTables(plan, lanes, time, options.keepInfinite === true);
    this.runner = new RowRunner(plan, clock, options.late === "skip");
    this.#registry = registry;
    this.#parts = parts;
    this.#exactRows = plan.evaluation.plan.tasks.map(() => Number.NEGATIVE_INFINITY);
    this.noteSymbols();
  }

  get params(): LiveParams {
    return this.#params;
  }

  get options(): OpenOptions {
    return this.#parts.options;
  }

  /**
   * Takes the place of another program that has the same graph, with other values of params: true if it is one. All that
   * is carried stays as it is.
   *
   * @throws UsageError E503, E504, E506, E555 as `Engine.open`.
   */
  become(parts: SessionParts, program: Program, opening: GivenParams): boolean {
    const registry = builtInRegistry.with(program.operators);
    if (!this.plan.isOf(program, specOf(parts))) return false;
    this.#params = paramsOf(program, this.plan, registry, opening);
    this.#parts = parts;
    return true;
  }

  /** There are new symbols. */
  noteSymbols(): void {
    this.tables.noteSymbols();
  }

  /** Brings the row into the columns. */
  stage(row: InputRow, call: LiveCall): void {
    const { groups, series } = this.#parts;
    this.plan.input.stage(row, series, (name) => groups.ofLanes(name), call.numeric);
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

  get reach(): Reach {
    return reachOf(this.plan.evaluation.recurrentPlan(this.#registry));
  }

  /** What recursive operators carry before a row of the session, which is its next one or its newest. */
  pointBefore(row: number, numbers: TaskNumbers, which: "next" | "newest" = "next"): RecurrencePoint {
    return this.pointOf(row, this.recurrences(numbers, which), numbers);
  }

  /** The same, where it has been read before. */
  pointOf(row: number, values: RecurrenceValues, numbers: TaskNumbers): RecurrencePoint {
    const { taskNumbers } = this.#recurrent(numbers);
    const exact = new Set(taskNumbers.filter((_, task) => this.#exactRows[task]! <= row));
    return { row, values, exact: exact.intersection(new Set(values.keys())) };
  }

  /** The program has been run from a row of the session on, with what recursive operators carried at these points. */
  noteHistory(first: number, points: readonly ExactPoint[], numbers: TaskNumbers): void {
    const { open, taskNumbers } = this.#recurrent(numbers);
    this.#exactRows = exactRows(open, taskNumbers, first, points);
  }

  /** Factors that do not have the values of the whole history in this row. */
  shortAt(row: number): string[] {
    const { plan } = this.plan.evaluation;
    return this.plan.factors.flatMap(({ name, output }) =>
      exactRowOfOutput(plan, this.#exactRows, output) > row ? [name] : [],
    );
  }

  /** What a checkpoint holds of its history. */
  saveHistory(numbers: TaskNumbers): SavedHistory {
    return { numbers: this.#recurrent(numbers).taskNumbers, exactRows: this.#exactRows };
  }

  /** Takes it from a checkpoint of the same plan; gives the points with the numbers of this session. */
  restoreHistory(
    { numbers: saved, exactRows: rows }: SavedHistory,
    points: readonly RecurrencePoint[],
    numbers: TaskNumbers,
  ): RecurrencePoint[] {
    const { taskNumbers } = this.#recurrent(numbers);
    const own = new Map(saved.map((number, task) => [number, taskNumbers[task]!]));
    this.#exactRows = rows;
    return points.map(({ row, values, exact }) => ({
      row,
      values: new Map(
        [...values].flatMap(([task, value]) => (own.has(task) ? [[own.get(task)!, value]] : [])),
      ),
      exact: new Set([...exact].flatMap((task) => own.get(task) ?? [])),
    }));
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

function specOf({ lanes, series, options }: SessionParts): LivePlanSpec {
  return {
    laneCount: lanes.laneCount,
    series,
    isRevisable: options.revisable === true,
    skipsRows: options.late === "skip",
    select: options.select,
    priorities: options.priorities ?? {},
    kernel: options.kernel,
  };
}

function paramsOf(program: Program, { factors, read }: LivePlan, registry: Registry, opening: GivenParams) {
  const conditions = new Set(factors.flatMap(({ condition }) => condition ?? []));
  return new LiveParams(program, registry, opening, [...conditions], read.params);
}

const ALL_WANTED: RunRowOptions = { budgetMs: null, late: "deliver", isRevision: false };
