import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { builtInRegistry } from "../../operators/index.ts";
import { panelSource } from "../../src/data/panel/panel_source.ts";
import { openFactorWriter } from "../../src/data/write/factor_writer.ts";
import { evaluateTable } from "../../src/evaluation/evaluate_table.ts";
import type { EngineHost } from "../../src/evaluation/evaluation.ts";
import { FactorStream } from "../../src/evaluation/factor_stream.ts";
import { ResourceError } from "../../src/index.ts";
import { Seeded } from "../support/seeded.ts";
import { trials } from "../support/trials.ts";
import { digestOf, type RealFormulas, realFormulas, startHost } from "./real_formulas.ts";

/** A year of bars: some 16 blocks. */
const RANGE = { to: "2014-02-07", blockRows: 16 };
const FACTORS_PER_RUN = 6;
/** Longest duration of a run; undisturbed ones take a tenth of a second. */
const WATCHDOG_MS = 120_000;

let real: RealFormulas;
/** For each program the digest of each factor, undisturbed. */
let expected: Map<string, string>[];

beforeAll(async () => {
  real = await realFormulas();
  const host = await startHost(2);
  expected = [];
  for (const program of real.programs) {
    const { table } = await evaluateTable(host, builtInRegistry, program, panelSource(real.panel), RANGE);
    expected.push(new Map(program.factors.map(({ name }) => [name, digestOf(table, name)])));
  }
  await host.pool.close();
});

/** Concurrent runs, and the executors lost meanwhile. */
interface Drawn {
  readonly runs: readonly { readonly program: number; readonly select: readonly string[] }[];
  readonly kills: Kills;
}

/** Ends executors; called when the first plan is opened, and after each of its blocks. */
interface Kills {
  readonly text: string;
  onOpen(host: EngineHost): void;
  onBlock(host: EngineHost, rowsDone: number): void;
  /** Nobody is ended any more: the next round has kills of its own. */
  end(): void;
}

function drawRuns({ below, uniform }: Seeded, threads: number): Drawn {
  const runs = Array.from({ length: 2 }, () => {
    const program = below(real.programs.length);
    const { factors } = real.programs[program]!;
    const select = Array.from({ length: FACTORS_PER_RUN }, () => factors[below(factors.length)]!.name);
    return { program, select: [...new Set(select)] };
  });
  const executor = below(threads);
  const other = below(threads);
  const all = Array.from({ length: threads }, (_, id) => id);
  const wait = below(80);
  const row = RANGE.blockRows * below(14);
  const draws: (() => Kills)[] = [
    () => killing(`${executor} before the first part`, [[executor, 0]]),
    () => killing(`${executor} after ${wait} ms`, [[executor, wait]]),
    () =>
      killing(`${executor} after ${wait} ms, ${other} soon after`, [
        [executor, wait],
        [other, wait + below(10)],
      ]),
    () =>
      killing(
        `all after ${wait} ms`,
        all.map((id) => [id, wait] as const),
      ),
    () =>
      killing(`${executor}, then who takes its place`, [
        [executor, wait],
        [executor, wait + below(300)],
      ]),
    () => afterBlock(`${executor} once ${row} rows are done`, executor, row),
  ];
  // Losing all at once is expensive and tests little more than losing one.
  const kind = uniform() < 0.05 ? 3 : [0, 1, 1, 1, 2, 4, 5, 5][below(8)]!;
  return { runs, kills: draws[kind]!() };
}

function killing(text: string, kills: readonly (readonly [executor: number, afterMs: number])[]): Kills {
  const timers: NodeJS.Timeout[] = [];
  return {
    text: `lost: ${text}`,
    onOpen: ({ pool }) => {
      for (const [executor, afterMs] of kills)
        timers.push(setTimeout(() => pool.restartExecutor(executor), afterMs));
    },
    onBlock: () => {},
    end: () => timers.forEach(clearTimeout),
  };
}

function afterBlock(text: string, executor: number, row: number): Kills {
  let isDone = false;
  return {
    text: `lost: ${text}`,
    onOpen: () => {},
    onBlock: ({ pool }, rowsDone) => {
      if (!isDone && rowsDone >= row) pool.restartExecutor(executor);
      isDone ||= rowsDone >= row;
    },
    end: () => {},
  };
}

/** The host, with a callback when a plan is opened. */
function observed(host: EngineHost, onOpen: () => void): EngineHost {
  const pool = Object.create(host.pool, {
    open: {
      value: (...args: Parameters<typeof host.pool.open>) => {
        onOpen();
        return host.pool.open(...args);
      },
    },
    nextCall: { value: () => host.pool.nextCall() },
    hasMoreUrgent: { value: () => false },
    collectGarbage: { value: () => {} },
  });
  return { ...host, pool };
}

/** Rejects with the state if the run hangs. */
async function watched<T>(running: Promise<T>, state: () => string): Promise<T> {
  const { promise: hung, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`hangs: ${state()}`)), WATCHDOG_MS);
  try {
    return await Promise.race([running, hung]);
  } finally {
    clearTimeout(timer);
  }
}

/** True if the run ends with the undisturbed bits, false if with an error that names what was lost. */
async function runOnce(
  host: EngineHost,
  { program, select }: Drawn["runs"][number],
  kills: Kills | null,
  where: string,
): Promise<boolean> {
  let rowsDone = 0;
  const options = {
    ...RANGE,
    select,
    onProgress: (rows: number) => {
      rowsDone = rows;
      kills?.onBlock(host, rows);
    },
  };
  const seen = observed(host, () => kills?.onOpen(host));
  const running = evaluateTable(
    seen,
    builtInRegistry,
    real.programs[program]!,
    panelSource(real.panel),
    options,
  );
  try {
    const { table } = await watched(running, () => `${where}, ${rowsDone} rows done`);
    for (const name of select)
      expect(digestOf(table, name), `${name}, ${where}`).toBe(expected[program]!.get(name));
    return true;
  } catch (error) {
    if (!(error instanceof ResourceError)) throw error;
    expect(error.message, where).toMatch(/^E40[23] /);
    return false;
  }
}

describe("executors lost at any moment", () => {
  test.each([1, 2, 3, 4])("of %i change no bit, and no run hangs", async (threads) => {
    const seeded = new Seeded();
    const ROUNDS = trials(5, 25);
    let host = await startHost(threads);
    let failedCount = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const { runs, kills } = drawRuns(seeded, threads);
      const where = `seed ${seeded.seed}, ${threads} threads, round ${round}, ${kills.text}`;
      const outcomes = await Promise.all(
        runs.map((run, index) => runOnce(host, run, index === 0 ? kills : null, `${where}, run ${index}`)),
      );
      kills.end();
      const failed = outcomes.filter((isComplete) => !isComplete);
      failedCount += failed.length;
      if (failed.length === 0) continue;
      await host.pool.close();
      host = await startHost(threads);
    }
    await host.pool.close();
    console.log(
      `chaos: ${threads} threads, seed ${seeded.seed}: ${failedCount} of ${2 * ROUNDS} runs failed`,
    );
    // A part that is lost twice in a row, or executors that are lost as soon as they start: the exception.
    expect(failedCount, `seed ${seeded.seed}`).toBeLessThan(Math.max(3, ROUNDS / 5));
  });
});

describe("a stream into a file", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "factorloom-chaos-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Writes some factors block by block, as the command line does. */
  async function write(host: EngineHost, path: string, onBlock: (rowsDone: number) => void): Promise<void> {
    const source = panelSource(real.panel);
    const program = real.programs[0]!;
    const select = ["alpha001", "alpha036", "alpha048", "alpha073", "alpha100"];
    const options = { ...RANGE, select, onProgress: onBlock };
    const stream = await FactorStream.open(host, builtInRegistry, program, source, options);
    const { time, symbols } = source;
    const writer = await openFactorWriter(path, { time, symbols, factors: select });
    try {
      for await (const block of stream.blocks()) await writer.append(block);
      await writer.commit();
    } catch (error) {
      await writer.abort();
      throw error;
    }
  }

  test.each(["csv", "arrow", "parquet"])("as %s has the same bytes", async (extension) => {
    const { seed, below } = new Seeded();
    const host = await startHost(2);
    const [calm, disturbed] = ["calm", "disturbed"].map((name) => join(folder, `${name}.${extension}`));
    await write(host, calm!, () => {});
    // Apart, so that no part is lost twice: that is an error of its own.
    const doomed = [0, 1, 2].map((kill) => RANGE.blockRows * (5 * kill + below(2)));
    const running = write(host, disturbed!, (rowsDone) => {
      if (doomed.includes(rowsDone)) host.pool.restartExecutor(below(2));
    });
    await watched(running, () => `seed ${seed}`);
    expect(readFileSync(disturbed!).equals(readFileSync(calm!)), `seed ${seed}`).toBe(true);
    await host.pool.close();
  });

  test("that fails leaves no file, whole or in part", async () => {
    const host = await startHost(2);
    let isLosing = false;
    const loseAll = async () => {
      for (; isLosing; await delay(5)) for (const executor of [0, 1]) host.pool.restartExecutor(executor);
    };
    let losing: Promise<void> | null = null;
    const running = write(host, join(folder, "factors.arrow"), (rowsDone) => {
      if (rowsDone < 3 * RANGE.blockRows || losing) return;
      isLosing = true;
      losing = loseAll();
    });
    await expect(watched(running, () => "executors are lost again and again")).rejects.toThrow(/^E40[23] /);
    isLosing = false;
    await losing;
    expect(readdirSync(folder)).toEqual([]);
    await host.pool.close();
  });
});
