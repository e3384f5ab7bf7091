/**
 * A small trading service that neither loses a bar nor publishes one twice, whenever it is ended: it replays bars as if they
 * came from a feed, ranks the symbols by one factor, and goes on where it was stopped. See README.md beside this file.
 */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  compile,
  Engine,
  FactorloomError,
  type FactorTag,
  type LiveRow,
  type OpenOptions,
  type Panel,
  readPanel,
} from "factorloom";
import { feed } from "./feed.ts";
import { PublishedRows } from "./published_rows.ts";

const WARMUP_ROWS = 60;
const DATA = join(import.meta.dirname, "../data");

const { values: flags } = parseArgs({
  options: {
    feed: { type: "string", default: join(DATA, "sp100_daily.csv.gz") },
    groups: { type: "string", default: join(DATA, "sp100_sectors.csv") },
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

// A signal only asks: the bar under way is finished and published. A second one ends the process, as a crash does.
const stop = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stop.abort());

try {
  await main();
} catch (error) {
  // What the user can mend is said in one line; anything else keeps its stack. Who starts the service may start it again.
  if (!(error instanceof FactorloomError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const panel = await readPanel(flags.feed, { groups: flags.groups });
  const folder = flags.state === undefined ? null : join(flags.state, "session");
  if (flags.state !== undefined) mkdirSync(flags.state, { recursive: true });
  using published = flags.state === undefined ? null : new PublishedRows(join(flags.state, "rows.jsonl"));
  await using engine = await Engine.start({ threads: 2 });
  const file = join(import.meta.dirname, "alphas.factors");
  const program = compile(readFileSync(file, "utf8"), { file });
  await using session = await engine.openSession(program, beginning(panel, folder));
  const save = async () => {
    if (folder === null) return;
    // A bar of the checkpoint does not come again: its row must be there, also after a loss of power.
    published!.sync();
    await session.checkpoint(folder);
    console.log(`checkpoint after ${dateText(session.lastTime!)}`);
  };

  const tally: Record<FactorTag, number> = { on_time: 0, late: 0, skipped: 0, unwanted: 0 };
  let pushed = 0;
  let slowestMs = 0;
  for (const bar of feed(panel, session.lastTime!)) {
    if (stop.signal.aborted || pushed === maxBars) break;
    // It came before. `push` would refuse it (E371).
    if (bar.time <= session.lastTime!) continue;
    const { table, tags, timing, late: rest } = await session.push(bar, { budgetMs, late });
    pushed += 1;
    slowestMs = Math.max(slowestMs, timing.totalMs);
    for (const tag of Object.values(tags)) tally[tag] += 1;
    if (pushed % reportBars === 0) console.log(`${dateText(bar.time)} top ${topSymbols(table, "entry", 5)}`);
    // The next push would wait for late factors anyway.
    published?.add(bar.time, (await rest)?.table ?? table);
    if (pushed % checkpointBars === 0) await save();
    if (everyMs > 0) await sleep(everyMs, null, { signal: stop.signal }).catch(() => null);
  }
  if (pushed % checkpointBars !== 0) await save();
  const counts = `${tally.on_time} on time, ${tally.late} late, ${tally.skipped} skipped`;
  console.log(`${pushed} bars: ${counts}; slowest ${slowestMs.toFixed(1)} ms`);
  if (stop.signal.aborted) console.log("stopped");
}

/** Where the session begins: at the checkpoint if there is one, else behind a warm-up. */
function beginning(panel: Panel, checkpoint: string | null): OpenOptions {
  if (checkpoint !== null && existsSync(join(checkpoint, "state"))) {
    console.log(`resumed from ${checkpoint}`);
    return { checkpoint };
  }
  console.log(`warm-up with ${WARMUP_ROWS} bars`);
  return { warmup: firstRows(panel, WARMUP_ROWS), spareSymbols: 0 };
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

/** Bars have days since 1970-01-01. */
function dateText(time: bigint): string {
  return new Date(Number(time) * 86_400_000).toISOString().slice(0, 10);
}
