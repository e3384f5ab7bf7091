import { PANEL } from "../data/panel/panel_source.ts";
import type { KernelChoice } from "../evaluation/options.ts";
import type { Panel, TimeColumn } from "../panel.ts";
import { checkArgument, LIST } from "../text/argument_kinds.ts";
import { checkOptionNames, type OptionNames } from "../text/option_names.ts";
import { optionInvalid } from "./errors.ts";
import type { Reach } from "./history.ts";
import type { StaticGroups } from "./input/group_codes.ts";
import { checkTimeOption } from "./input/live_times.ts";
import type { Retained } from "./input/retained_rows.ts";
import type { GivenParams } from "./live_params.ts";

/** What becomes of factors that do not fit into the budget: they come later, or not at all in this row. */
export type LatePolicy = "deliver" | "skip";

/** When factors that were left out are brought up to date. */
export type CatchUpPolicy = "on_demand" | "idle";

export interface OpenOptions {
  /** One lane each; a bar's values come in this order. Default: those of the warm-up, or of the checkpoint. */
  readonly symbols?: readonly string[] | undefined;
  /** Rows that are run before the first push, with the params of the session. */
  readonly warmup?: Panel | undefined;
  /** Values of params for the warm-up and for every push that gives no other ones. */
  readonly params?: GivenParams | undefined;
  /** Groups that hold for every bar: for each group column the label of each symbol. */
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
   * What becomes of factors that do not fit into a budget, where a push does not say. Default `"deliver"`. Sessions that are
   * opened with `"skip"` keep the rows that such factors need to catch up, several times as much memory as others; in others a
   * push may skip them as well, but they are run before the next row.
   */
  readonly late?: LatePolicy | undefined;
  /**
   * When factors that conditions leave out are brought up to date: `"on_demand"`, the default, in the push that wants them
   * again, or `"idle"`, behind every push that no other one waits for. A push that comes meanwhile waits for it.
   */
  readonly catchUp?: CatchUpPolicy | undefined;
  /** Goes on where this checkpoint was taken; nothing is warmed up then. */
  readonly checkpoint?: Uint8Array | undefined;
  /**
   * Rows of input that are kept for `update`. Default: thrice what windows look back, those over recursive operators
   * included, more where such operators stand behind each other, at least 256; as many as the program of an update needs.
   */
  readonly retainRows?: number | undefined;
  /** What runs an operator; the bits are the same. */
  readonly kernel?: KernelChoice | undefined;
  /** Ends the opening when aborted. */
  readonly signal?: AbortSignal | undefined;
}

const OPEN_OPTIONS: OptionNames<OpenOptions> = {
  symbols: true,
  warmup: true,
  params: true,
  groups: true,
  time: true,
  spareSymbols: true,
  revisable: true,
  select: true,
  keepInfinite: true,
  priorities: true,
  late: true,
  catchUp: true,
  checkpoint: true,
  retainRows: true,
  kernel: true,
  signal: true,
};

export interface PushOptions {
  /** Values of params for these rows alone. */
  readonly params?: GivenParams | undefined;
  /** Ends the push when aborted, until its urgent part is done: the row has not been there then. */
  readonly signal?: AbortSignal | undefined;
  /** Time in ms that the row may take; only for one bar at a time. */
  readonly budgetMs?: number | undefined;
  /** What becomes of what does not fit into the budget. Default: as the session was opened. */
  readonly late?: LatePolicy | undefined;
  /** The tables have memory of their own and hold for good. Default false: until the next push. */
  readonly copy?: boolean | undefined;
}

export const PUSH_OPTIONS: OptionNames<PushOptions> = {
  params: true,
  signal: true,
  budgetMs: true,
  late: true,
  copy: true,
};

export const SPARE_SYMBOLS_DEFAULT = 64;
/** Rows that are kept at least, unless the caller says otherwise. */
const RETAINED_ROWS_MIN = 256;
/** Parts that they are divided into at least. */
const RETAINED_PARTS_MIN = 3;
export const TIME_DEFAULT = {
  name: "time",
  type: { kind: "timestamp", unit: "ms", timezone: "UTC" },
} as const;

/**
 * Rows of input that are kept for a program. Each recursive operator on a path may wait a part for what it carried, and
 * the windows of the path pass over another one.
 *
 * @param wanted the option `retainRows`
 */
export function retainedFor({ lookbackRows, recursions }: Reach, wanted: number | undefined): Retained {
  const parts = Math.max(RETAINED_PARTS_MIN, recursions + 1);
  return { rows: wanted ?? Math.max(RETAINED_ROWS_MIN, parts * (lookbackRows + 1)), parts };
}

/** @throws UsageError E527, E528, E554. */
export function checkOpenOptions(options: OpenOptions): void {
  checkOptionNames("open", options, OPEN_OPTIONS);
  const { warmup, spareSymbols = 0, priorities = {}, retainRows = 0, catchUp = "on_demand" } = options;
  if (warmup != null) checkArgument("the option warmup", warmup, PANEL);
  if (options.symbols != null) checkArgument("symbols", options.symbols, LIST);
  if (options.time != null) checkTimeOption(options.time);
  if (catchUp !== "on_demand" && catchUp !== "idle")
    throw optionInvalid("catchUp", catchUp, '"on_demand" or "idle"');
  checkLate(options.late);
  if (!isCount(spareSymbols)) throw optionInvalid("spareSymbols", spareSymbols, "a whole number from 0");
  if (!isCount(retainRows)) throw optionInvalid("retainRows", retainRows, "a whole number from 0");
  for (const [name, priority] of Object.entries(priorities)) {
    if (!Number.isFinite(priority)) throw optionInvalid(`the priority of ${name}`, priority, "a number");
  }
}

/** @throws UsageError E554. */
export function checkPushOptions({ budgetMs, late }: PushOptions, rowCount: number): void {
  if (budgetMs !== undefined && !(budgetMs > 0))
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
