import { isDeepStrictEqual } from "node:util";
import { builtInRegistry } from "../../operators/index.ts";
import type { RecurrencePoint } from "../checkpoint/state_file.ts";
import type { Program } from "../compile.ts";
import type { EngineHost } from "../evaluation/evaluation.ts";
import type { StretchOf } from "../evaluation/restarts.ts";
import {
  type RecurrenceValues,
  type RecurrentPlan,
  readRecurrences,
  writeRecurrences,
} from "../kernel/run/recurrences.ts";
import type { Registry } from "../operator/registry.ts";
import type { TimeColumn } from "../panel.ts";
import { warmUpRows } from "../plan/retention.ts";
import {
  type ExactPoint,
  exactRowOfOutput,
  exactRows,
  exactRowsAfter,
  type HistoryNeed,
  historyNeedOf,
  pointOf,
  type RowRetention,
  retentionFor,
  type ShortOfHistory,
} from "../state/history.ts";
import type { RowColumns } from "../state/retained_rows.ts";
import type { LiveClock } from "./deadline.ts";
import type { InputRow } from "./input/bars.ts";
import type { GroupCodes } from "./input/group_codes.ts";
import type { SeriesFields } from "./input/live_input.ts";
import type { SymbolLanes } from "./input/symbol_lanes.ts";
import type { LatencyModel } from "./latency.ts";
import type { LiveMeter } from "./live_metrics.ts";
import { type GivenParams, type LiveCall, LiveParams } from "./live_params.ts";
import { LivePlan, type LivePlanSpec } from "./live_plan.ts";
import { LiveTables } from "./live_tables.ts";
import { type OpenOptions, PRIORITY_DEFAULT } from "./options.ts";
import { type RowRun, RowRunner, type RunRowOptions } from "./row_runner.ts";

/** What a session shares with each of its programs. */
export interface SessionParts {
  readonly host: EngineHost;
  readonly lanes: SymbolLanes;
  readonly groups: GroupCodes;
  readonly time: Pick<TimeColumn, "name" | "type">;
  readonly series: SeriesFields;
  /** Null for a session without restarts. */
  readonly stretchOf: StretchOf | null;
  readonly options: OpenOptions;
  readonly clock: LiveClock;
  readonly meter: LiveMeter;
  /** Replaces the measured model in tests. */
  readonly latency?: LatencyModel | undefined;
}

/** A program of a session: its open plan, its tables and its runner. */
export class LiveProgram {
  readonly plan: LivePlan;
  readonly tables: LiveTables;
  readonly runner: RowRunner;
  readonly #registry: Registry;
  #parts: SessionParts;
  #program: Program;
  #params: LiveParams;
  /** For each task its first exact row in the session: see `exactRows`. */
  #exactRows: readonly number[];

  /**
   * @param signal ends waiting for room
   * @throws UsageError, DataError, ResourceError as `Engine.openSession`.
   */
  static async open(
    parts: SessionParts,
    program: Program,
    opening: GivenParams,
    signal: AbortSignal | undefined,
  ): Promise<LiveProgram> {
    const { host, latency } = parts;
    const registry = builtInRegistry.with(program.operators);
    const plan = await LivePlan.open(host, registry, program, specOf(parts), latency, signal);
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
    const { options, clock } = parts;
    this.plan = plan;
    this.#program = program;
    this.#params = paramsOf(program, plan, registry, opening);
    this.tables = new LiveTables(plan, parts.lanes, parts.time, options.keepInfinite === true);
    this.runner = new RowRunner(plan, clock, options.late === "skip");
    this.#registry = registry;
    this.#parts = parts;
    this.#exactRows = plan.evaluation.plan.tasks.map(() => Number.NEGATIVE_INFINITY);
  }

  get program(): Program {
    return this.#program;
  }

  get params(): LiveParams {
    return this.#params;
  }

  get options(): OpenOptions {
    return this.#parts.options;
  }

  /**
   * Adopts the params of a program that computes the same, and keeps all state; false if it does not.
   *
   * @throws UsageError E506, E528, E555 as `Engine.openSession`.
   */
  adopt(parts: SessionParts, program: Program, opening: GivenParams): boolean {
    const registry = builtInRegistry.with(program.operators);
    if (!isDeepStrictEqual(namesOf(program, parts), namesOf(this.#program, this.#parts))) return false;
    this.#program = program;
    this.#params = paramsOf(program, this.plan, registry, opening);
    this.#parts = parts;
    return true;
  }

  /** Copies the row into its slot of the columns. */
  stage(slot: number, row: InputRow, call: LiveCall): void {
    const { groups, series } = this.#parts;
    this.plan.input.stage(slot, row, series, (name) => groups.ofLanes(name), call.numeric);
  }

  /** Carried values of recursive operators before the next row, or the one `rowsBack` before it. */
  recurrences(rowsBack = 0): RecurrenceValues {
    const { openPlan } = this.plan.evaluation;
    return readRecurrences(this.#recurrent, (node) => openPlan.generationBefore(node, rowsBack));
  }

  /** Sets carried values of those recursive operators that another program has as well. */
  takeRecurrences(values: RecurrenceValues): void {
    const { openPlan } = this.plan.evaluation;
    writeRecurrences(this.#recurrent, (node) => openPlan.generationBefore(node), values);
  }

  /** How many rows of input are kept for it. @param wanted the option `retainRows` */
  retention(wanted: number | undefined): RowRetention {
    return retentionFor(this.#need, wanted);
  }

  /** The factor that looks back furthest. */
  get furthest(): string {
    return this.#need.furthest;
  }

  /** The columns that kept rows have: those that bars must bring, and what they bring beside. */
  columnsKept({ fields, groups }: RowColumns): RowColumns {
    const { read } = this.plan;
    const broughtGroups = read.groups.filter((name) => this.#parts.groups.ofLanes(name) === null);
    return {
      fields: [...new Set([...read.fields, ...fields])],
      groups: [...new Set([...broughtGroups, ...groups])],
    };
  }

  get #need(): HistoryNeed {
    return historyNeedOf(this.plan.graph.dag);
  }

  /** Carried values before a row of the session: its next one, or the one `rowsBack` before it. */
  pointBefore(row: number, rowsBack: number): RecurrencePoint {
    return this.pointOf(row, this.recurrences(rowsBack));
  }

  /** The same for values that were read before. */
  pointOf(row: number, values: RecurrenceValues): RecurrencePoint {
    return pointOf(this.plan.evaluation.plan, this.#exactRows, row, values);
  }

  /** For each node how many rows before the last one of a warm-up it begins; null: with the first. */
  warmUpRows(): (number | null)[] {
    return warmUpRows(this.plan.evaluation.plan, this.#registry);
  }

  /** Whether a point has the carried values of all recursive operators: one that failed in a row that it missed has none. */
  isWhole({ values }: RecurrencePoint): boolean {
    return this.plan.evaluation.plan.tasks.every(({ fingerprints }) =>
      fingerprints.every((one) => values.has(one)),
    );
  }

  /** Says that the program was run from row `first` on and took over carried values at these points. */
  setHistory(first: number, points: readonly ExactPoint[]): void {
    this.#exactRows = exactRows(this.#recurrent, first, points);
  }

  /** Factors whose values in this row are not those of the whole history: after how many rows they are. */
  shortOfHistoryAt(row: number): ShortOfHistory {
    return this.#shortAt(row, this.#exactRows);
  }

  /** The same for a session that goes on from a number of kept rows. @param isRevisable whether the newest may be run again */
  shortWith(retention: RowRetention, isRevisable: boolean): ShortOfHistory {
    const { openRow, taskRows } = exactRowsAfter(this.#recurrent, retention, isRevisable ? 1 : 0);
    return this.#shortAt(openRow, taskRows);
  }

  #shortAt(row: number, taskRows: readonly number[]): ShortOfHistory {
    const { plan } = this.plan.evaluation;
    const rowsMissing = this.plan.factors.map(
      ({ name, output }) => [name, exactRowOfOutput(plan, taskRows, output) - row] as const,
    );
    return Object.fromEntries(rowsMissing.filter(([, rows]) => rows > 0));
  }

  get #recurrent(): RecurrentPlan {
    return this.plan.evaluation.recurrentPlan(this.#registry);
  }

  /** Runs the staged row; by default all wanted factors, without a budget. @throws as `RowRunner.run`. */
  async run(call: LiveCall, slot: number, options: Partial<RunRowOptions> = {}): Promise<RowRun> {
    return await this.runner.run(call, { ...ALL_WANTED, ...options, slot });
  }
}

function specOf({ lanes, series, options }: SessionParts): LivePlanSpec {
  return {
    laneCount: lanes.laneCount,
    series: series.names,
    priority: options.priority ?? PRIORITY_DEFAULT,
    isRevisable: options.revisable === true,
    skipsRows: options.late === "skip",
    select: options.select,
    priorities: options.priorities ?? {},
    kernel: options.kernel,
  };
}

/** Equal where plans are, apart from values of params. */
function namesOf(program: Program, parts: SessionParts): unknown[] {
  const { select, priorities, series } = specOf(parts);
  return [program.origin().fingerprints.program, program.disabledPasses, select, priorities, series];
}

function paramsOf(program: Program, { factors, read }: LivePlan, registry: Registry, opening: GivenParams) {
  const conditions = new Set(factors.flatMap(({ condition }) => condition ?? []));
  return new LiveParams(program, registry, opening, [...conditions], read.params);
}

const ALL_WANTED = { budgetMs: null, late: "deliver", row: "next" } as const;
