import type { ParamOptions } from "../call_params.ts";
import { UsageError } from "../errors.ts";
import { BLOCK_ROWS_MAX } from "../limits.ts";
import { FLAG, FUNCTION, PATH, RECORD, SIGNAL, shownValue, TEXTS } from "../text/argument_kinds.ts";
import type { OptionKinds } from "../text/option_kinds.ts";
import { RESTARTS, type Restarts } from "./restarts.ts";

/** How operators run: kernels compiled from their lowering, or their scalar references. The bits are the same. */
export type KernelChoice = "compiled" | "reference";

export interface EvaluateOptions extends ParamOptions {
  /** Computes only these factors. */
  readonly select?: readonly string[];
  /**
   * First time of the output, inclusive, e.g. `"2017-01-01"`; earlier history still counts. A Date is an instant; where
   * times are dates, it is its day in UTC.
   */
  readonly from?: string | Date;
  /** Last time of the output, inclusive. A text without time of day includes that whole day. */
  readonly to?: string | Date;
  /**
   * At the first row from each of these times on, windows and recurrences begin as if no row had come before: times as
   * `from`, or the starts of sessions, e.g. `{ sessions: [["09:30", "16:00"]], timezone: "America/New_York" }`.
   */
  readonly restarts?: Restarts;
  /** Keeps infinities in the output instead of turning them into nulls. */
  readonly keepInfinite?: boolean;
  /** Ends the call when aborted; the engine stays usable. */
  readonly signal?: AbortSignal;
  /** Called after each block of rows. */
  readonly onProgress?: (rowsDone: number, rowCount: number) => void;
  /** Rows of a block; never changes a bit. Default: what suits the memory. */
  readonly blockRows?: number;
  /**
   * Calls of higher priority go first, whole numbers from -1000 to 1000; of equal ones the earlier call. Default 0; that
   * of sessions is 1.
   */
  readonly priority?: number;
  /** `"reference"` runs the scalar definition of every operator: slow, for checking the compiled kernels. */
  readonly kernel?: KernelChoice;
}

export const PARAM_OPTIONS: OptionKinds<ParamOptions> = { params: RECORD, paramsByTime: PATH };

/** Options of a call without the params. */
export const OPTIONS_BESIDE_PARAMS: OptionKinds<Omit<EvaluateOptions, keyof ParamOptions>> = {
  select: TEXTS,
  from: null,
  to: null,
  restarts: RESTARTS,
  keepInfinite: FLAG,
  signal: SIGNAL,
  onProgress: FUNCTION,
  blockRows: null,
  priority: null,
  kernel: null,
};

/** Entry points check these names; internal calls may carry more. */
export const EVALUATE_OPTIONS: OptionKinds<EvaluateOptions> = {
  ...PARAM_OPTIONS,
  ...OPTIONS_BESIDE_PARAMS,
};

/** Priorities lie between this and its negative. */
export const PRIORITY_MAX = 1000;

/** @throws UsageError E570. */
export function checkPriority(priority: number | undefined): void {
  if (priority === undefined || (Number.isInteger(priority) && Math.abs(priority) <= PRIORITY_MAX)) return;
  const remedy = `give a whole number from -${PRIORITY_MAX} to ${PRIORITY_MAX}`;
  throw new UsageError("E570", `the priority is ${shownValue(priority)}`, remedy);
}

/** @throws UsageError E516 for an unusable block size, E517 for an unknown kernel, E570 for a wrong priority. */
export function checkOptions({ blockRows, kernel, priority }: EvaluateOptions): void {
  checkPriority(priority);
  const isPossible =
    blockRows === undefined || (Number.isInteger(blockRows) && blockRows >= 1 && blockRows <= BLOCK_ROWS_MAX);
  if (!isPossible)
    throw new UsageError(
      "E516",
      `blocks of ${shownValue(blockRows)} rows`,
      `give a whole number from 1 to ${BLOCK_ROWS_MAX}`,
    );
  checkKernel(kernel);
}

/** @throws UsageError E517. */
export function checkKernel(kernel: KernelChoice | undefined): void {
  if (kernel !== undefined && kernel !== "compiled" && kernel !== "reference")
    throw new UsageError("E517", `unknown kernel ${shownValue(kernel)}`, "kernels: compiled, reference");
}
