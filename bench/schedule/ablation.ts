import { totalmem } from "node:os";
import { measureHistory } from "../../src/bench/history.ts";
import { measureLive } from "../../src/bench/live.ts";
import type { Formulas } from "../../src/bench/open_formulas.ts";
import { digestOf, type Measured, median } from "../../src/bench/result.ts";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import { COMPILER_PASS_NAMES } from "../../src/compile.ts";
import { InternalError } from "../../src/errors.ts";
import { startHost } from "../../src/evaluation/start_host.ts";
import type { PoolOptions } from "../../src/execution/executor_pool.ts";

/** What is left out or changed, one thing at a time. */
export interface Variant {
  readonly name: string;
  readonly disabledPasses?: readonly string[];
  readonly schedule?: PoolOptions["schedule"];
  /** Blocks of history under way at a time. */
  readonly overlap?: number;
  readonly spinNs?: number;
}

/** As it is; every pass left out, one at a time; every habit of the scheduler changed, one at a time. */
export const VARIANTS: readonly Variant[] = [
  ...COMPILER_PASS_NAMES.map((name) => ({ name: `no ${name}`, disabledPasses: [name] })),
  { name: "no stealing", schedule: { isStealing: false } },
  { name: "nothing handed out ahead", schedule: { isRunningAhead: false } },
  { name: "one block at a time", overlap: 1 },
  { name: "queues of two parts", schedule: { queueNs: 0 } },
  { name: "queues of 1 ms", schedule: { queueNs: 1_000_000 } },
  { name: "threads look 50 us for work before they sleep", spinNs: 50_000 },
];

/** Both sides of a ratio meet V8's compiler alike. */
const WARM_UP_ROWS_MIN = 64;

const AS_IT_IS: Variant = { name: "as it is" };

export interface AblationOptions {
  readonly threads: number;
  readonly lanes: number;
  /** Rows of history. */
  readonly rows: number;
  /** Live calls. */
  readonly calls: number;
  /** Every variant is measured so often, each time beside the plan as it is. */
  readonly rounds: number;
  readonly onProgress: (done: number, total: number) => void;
}

/** What a change costs: ratios above 1 mean that what was left out made it faster. */
export interface Ablation {
  readonly variant: string;
  readonly historyMsPerRow: number;
  readonly historyRatio: number;
  readonly liveMsP50: number;
  readonly liveRatio: number;
}

/**
 * Measures what each pass and each habit of the scheduler is worth: a variant and the engine as it is are run in turns,
 * and the ratio is the median of the turns, so that a machine that slows down slows both.
 *
 * @throws InternalError if a variant changes any bit.
 */
export async function measureAblation(formulas: Formulas, options: AblationOptions): Promise<Ablation[]> {
  const { rounds, onProgress } = options;
  const results: Ablation[] = [];
  for (const [index, variant] of VARIANTS.entries()) {
    const turns: { readonly plain: Turn; readonly changed: Turn }[] = [];
    for (let round = 0; round < rounds; round++) {
      turns.push({
        plain: await measureTurn(formulas, AS_IT_IS, options),
        changed: await measureTurn(formulas, variant, options),
      });
      onProgress(index * rounds + round + 1, VARIANTS.length * rounds);
    }
    for (const { plain, changed } of turns) {
      if (plain.digest !== changed.digest) throw new InternalError(`${variant.name} changes bits`);
    }
    results.push({
      variant: variant.name,
      historyMsPerRow: median(turns.map(({ changed }) => changed.historyMsPerRow)),
      historyRatio: median(
        turns.map(({ plain, changed }) => changed.historyMsPerRow / plain.historyMsPerRow),
      ),
      liveMsP50: median(turns.map(({ changed }) => changed.liveMsP50)),
      liveRatio: median(turns.map(({ plain, changed }) => changed.liveMsP50 / plain.liveMsP50)),
    });
  }
  return results;
}

interface Turn {
  readonly historyMsPerRow: number;
  readonly liveMsP50: number;
  readonly digest: string;
}

async function measureTurn(
  formulas: Formulas,
  { disabledPasses, schedule = {}, overlap, spinNs }: Variant,
  { threads, lanes, rows, calls }: AblationOptions,
): Promise<Turn> {
  const panel = syntheticPanel({ lanes, rows, nullShare: 0 });
  const spin = spinNs === undefined ? {} : { spinNs };
  const host = await startHost({ threads, memoryLimitBytes: totalmem(), schedule, ...spin });
  const changed = { ...formulas, disabledPasses };
  const onProgress = () => {};
  try {
    const history = await measureHistory(host, changed, panel, { overlap, runs: 1, onProgress });
    const live = await measureLive(host, changed, panel, {
      calls,
      warmUpRowsMin: WARM_UP_ROWS_MIN,
      onProgress,
    });
    return {
      historyMsPerRow: history.wallMs / rows,
      liveMsP50: live.msPerRow!.p50,
      digest: bits(history) + bits(live),
    };
  } finally {
    await host.pool.close();
  }
}

const bits = ({ factorDigests }: Measured): string => digestOf(factorDigests);
