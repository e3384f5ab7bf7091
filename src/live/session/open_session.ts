import { PROGRAM, type Program } from "../../compile.ts";
import { seriesOf } from "../../data/panel/panel_source.ts";
import type { EngineHost } from "../../evaluation/evaluation.ts";
import { stretchesOf } from "../../evaluation/restarts.ts";
import type { Panel } from "../../panel.ts";
import { checkArgument } from "../../text/argument_kinds.ts";
import { type LiveClock, SYSTEM_CLOCK } from "../deadline.ts";
import { checkpointOfOtherSession, noSymbols } from "../errors.ts";
import { GroupCodes, type StaticGroups } from "../input/group_codes.ts";
import { SymbolLanes } from "../input/symbol_lanes.ts";
import type { LatencyModel } from "../latency.ts";
import { LiveMeter } from "../live_metrics.ts";
import { LiveProgram, type SessionParts } from "../live_program.ts";
import { checkedOpenOptions, type OpenOptions, SPARE_SYMBOLS_DEFAULT, TIME_DEFAULT } from "../options.ts";
import { LiveSession } from "./session.ts";
import { columnsOf, expectSameColumns, openingOf, readSession, retentionOf } from "./session_checkpoint.ts";
import { SessionRows } from "./session_rows.ts";

/** What the engine gives, and replacements for tests. */
export interface SessionOverrides {
  readonly meter?: LiveMeter;
  readonly clock?: LiveClock;
  readonly latency?: LatencyModel;
}

/** Opens a program for live use; see `Engine.openSession`. */
export async function openSession(
  host: EngineHost,
  program: Program,
  given: OpenOptions,
  { clock = SYSTEM_CLOCK, latency, meter = new LiveMeter() }: SessionOverrides = {},
): Promise<LiveSession> {
  checkArgument("openSession", program, PROGRAM);
  const options = checkedOpenOptions(given);
  options.signal?.throwIfAborted();
  const { warmup, checkpoint, signal } = options;
  const stored = checkpoint == null ? null : await readSession(checkpoint);
  const saved = stored?.description;
  const symbols = options.symbols ?? saved?.symbols ?? warmup?.symbols;
  const spareCount = options.spareSymbols ?? SPARE_SYMBOLS_DEFAULT;
  if (!symbols || symbols.length + spareCount === 0) throw noSymbols();
  const lanes = new SymbolLanes(symbols, spareCount, saved?.byLane);
  const groups = new GroupCodes(lanes);
  if (saved) groups.restore(saved.groups);
  const changed = saved && groups.changed(options.groups ?? {});
  if (changed) throw checkpointOfOtherSession(`${changed.symbol} has another ${changed.column}`);
  lanes.extendTo(symbols);
  const wanted = new Set(lanes.symbols);
  const missing = saved?.byLane.find((symbol) => !wanted.has(symbol));
  if (missing !== undefined) throw checkpointOfOtherSession(`its symbol ${missing} is not among the symbols`);
  if (warmup && !saved) groups.set(staticGroups(warmup));
  groups.set(options.groups ?? {});
  const time = options.time ?? saved?.time ?? (warmup ? warmup.time : TIME_DEFAULT);
  const ofWarmUp = { names: warmup ? seriesOf(warmup) : [], shared: warmup?.seriesNames ?? [] };
  const series = saved?.series ?? ofWarmUp;
  if (saved) expectSameColumns(saved, { time, series });
  const parts: SessionParts = {
    host,
    lanes,
    groups,
    time: { name: time.name, type: time.type },
    series,
    stretchOf: await stretchesOf(options.restarts, time.type),
    options,
    clock,
    latency,
    meter,
  };
  const live = await LiveProgram.open(
    parts,
    program,
    { ...(saved && openingOf(saved)), ...options.params },
    signal,
  );
  const rows = new SessionRows(parts, live);
  const session = new LiveSession(parts, rows);
  try {
    const panel = { fields: [...(warmup?.fields.keys() ?? [])], groups: [...(warmup?.groups.keys() ?? [])] };
    const brought = stored ? columnsOf(stored.rows) : panel;
    await rows.memory.layOut(live, brought, signal, stored && retentionOf(stored));
    signal?.throwIfAborted();
    if (stored) await session.resume(stored, checkpoint!);
    else if (warmup) await session.warmUp(warmup, signal);
    signal?.throwIfAborted();
    return session;
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** The groups of a panel that are the same in all rows. */
function staticGroups({ groups, symbols }: Panel): StaticGroups {
  const columns = [...groups].filter(([, { changesOverTime }]) => !changesOverTime);
  return Object.fromEntries(
    columns.map(([name, { labels, codes }]) => {
      const labelOf = (lane: number) => (codes[lane]! < 0 ? null : labels[codes[lane]!]!);
      return [name, new Map(symbols.map((symbol, lane) => [symbol, labelOf(lane)]))];
    }),
  );
}
