import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { publishedRows } from "../../examples/service/published_rows.ts";
import { compile, Engine, readPanel } from "../../src/index.ts";
import type { Seeded } from "../support/seeded.ts";
import { folder, ROOT, run, SERVICE } from "./example_process.ts";

const SYMBOLS = ["AA", "B", "CCC", "D", "E", "FF", "G"];
const WARMUP_BARS = 60;
const BARS = 90;
const DAY_MS = 86_400_000;

/**
 * A life of the service over a drawn feed: it is killed some times at drawn moments, and started again. What it has published
 * then must be what `evaluate` gives for the whole feed, each bar once.
 */
export async function killedLife(random: Seeded, name: string, killCount: number): Promise<void> {
  const home = join(folder, name);
  const [bars, groups] = [join(home, "bars.csv"), join(home, "groups.csv")];
  mkdirSync(home);
  writeFileSync(bars, drawnBars(random));
  writeFileSync(groups, `symbol,sector\n${SYMBOLS.map((symbol, at) => `${symbol},${at % 2}\n`).join("")}`);
  const state = join(home, "state");
  const every = 1 + random.below(4);
  const args = ["--feed", bars, "--groups", groups, "--state", state, "--report", "1"];
  args.push("--checkpoint", `${every}`, "--budget", random.below(2) === 0 ? "0.001" : "50");
  for (let kill = 0; kill < killCount; kill++)
    await killed(args, random.below((2 * BARS) / killCount), 10 * random.uniform());
  expect(run(SERVICE, ...args)).toMatchObject({ status: 0, stderr: "" });
  // The feed has ended: there is nothing to do.
  expect(run(SERVICE, ...args).lines.at(-1)).toMatch(/^0 bars: /);
  const published = publishedRows(readFileSync(join(state, "rows.jsonl"), "utf8"));
  expect(published).toEqual(await wantedRows(bars, groups));
}

/** Kills the service some ms after it has printed a number of lines; it may have ended before. */
async function killed(args: readonly string[], lineCount: number, ms: number): Promise<void> {
  const child = spawn(process.execPath, [SERVICE, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const exit = once(child, "exit");
  let left = lineCount;
  for await (const _ of createInterface(child.stdout)) {
    if (left-- > 0) continue;
    await sleep(ms);
    child.kill("SIGKILL");
    break;
  }
  await exit;
}

/** Prices and volumes of days, with rows that are missing. */
function drawnBars(random: Seeded): string {
  const lines = ["date,symbol,close,volume"];
  for (let day = 0; day < WARMUP_BARS + BARS; day++) {
    const date = new Date(Date.UTC(2024, 0, 1) + day * DAY_MS).toISOString().slice(0, 10);
    for (const symbol of SYMBOLS)
      if (random.uniform() < 0.9 || symbol === "B")
        lines.push(`${date},${symbol},${50 + 10 * random.uniform()},${1 + random.below(1000)}`);
  }
  return `${lines.join("\n")}\n`;
}

/** What the service is to publish, as its file has it. */
async function wantedRows(bars: string, groups: string): Promise<unknown> {
  const panel = await readPanel(bars, { groups });
  const program = compile(readFileSync(join(ROOT, "examples/service/alphas.factors"), "utf8"));
  await using engine = await Engine.start({ threads: 1 });
  const { table } = await engine.evaluate(program, panel);
  const [date, ...names] = table.schema.names as string[];
  const times = [...table.getChild(date!)!].map((ms) => BigInt(ms / DAY_MS));
  return [...panel.time.values.subarray(WARMUP_BARS)].map((time) => {
    const [from, end] = [times.indexOf(time), times.lastIndexOf(time) + 1];
    const columns = names.map((name) => [name, [...table.slice(from, end).getChild(name)!]]);
    return JSON.parse(JSON.stringify({ time: `${time}`, columns: Object.fromEntries(columns) }));
  });
}
