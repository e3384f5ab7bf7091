import { types } from "node:util";
import { checkPanel } from "../data/panel/check_panel.ts";
import { PANEL } from "../data/panel/panel_source.ts";
import type { EvaluateOptions, KernelChoice, Restarts } from "../evaluation/options.ts";
import { checkedAt } from "../options/option_table.ts";
import type { Panel, TimeColumn } from "../panel.ts";
import {
  type ArgumentKind,
  FLAG,
  LIST,
  oneOf,
  PATH,
  RECORD,
  SIGNAL,
  wholeNumber,
} from "../text/argument_kinds.ts";
import type { OptionKinds } from "../text/option_kinds.ts";
import { optionInvalid } from "./errors.ts";
import { GROUPS, type StaticGroups } from "./input/group_codes.ts";
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
  /** Where windows and recurrences begin as if no row had come before: see `EvaluateOptions.restarts`. */
  readonly restarts?: Restarts | undefined;
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
  /**
   * Continues from this checkpoint, without a warm-up: the folder that `session.checkpoint(folder)` has written, or the
   * bytes of `session.checkpoint()`. Further symbols, and other spare ones, may be given.
   */
  readonly checkpoint?: string | Uint8Array | undefined;
  /**
   * Rows of input that are kept for checkpoints, `update` and `why`. Default: what windows look back, also across recursive
   * operators, and where there are such operators the rows between two points of their carried values; at least 256. Grows
   * to what the program of an update needs. With fewer, `LiveSession.shortAfterRestore` names the factors that become short.
   * They count in the engine's memory (E401).
   */
  readonly retainRows?: number | undefined;
  /** Which implementation runs operators; the bits are the same. */
  readonly kernel?: KernelChoice | undefined;
  /** Cancels the opening. */
  readonly signal?: AbortSignal | undefined;
}

const invalid = (wanted: string) => (name: string, given: unknown) => optionInvalid(name, given, wanted);
const COUNT = wholeNumber(0, Number.MAX_SAFE_INTEGER, invalid("a whole number from 0"));
const LATE = oneOf<LatePolicy>(["deliver", "skip"], invalid('"deliver" or "skip"'));

/** @throws UsageError E528. */
export const PRIORITIES: ArgumentKind = {
  ...RECORD,
  fits: (given) => {
    if (!RECORD.fits(given)) return false;
    for (const [name, priority] of Object.entries(given as object))
      if (!Number.isFinite(priority)) throw optionInvalid(`the priority of ${name}`, priority, "a number");
    return true;
  },
};

export const CHECKPOINT: ArgumentKind = {
  what: "a checkpoint",
  fits: (given) => types.isUint8Array(given) || PATH.fits(given),
  remedy:
    "a checkpoint is the folder that await session.checkpoint(folder) has written, or the bytes that it gives without one",
};

/** What a session has beside the options of a call. */
export const OWN_OPEN_OPTIONS: OptionKinds<Omit<OpenOptions, keyof EvaluateOptions>> = {
  symbols: LIST,
  warmup: PANEL,
  groups: GROUPS,
  time: {
    what: "a name and a type",
    fits: (given) => {
      checkTimeOption(given as NonNullable<OpenOptions["time"]>);
      return true;
    },
    remedy: "write { name, type }",
  },
  spareSymbols: COUNT,
  revisable: FLAG,
  priorities: PRIORITIES,
  late: LATE,
  catchUp: oneOf<CatchUpPolicy>(["on_demand", "idle"], invalid('"on_demand" or "idle"')),
  checkpoint: CHECKPOINT,
  retainRows: COUNT,
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
  budgetMs: {
    what: "a positive number",
    fits: (given) => typeof given === "number" && given > 0,
    remedy: "give a positive number",
    refuse: invalid("a positive number"),
  },
  late: LATE,
};

/** Options of another call over the newest bar. */
export type AlsoOptions = Omit<PushOptions, "signal">;

const { signal: _, ...alsoOptions } = PUSH_OPTIONS;
export const ALSO_OPTIONS: OptionKinds<AlsoOptions> = alsoOptions;

export const SPARE_SYMBOLS_DEFAULT = 64;
export const CATCH_UP_DEFAULT: CatchUpPolicy = "idle";
/** Above that of other calls. */
export const PRIORITY_DEFAULT = 1;
export const TIME_DEFAULT = {
  name: "time",
  type: { kind: "timestamp", unit: "ms", timezone: "UTC" },
} as const;

/** The options, if they make sense. @throws UsageError E506, E522, E527, E528. */
export function checkedOpenOptions(given: OpenOptions): OpenOptions {
  const options = checkedAt("openSession", given, OWN_OPEN_OPTIONS);
  if (options.warmup !== undefined) checkPanel(options.warmup);
  return options;
}

/** @throws UsageError E528 for a budget of several bars. */
export function checkBudget({ budgetMs }: PushOptions, rowCount: number): void {
  if (budgetMs !== undefined && rowCount > 1)
    throw optionInvalid("budgetMs", budgetMs, "a budget with one bar at a time only");
}
