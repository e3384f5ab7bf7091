import { setTimeout as delay } from "node:timers/promises";
import type { Formulas } from "../../src/bench/open_formulas.ts";
import { type MsPerRow, median, msPerRow, sum } from "../../src/bench/result.ts";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import { compile } from "../../src/compile.ts";
import { Engine } from "../../src/engine.ts";
import { rowsOf } from "./rows_of.ts";

const WARM_UP_ROWS = 300;
const HISTORY_ROWS = 400;

/** What a session runs: windows, ranks and a score. */
const ROW_FORMULAS =
  "a = rank(ts_mean(close, 10))\nb = ts_corr(rank(close), rank(volume), 10)\nc = zscore(ts_std(close, 20))";

export interface BesideOptions {
  readonly lanes: number;
  readonly threads: number;
  /** Pushes alone, and pushes at most beside the histories. */
  readonly pushes: number;
  /** Between two pushes. */
  readonly everyMs: number;
  /** Histories that are evaluated one after the other. */
  readonly histories: number;
  readonly onProgress: (done: number, total: number) => void;
}

export interface BesideFigures {
  readonly alone: MsPerRow;
  readonly beside: MsPerRow;
  /** Pushes beside histories. */
  readonly pushes: number;
  /** Median of the wall times, ms. */
  readonly historyMs: number;
  readonly historyBesideMs: number;
}

/** Pushes of a session alone, and while the same engine evaluates histories. */
export async function measureBeside(
  formulas: Formulas,
  { lanes, threads, pushes, everyMs, histories, onProgress }: BesideOptions,
): Promise<BesideFigures> {
  const panel = syntheticPanel({ lanes, rows: WARM_UP_ROWS + 2 * pushes + HISTORY_ROWS, nullShare: 0.01 });
  const names = { fields: [...panel.fields.keys()], groups: [...panel.groups.keys()] };
  await using engine = await Engine.start({ threads });
  const program = compile(formulas.text, { file: formulas.name, ...names });
  await using session = await engine.openSession(compile(ROW_FORMULAS, names), {
    warmup: rowsOf(panel, 0, WARM_UP_ROWS),
  });
  const history = rowsOf(panel, 0, HISTORY_ROWS);
  let row = WARM_UP_ROWS;
  const push = async (): Promise<number> => {
    const bar = rowsOf(panel, row, ++row);
    const started = performance.now();
    await session.push(bar);
    const ms = performance.now() - started;
    await delay(everyMs);
    return ms;
  };
  const evaluate = async (): Promise<number[]> => {
    const ms: number[] = [];
    for (let i = 0; i < histories; i++) {
      const started = performance.now();
      await engine.evaluate(program, history);
      ms.push(performance.now() - started);
      onProgress(ms.length, 2 * histories);
    }
    return ms;
  };
  const alone: number[] = [];
  while (alone.length < pushes) alone.push(await push());
  const historyMs = await evaluate();
  const beside: number[] = [];
  let isDone = false;
  const evaluating = evaluate().finally(() => {
    isDone = true;
  });
  while (!isDone && beside.length < pushes) beside.push(await push());
  const historyBesideMs = await evaluating;
  return {
    alone: msPerRow(sum(alone), alone.length, alone),
    beside: msPerRow(sum(beside), beside.length, beside),
    pushes: beside.length,
    historyMs: median(historyMs),
    historyBesideMs: median(historyBesideMs),
  };
}
