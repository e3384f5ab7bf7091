import { median } from "../../src/bench/result.ts";
import { syntheticPanel } from "../../src/bench/synthetic_panel.ts";
import { compile } from "../../src/compile.ts";
import { Engine } from "../../src/engine.ts";
import { rowsOf } from "./rows_of.ts";

const ROWS = 60;

export interface PushCost {
  readonly formulas: number;
  /** Median time of the main thread's core for a push. */
  readonly mainMs: number;
  readonly pushMs: number;
}

/** What a push costs the main thread, of formulas that cost the executors little. */
export async function measurePushes(
  formulaCounts: readonly number[],
  lanes: number,
  onProgress: (done: number, total: number) => void,
): Promise<PushCost[]> {
  const panel = syntheticPanel({ lanes, rows: ROWS, nullShare: 0 });
  await using engine = await Engine.start();
  const costs: PushCost[] = [];
  for (const formulas of formulaCounts) {
    const lines = Array.from({ length: formulas }, (_, k) => `f${k} = close * ${k + 2} - open`);
    const program = compile(lines.join("\n"), { fields: [...panel.fields.keys()] });
    await using session = await engine.openSession(program, { warmup: rowsOf(panel, 0, 1) });
    const mainMs: number[] = [];
    const pushMs: number[] = [];
    for (let row = 1; row < ROWS; row++) {
      const [started, before] = [performance.now(), process.threadCpuUsage()];
      await session.push(rowsOf(panel, row, row + 1));
      const { user, system } = process.threadCpuUsage(before);
      mainMs.push((user + system) / 1000);
      pushMs.push(performance.now() - started);
    }
    // V8 has compiled the code by then.
    const warm = (ms: readonly number[]) => median(ms.slice(ROWS / 2));
    costs.push({ formulas, mainMs: warm(mainMs), pushMs: warm(pushMs) });
    onProgress(costs.length, formulaCounts.length);
  }
  return costs;
}
