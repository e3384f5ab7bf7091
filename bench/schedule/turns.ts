import { setTimeout as delay } from "node:timers/promises";
import type { Formulas } from "../../src/bench/open_formulas.ts";
import { type MsPerRow, msPerRow, sum } from "../../src/bench/result.ts";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import { compile } from "../../src/compile.ts";
import { Engine } from "../../src/engine.ts";
import type { LiveSession } from "../../src/live/session/session.ts";
import { rowsOf } from "./rows_of.ts";

const WARM_UP_ROWS = 256;

export interface TurnOptions {
  readonly lanes: number;
  readonly threads: number;
  /** Rows of a burst of the other session. */
  readonly rows: number;
  /** Bursts, and as many times pushes alone. */
  readonly rounds: number;
  /** Between two pushes. */
  readonly everyMs: number;
  readonly onProgress: (done: number, total: number) => void;
}

export interface TurnFigures {
  readonly manner: "alone" | "beside a burst";
  /** Pushes that were measured. */
  readonly pushes: number;
  readonly ms: MsPerRow;
}

/** Awaited pushes of a session alone, and while another session of the same program has a burst of rows. */
export async function measureTurns(
  formulas: Formulas,
  { lanes, threads, rows, rounds, everyMs, onProgress }: TurnOptions,
): Promise<TurnFigures[]> {
  const panel = syntheticPanel({ lanes, rows: WARM_UP_ROWS + rows * rounds, nullShare: 0.01 });
  const names = { fields: [...panel.fields.keys()], groups: [...panel.groups.keys()] };
  const program = compile(formulas.text, { file: formulas.name, ...names });
  const options = { warmup: rowsOf(panel, 0, WARM_UP_ROWS) };
  await using engine = await Engine.start({ threads });
  await using other = await engine.openSession(program, options);
  await using session = await engine.openSession(program, options);
  let time = panel.time.values[WARM_UP_ROWS]!;
  const push = async (): Promise<number> => {
    const bar = rowsOf(panel, WARM_UP_ROWS, WARM_UP_ROWS + 1);
    const next = { ...bar, time: { ...bar.time, values: BigInt64Array.of(time++) } };
    const started = performance.now();
    await session.push(next);
    const ms = performance.now() - started;
    await delay(everyMs);
    return ms;
  };
  const [alone, beside]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const first = WARM_UP_ROWS + round * rows;
    const before = beside.length;
    let isDone = false;
    const bursting = burst(other, rows, (row) => rowsOf(panel, first + row, first + row + 1)).finally(() => {
      isDone = true;
    });
    while (!isDone) beside.push(await push());
    await bursting;
    for (let count = before; count < beside.length; count++) alone.push(await push());
    onProgress(round + 1, rounds);
  }
  const figuresOf = (manner: TurnFigures["manner"], ms: number[]): TurnFigures => {
    return { manner, pushes: ms.length, ms: msPerRow(sum(ms), ms.length, ms) };
  };
  return [figuresOf("alone", alone), figuresOf("beside a burst", beside)];
}

async function burst(
  session: LiveSession,
  rows: number,
  barOf: (row: number) => Parameters<LiveSession["push"]>[0],
): Promise<void> {
  const pushes = Array.from({ length: rows }, (_, row) => session.push(barOf(row)));
  await Promise.all(pushes.map((push) => push.then(() => {})));
}
