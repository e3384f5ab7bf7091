import { checkPanel } from "../data/panel/check_panel.ts";
import { PANEL } from "../data/panel/panel_source.ts";
import { checkKernel, checkPriority, type KernelChoice } from "../evaluation/options.ts";
import type { Panel, TimeColumn } from "../panel.ts";
import { checkArgument, FLAG, LIST, RECORD, SIGNAL, TEXTS } from "../text/argument_kinds.ts";
import { checkedOptions, type OptionKinds } from "../text/option_kinds.ts";
import { optionInvalid } from "./errors.ts";
import type { HistoryNeed } from "./history.ts";
import type { StaticGroups } from "./input/group_codes.ts";
import type { RowRetention } from "./input/retained_rows.ts";
import { checkTimeOption } from "./input/time_values.ts";
import type { GivenParams } from "./live_params.ts";

/** Factors that do not fit into the budget come later, or are skipped in this row. */
export type LatePolicy = "deliver" | "skip";

/** When factors that were left out are brought up to date. */
export type CatchUpPolicy = "on_demand" | "idle";

export interface OpenOptions {
  /** One lane each; a bar's values come in this order. Default: those of the warm-up, or of the checkpoint. */
  readonly symbols?: readonly string[] | undefined;
  /** Rows that are run before the first push, with the params of the session. */
  readonly warmup?: Panel | undefined;
  /** Values of params for the warm-up and for pushes that give no others. */
  readonly params?: GivenParams | undefined;
  /** Groups of all bars: for each group column the label of each symbol. */
  readonly groups?: StaticGroups | undefined;
  /** Name and type of the time column. Default: that of the warm-up, else `time` in UTC milliseconds. */
  readonly time?: Pick<TimeColumn, "name" | "type"> | undefined;
  /** Symbols that can be added later. Default 64. */
  readonly spareSymbols?: number | undefined;
  /** Lets `revise` replace the newest bar, for some memory and time in every push. Default false. */
  readonly revisable?: boolean | undefined;
  /** Only these factors. */
  readonly select?: readonly string[] | undefined;
  /** Keep infinities in the output instead of turning them into nulls. */
  readonly keepInfinite?: boolean | undefined;
  /** Which factors come first where a budget is short: the larger, the earlier. Default: those of the formula file. */
  readonly priorities?: Readonly<Record<string, number>> | undefined;
  /**
   * Of all rows of the session among the calls of its engine: see `EvaluateOptions.priority`. Default 1: rows go before
   * histories, whose parts are short while a session is open.
   */
  readonly priority?: number | undefined;
  /**
   * The default of the push option `late`: `"deliver"` unless given. With `"skip"` a session keeps the rows that skipped
   * factors need to catch up, which takes several times the memory; with `"deliver"` a push may skip factors too, but they
   * are run before the next row.
   */
  readonly late?: LatePolicy | undefined;
  /**
   * When factors that conditions leave out catch up: `"idle"`, the default, while no push waits, one condition after the
   * other, or `"on_demand"`, in the push that wants them again. A push that comes meanwhile waits for one of them. Recursive
   * operators run at the latest when they have missed 64 rows.
   */
  readonly catchUp?: CatchUpPolicy | undefined;
  /** Continues from this checkpoint, without a warm-up. */
  readonly checkpoint?: Uint8Array | undefined;
  /**
   * Rows of input that are kept for `update`. Default: three times the lookback of windows, also across recursive
   * operators, more if recursive operators are nested, at least 256; grows to what the program of an update needs.
   */
  readonly retainRows?: number | undefined;
  /** Which implementation runs operators; the bits are the same. */
  readonly kernel?: KernelChoice | undefined;
  /** Cancels the opening. */
  readonly signal?: AbortSignal | undefined;
}

export const OPEN_OPTIONS: OptionKinds<OpenOptions> = {
  symbols: null,
  warmup: PANEL,
  params: RECORD,
  groups: null,
  time: null,
  spareSymbols: null,
  revisable: FLAG,
  select: TEXTS,
  keepInfinite: FLAG,
  priorities: RECORD,
  priority: null,
  late: null,
  catchUp: null,
  checkpoint: null,
  retainRows: null,
  kernel: null,
  signal: SIGNAL,
};

export interface PushOptions {
  /** Values of params for these rows alone. */
  readonly params?: GivenParams | undefined;
  /** Cancels the push and its row, unless the urgent part of the row is done. */
  readonly signal?: AbortSignal | undefined;
  /** Time limit of the row in ms; only for one bar at a time. */
  readonly budgetMs?: number | undefined;
  /** What to do with factors that do not fit into the budget. Default: the option of the session. */
  readonly late?: LatePolicy | undefined;
}

export const PUSH_OPTIONS: OptionKinds<PushOptions> = {
  params: RECORD,
  signal: SIGNAL,
  budgetMs: null,
  late: null,
};

export const SPARE_SYMBOLS_DEFAULT = 64;
export const CATCH_UP_DEFAULT: CatchUpPolicy = "idle";
/** Above that of other calls. */
export const PRIORITY_DEFAULT = 1;
/** Minimum of the default of `retainRows`. */
const RETAINED_ROWS_MIN = 256;
const RETAINED_PARTS_MIN = 3;
export const TIME_DEFAULT = {
  name: "time",
  type: { kind: "timestamp", unit: "ms", timezone: "UTC" },
} as const;

/**
 * Rows of input that are kept for a program. Each recursive operator on a path may wait one part for its carried values,
 * and the windows of the path need another part.
 *
 * @param wanted the option `retainRows`
 */
export function retentionFor(
  { lookbackRows, recursions }: HistoryNeed,
  wanted: number | undefined,
): RowRetention {
  const parts = Math.max(RETAINED_PARTS_MIN, recursions + 1);
  return { rows: wanted ?? Math.max(RETAINED_ROWS_MIN, parts * (lookbackRows + 1)), parts };
}

/** The options, if they make sense. @throws UsageError E517, E522, E527, E528, E554, E570. */
export function checkedOpenOptions(given: OpenOptions): OpenOptions {
  const options = checkedOptions("open", given, OPEN_OPTIONS);
  const { warmup, spareSymbols = 0, priorities = {}, retainRows = 0, catchUp = CATCH_UP_DEFAULT } = options;
  if (options.symbols != null) checkArgument("symbols", options.symbols, LIST);
  if (warmup !== undefined) checkPanel(warmup);
  if (options.time != null) checkTimeOption(options.time);
  checkKernel(options.kernel);
  if (catchUp !== "on_demand" && catchUp !== "idle")
    throw optionInvalid("catchUp", catchUp, '"on_demand" or "idle"');
  checkLate(options.late);
  checkPriority(options.priority);
  if (!isCount(spareSymbols)) throw optionInvalid("spareSymbols", spareSymbols, "a whole number from 0");
  if (!isCount(retainRows)) throw optionInvalid("retainRows", retainRows, "a whole number from 0");
  checkPriorities(priorities);
  return options;
}

/** @throws UsageError E554. */
export function checkPriorities(priorities: Readonly<Record<string, number>>): void {
  for (const [name, priority] of Object.entries(priorities)) {
    if (!Number.isFinite(priority)) throw optionInvalid(`the priority of ${name}`, priority, "a number");
  }
}

/** @throws UsageError E554. */
export function checkPushOptions({ budgetMs, late }: PushOptions, rowCount: number): void {
  if (budgetMs !== undefined && !(typeof budgetMs === "number" && budgetMs > 0))
    throw optionInvalid("budgetMs", budgetMs, "a positive number");
  if (budgetMs !== undefined && rowCount > 1)
    throw optionInvalid("budgetMs", budgetMs, "a budget with one bar at a time only");
  checkLate(late);
}

function checkLate(late: LatePolicy | undefined): void {
  if (late !== undefined && late !== "deliver" && late !== "skip")
    throw optionInvalid("late", late, '"deliver" or "skip"');
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
