import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { type ChromeEvent, TRACKS } from "../../../src/cli/trace/chrome_trace.ts";
import { fileFolder } from "../../support/file_folder.ts";
import { BARS, runCli } from "../run_cli.ts";

const root = join(import.meta.dirname, "../../..");
const ALPHAS = [
  "eval",
  join(root, "examples/alpha101.factors"),
  "--data",
  join(root, "examples/data/sp100_daily.csv.gz"),
  "--groups",
  join(root, "examples/data/sp100_sectors.csv"),
];
const BLOCK_ROWS = 50;

const eventsOf = (text: string) => (JSON.parse(text) as { traceEvents: ChromeEvent[] }).traceEvents;

function slicesOf(events: readonly ChromeEvent[], tid?: number) {
  return events.flatMap((event) => {
    const { name, ts, dur, cat, args } = event as ChromeEvent & { cat: string; args: PartArgs };
    const isAsked = event.ph === "X" && (tid === undefined || tid === event.tid);
    return isAsked ? [{ name, cat, args, tid: event.tid, startUs: ts!, endUs: ts! + dur! }] : [];
  });
}

interface PartArgs {
  readonly plan: number;
  readonly block: number;
  readonly node: number;
  readonly part: number;
  readonly kind: string;
  readonly ns: number;
}

const folder = mkdtempSync(join(fileFolder(), "trace-"));

describe("the trace of an evaluation", () => {
  let events: ChromeEvent[] = [];
  let stdout = "";
  let wallUs = 0;
  const tracks = () =>
    new Map(
      events
        .filter(({ ph, name }) => ph === "M" && name === "thread_name")
        .map((event) => [event.tid, (event as unknown as { args: { name: string } }).args.name]),
    );
  const executors = () => [...tracks()].filter(([, name]) => name.startsWith("executor")).map(([tid]) => tid);

  beforeAll(async () => {
    const started = performance.now();
    const select = ["--select", "alpha001,alpha004,alpha012,alpha101"];
    const how = ["--threads", "2", "--block-rows", String(BLOCK_ROWS), "--out", "out.arrow"];
    const result = await runCli([...ALPHAS, ...select, ...how, "--trace", "trace.json"], {}, "trace.json");
    wallUs = 1000 * (performance.now() - started);
    expect(result).toMatchObject({ exitCode: 0, stderr: "" });
    stdout = result.stdout;
    events = eventsOf(result.written!);
  });

  test("is named in the summary", () => {
    expect(stdout).toContain("result: out.arrow\ntrace: trace.json\n");
  });

  test("names its process and its tracks", () => {
    expect(events[0]).toMatchObject({ ph: "M", name: "process_name" });
    expect([...tracks().values()]).toEqual([
      "main thread",
      "reading",
      "scheduler",
      "executor 0",
      "executor 1",
    ]);
    for (const event of events) if (event.ph === "X") expect(tracks().has(event.tid), event.name).toBe(true);
  });

  test("has every part of every node of every block once", () => {
    const parts = executors().flatMap((tid) => slicesOf(events, tid));
    const blocks = new Map<number, string[]>();
    for (const { args } of parts) {
      const { block, node, part } = args;
      blocks.set(block, [...(blocks.get(block) ?? []), `${node}:${part}`]);
    }
    const blockCount = slicesOf(events, TRACKS.main).filter(({ name }) => name === "write a block").length;
    expect([...blocks.keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: blockCount }, (_, i) => i));
    const [first = []] = blocks.values();
    expect(new Set(first).size).toBe(first.length);
    for (const ids of blocks.values()) expect([...ids].sort()).toEqual([...first].sort());
    // Nodes and their parts are numbered from 0: none is missing.
    const ids = first.map((id) => id.split(":").map(Number));
    const nodeCount = 1 + Math.max(...ids.map(([node]) => node!));
    for (let node = 0; node < nodeCount; node++) {
      const ofNode = ids
        .filter(([id]) => id === node)
        .map(([, part]) => part!)
        .sort((a, b) => a - b);
      expect(ofNode.length, `node ${node}`).toBeGreaterThan(0);
      expect(ofNode).toEqual(ofNode.map((_, part) => part));
    }
  });

  test("says what each node does, of which kind it is, and how long it took", () => {
    const parts = executors().flatMap((tid) => slicesOf(events, tid));
    const names = new Set(parts.map(({ name }) => name));
    expect(names).toContain("input");
    expect(names).toContain("rank");
    for (const { name, cat, args, startUs, endUs } of parts) {
      expect(cat).toBe(args.kind);
      expect(["input", "lanes", "rows"]).toContain(cat);
      expect(cat === "input").toBe(name === "input");
      expect(Math.abs(1000 * (endUs - startUs) - args.ns)).toBeLessThan(2000);
    }
  });

  test("has no two parts at a time on one executor, and nothing outside the run", () => {
    for (const tid of [...executors(), TRACKS.scheduler, TRACKS.reading]) {
      const slices = slicesOf(events, tid).sort((a, b) => a.startUs - b.startUs);
      let last = 0;
      for (const { startUs, endUs } of slices) {
        // Sums of us are rounded; slices are whole ns.
        expect(startUs).toBeGreaterThan(last - 0.0005);
        last = endUs;
      }
    }
    for (const event of events) {
      if (event.ph === "M") continue;
      expect(event.ts).toBeGreaterThanOrEqual(0);
      expect(event.ts! + (event.dur ?? 0)).toBeLessThanOrEqual(wallUs);
    }
  });

  test("shows what the main thread waits for, and its steps around it", () => {
    const spans = slicesOf(events, TRACKS.main);
    const count = (name: string) => spans.filter((span) => span.name === name).length;
    const once = ["read", "compile", "start threads", "evaluate", "plan and compile kernels"];
    for (const name of [...once, "complete the output"]) expect(count(name), name).toBe(1);
    const blockCount = count("write a block");
    expect(blockCount).toBeGreaterThan(10);
    expect(count("wait for a block")).toBe(blockCount + 1);
    const evaluate = spans.find(({ name }) => name === "evaluate")!;
    for (const { name, startUs, endUs } of spans) {
      if (["read", "compile", "start threads"].includes(name))
        expect(endUs).toBeLessThanOrEqual(evaluate.startUs);
      else {
        expect(startUs).toBeGreaterThanOrEqual(evaluate.startUs);
        expect(endUs).toBeLessThanOrEqual(evaluate.endUs + 0.0005);
      }
    }
  });

  test("counts ready nodes, queues and memory", () => {
    const counters = Map.groupBy(
      events.filter(({ ph }) => ph === "C") as (ChromeEvent & { args: { value: number } })[],
      ({ name }) => name,
    );
    expect([...counters.keys()].sort()).toEqual([
      "accounted bytes",
      "queue of executor 0",
      "queue of executor 1",
      "ready nodes",
      "resident bytes",
    ]);
    expect(counters.get("queue of executor 0")!.at(-1)!.args.value).toBe(0);
    expect(Math.max(...counters.get("accounted bytes")!.map(({ args }) => args.value))).toBeGreaterThan(1e5);
    expect(Math.max(...counters.get("resident bytes")!.map(({ args }) => args.value))).toBeGreaterThan(1e7);
  });
});

test("an evaluation that fails leaves a whole trace of how far it came", async () => {
  const files = { "a.factors": "a = rank(close)\n", "bars.csv": BARS };
  const call = ["eval", "a.factors", "--data", "bars.csv", "--threads", "1", "--memory-limit", "1kB"];
  const result = await runCli([...call, "--trace", "trace.json"], files, "trace.json");
  expect(result.exitCode).toBe(2);
  expect(result.stderr).toMatch(/^E401 /);
  const names = slicesOf(eventsOf(result.written!), TRACKS.main).map(({ name }) => name);
  expect(names).toEqual(["read", "compile", "start threads", "evaluate"]);
});

test("a trace changes no bit of the result, also where series have values without a row", async () => {
  const [head, , ...rows] = BARS.trim().split("\n");
  const files = {
    "a.factors": "a = scale(market)\n",
    "bars.csv": [head, ...rows].join("\n"),
    "series.csv": "date,market\n2020-01-01,7\n2020-01-02,8\n2020-01-03,9\n",
  };
  const call = ["eval", "a.factors", "--data", "bars.csv", "--series", "series.csv", "--out", "out.csv"];
  const { written } = await runCli(call, files, "out.csv");
  expect(written).toBeDefined();
  expect((await runCli([...call, "--trace", "trace.json"], files, "out.csv")).written).toBe(written);
});

test("a trace that cannot be made ends the call before anything is computed", async () => {
  const files = { "a.factors": "a = close\n", "bars.csv": BARS };
  const call = ["eval", "a.factors", "--data", "bars.csv", "--threads", "1", "--out", "out.csv"];
  // Its temporary name is longer than names may be; its own is not.
  const trace = `${"t".repeat(240)}.json`;
  const result = await runCli([...call, "--trace", trace], files, "out.csv");
  expect(result.exitCode).toBe(2);
  expect(result.stderr).toMatch(/^E442 t+\.json: cannot be written/);
  expect(result.written).toBeUndefined();
});

test("a trace never takes the place of the result, whatever path leads there", async () => {
  const results = mkdtempSync(join(folder, "results-"));
  symlinkSync(results, join(folder, "link"));
  const outputs = ["--out", join(folder, "link", "out.csv"), "--trace", join(results, "out.csv")];
  const call = ["eval", "a.factors", "--data", "bars.csv", "--threads", "1", ...outputs];
  const { exitCode, stderr } = await runCli(call, { "a.factors": "a = rank(close)\n", "bars.csv": BARS });
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: expect.stringMatching(/^E514 --trace .* the result/),
  });
  expect(readdirSync(results)).toEqual([]);
  rmSync(join(folder, "link"));
  rmSync(results, { recursive: true });
});

test("an interrupted evaluation leaves a whole trace and nothing else", async () => {
  const long = [...ALPHAS, "--kernel", "reference", "--threads", "2"];
  const outputs = ["--out", join(folder, "out.parquet"), "--trace", join(folder, "trace.json")];
  const command = [join(root, "dist/src/cli/main.js"), ...long, ...outputs];
  const child = spawn(process.execPath, command, { stdio: "ignore" });
  const exit = once(child, "exit");
  const isWriting = () => readdirSync(folder).some((name) => name.startsWith(".out.parquet"));
  while (!isWriting() && child.exitCode === null) await wait(20);
  child.kill("SIGINT");
  expect((await exit)[0]).toBe(130);
  expect(readdirSync(folder)).toEqual(["trace.json"]);
  const events = eventsOf(readFileSync(join(folder, "trace.json"), "utf8"));
  expect(slicesOf(events, TRACKS.main).at(-1)?.name).toBe("evaluate");
});
