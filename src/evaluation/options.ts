import type { ParamOptions } from "../call_params.ts";
import { UsageError } from "../errors.ts";
import { BLOCK_ROWS_MAX } from "../limits.ts";
import type { OptionNames } from "../text/option_names.ts";

/** What runs an operator: the kernel compiled from its lowering, or its scalar reference. The bits are the same. */
export type KernelChoice = "compiled" | "reference";

export interface EvaluateOptions extends ParamOptions {
  /** Only these factors. */
  readonly select?: readonly string[];
  /**
   * First and last time of the output, inclusive, e.g. `"2017-01-01"`; the history before still counts. A Date is an
   * instant, also as `to`, where a text without time of day is that whole day; where times are dates it is its day in UTC.
   */
  readonly from?: string | Date;
  readonly to?: string | Date;
  /** Keep infinities in the output instead of turning them into nulls. */
  readonly keepInfinite?: boolean;
  /** Ends the call when aborted; the engine stays usable. */
  readonly signal?: AbortSignal;
  /** Told after each block of rows. */
  readonly onProgress?: (rowsDone: number, rowCount: number) => void;
  /** Rows that run through all operators at a time; never changes a bit. Default: what suits the memory. */
  readonly blockRows?: number;
  /** `"reference"` runs the scalar definition of every operator: slow, the oracle of the compiled kernels. */
  readonly kernel?: KernelChoice;
}

/** Of a call without the params. */
export const OPTIONS_BESIDE_PARAMS: OptionNames<Omit<EvaluateOptions, keyof ParamOptions>> = {
  select: true,
  from: true,
  to: true,
  keepInfinite: true,
  signal: true,
  onProgress: true,
  blockRows: true,
  kernel: true,
};

/** Entry points check the names; calls of our own may carry more. */
export const EVALUATE_OPTIONS: OptionNames<EvaluateOptions> = {
  params: true,
  paramsByTime: true,
  ...OPTIONS_BESIDE_PARAMS,
};

/** @throws UsageError E516 for a block size or a kernel that there is not. */
export function checkOptions({ blockRows, kernel }: EvaluateOptions): void {
  const isPossible =
    blockRows === undefined || (Number.isInteger(blockRows) && blockRows >= 1 && blockRows <= BLOCK_ROWS_MAX);
  if (!isPossible)
    throw new UsageError(
      "E516",
      `blocks of ${blockRows} rows`,
      `give a whole number from 1 to ${BLOCK_ROWS_MAX}`,
    );
  if (kernel !== undefined && kernel !== "compiled" && kernel !== "reference")
    throw new UsageError("E517", `unknown kernel ${kernel}`, "kernels: compiled, reference");
}
