/**
 * A small trading service: replays the bundled bars as if they came from a feed, one per tick, ranks the symbols by one
 * factor, and keeps a checkpoint so that it goes on where it was stopped. See README.md beside this file.
 */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  type Bar,
  compile,
  Engine,
  FactorloomError,
  type FactorTag,
  type LiveRow,
  type OpenOptions,
  type Panel,
  readPanel,
} from "factorloom";

/** `entry` is what the service trades on; the others are for people who look at it, and may come late. */
const FORMULAS = `
let returns = close / delay(close, 1) - 1
entry = group_neutralize(ts_ir(returns, 20), sector)
reversal = -rank(ts_sum(returns, 5))
unusual_volume = rank(volume / ts_mean(volume, 60))
price_volume = ts_corr(close, volume, 20)
`;
const WARMUP_ROWS = 60;
const DATA = `${import.meta.dirname}/../data`;

const { values: flags } = parseArgs({
  options: {
    state: { type: "string" },
    every: { type: "string", default: "0" },
    budget: { type: "string", default: "50" },
    bars: { type: "string", default: "Infinity" },
    report: { type: "string", default: "20" },
    checkpoint: { type: "string", default: "100" },
    skip: { type: "boolean", default: false },
  },
});
const [everyMs, budgetMs] = [numberOf("every"), numberOf("budget")];
const [maxBars, reportBars, checkpointBars] = [numberOf("bars"), numberOf("report"), numberOf("checkpoint")];
const late = flags.skip ? "skip" : "deliver";

// A signal only asks: the bar under way is finished and kept, so that no bar is run twice. A second one ends the process.
const stop = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stop.abort());

try {
  await main();
} catch (error) {
  // What the user can mend is said in one line; anything else keeps its stack.
  if (!(error instanceof FactorloomError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const panel = await readPanel(`${DATA}/sp100_daily.csv.gz`, { groups: `${DATA}/sp100_sectors.csv` });
  await using engine = await Engine.start({ threads: 2 });
  // The priority holds in every push: where a budget is short, `entry` is run first, whatever it takes.
  const priorities = { entry: 1 };
  const program = compile(FORMULAS);
  await using session = await engine.openSession(program, { ...(await beginning(panel)), priorities });
  // A feed says what is new; here it is what comes after the newest bar that the session has seen.
  const first = panel.time.values.filter((time) => time <= session.lastTime!).length;
  const end = Math.min(panel.rowCount, first + maxBars);
  const tally: Record<FactorTag, number> = { on_time: 0, late: 0, skipped: 0, unwanted: 0 };
  const save = async () => {
    if (flags.state === undefined) return;
    await session.checkpoint(flags.state);
    console.log(`checkpoint after ${dateText(session.lastTime!)}`);
  };

  let pushed = 0;
  let slowestMs = 0;
  for (let row = first; row < end && !stop.signal.aborted; row++) {
    const bar = barOf(panel, row);
    const { table, tags, timing, late: rest } = await session.push(bar, { budgetMs, late });
    pushed += 1;
    slowestMs = Math.max(slowestMs, timing.totalMs);
    for (const tag of Object.values(tags)) tally[tag] += 1;
    if (pushed % reportBars === 0) console.log(`${dateText(bar.time)} top ${topSymbols(table, "entry", 5)}`);
    // The next push would wait for late factors anyway.
    await rest;
    // Bars since the last checkpoint are run again after a crash, with the same bits.
    if (pushed % checkpointBars === 0) await save();
    if (everyMs > 0) await sleep(everyMs, null, { signal: stop.signal }).catch(() => null);
  }
  if (pushed % checkpointBars !== 0) await save();
  const counts = `${tally.on_time} on time, ${tally.late} late, ${tally.skipped} skipped`;
  console.log(`${pushed} bars: ${counts}; slowest ${slowestMs.toFixed(1)} ms`);
  if (stop.signal.aborted) console.log("stopped");
}

/** Where the session begins: at the checkpoint if there is one, else behind a warm-up. */
async function beginning(panel: Panel): Promise<OpenOptions> {
  if (flags.state === undefined || !existsSync(`${flags.state}/state`)) {
    console.log(`warm-up with ${WARMUP_ROWS} bars`);
    return { warmup: firstRows(panel, WARMUP_ROWS), spareSymbols: 0 };
  }
  console.log(`resumed from ${flags.state}`);
  return { checkpoint: flags.state };
}

function firstRows(panel: Panel, rowCount: number): Panel {
  const cells = rowCount * panel.laneCount;
  return {
    ...panel,
    rowCount,
    time: { ...panel.time, values: panel.time.values.subarray(0, rowCount) },
    fields: new Map([...panel.fields].map(([name, values]) => [name, values.subarray(0, cells)])),
    present: panel.present.subarray(0, cells),
  };
}

/** One bar as a feed would bring it: only the symbols that have a price that day. */
function barOf(panel: Panel, row: number): Bar & { readonly time: bigint } {
  const { laneCount, symbols, present, fields, time } = panel;
  const lanes = symbols.map((_, lane) => lane).filter((lane) => present[row * laneCount + lane] === 1);
  const valuesOf = (values: Float64Array) => lanes.map((lane) => values[row * laneCount + lane]!);
  return {
    time: time.values[row]!,
    symbols: lanes.map((lane) => symbols[lane]!),
    fields: Object.fromEntries([...fields].map(([name, values]) => [name, valuesOf(values)])),
  };
}

/** The symbols with the largest values of a factor; of equal ones, the first by name. */
function topSymbols(table: LiveRow["table"], factor: string, count: number): string {
  const [symbols, values] = [table.getChild("symbol")!, table.getChild(factor)!];
  const found = [...values].map((value, line) => ({ value, symbol: symbols.get(line) }));
  return found
    .filter(({ value }) => value !== null)
    .sort((a, b) => b.value - a.value)
    .slice(0, count)
    .map(({ symbol, value }) => `${symbol} ${value.toFixed(3)}`)
    .join(", ");
}

function numberOf(name: "every" | "budget" | "bars" | "report" | "checkpoint"): number {
  const value = Number(flags[name]);
  if (value >= 0) return value;
  console.error(`--${name} expects a number, got ${flags[name]}`);
  process.exit(1);
}

/** The bundled bars have days since 1970-01-01. */
function dateText(time: bigint): string {
  return new Date(Number(time) * 86_400_000).toISOString().slice(0, 10);
}
