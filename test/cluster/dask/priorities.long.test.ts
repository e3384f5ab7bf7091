import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findPython } from "../../../src/cluster/bridge/python.ts";
import type { Cluster } from "../../../src/cluster/client/cluster.ts";
import { compile } from "../../../src/compile.ts";
import { hasDask } from "../../support/needs.ts";
import { until } from "../../support/until.ts";
import { FaultSetting, type StartedRun } from "../support/fault_setting.ts";
import { gated } from "../support/gate.ts";

/** In which order Dask runs the tasks of clients that share a worker of one thread. */

const program = compile("a = gated(ts_mean(close, 3), row)", {
  operators: [gated],
  fields: ["close", "row"],
});
const SLABS = 8;
const CUT = { cut: "slabs", slabRows: 240 / SLABS, trace: true } as const;
/** The worker runs one task and has been given another one when more tasks come. */
const GIVEN_OUT = 2;

describe.runIf(await hasDask())("priorities on Dask", () => {
  let setting: FaultSetting;
  const clients: Cluster[] = [];
  beforeAll(async () => {
    setting = await FaultSetting.start({ workers: 1 }, program);
    for (let client = 0; client < 3; client++) clients.push(await setting.connect("memory"));
  });
  afterAll(async () => {
    for (const client of clients) await client.close();
    await setting?.close();
  });

  /** Starts runs of these priorities, each by a client of its own, while the first task of all is held. */
  async function runTogether(priorities: readonly number[]): Promise<StartedRun[]> {
    const runs: StartedRun[] = [];
    for (const [index, priority] of priorities.entries()) {
      const options = { ...CUT, priority };
      if (index === 0) runs.push(await setting.beginHeld(clients[0]!, options, 0));
      else runs.push(await setting.begin(clients[index]!, options));
      await until(async () => (await setting.counts()).tasks === SLABS * runs.length);
    }
    setting.gate.open();
    for (const run of runs) await setting.expectRight(run);
    return runs;
  }

  test("of equal priorities the first client's later slabs go before the second one's first", async () => {
    const starts = (await runTogether([0, 0])).map(startsOf);
    expect(starts.map(({ length }) => length)).toEqual([SLABS, SLABS]);
    expect(Math.max(...starts[0]!)).toBeLessThan(Math.min(...starts[1]!));
    for (const own of starts) expect(own, "slab by slab").toEqual(own.toSorted((a, b) => a - b));
  });

  test("a higher priority overtakes, a lower one waits", async () => {
    const [middle, low, high] = (await runTogether([0, -1, 1])).map(startsOf);
    expect(middle!.filter((start) => start < Math.min(...high!)).length).toBeLessThanOrEqual(GIVEN_OUT);
    expect(middle!.filter((start) => start > Math.max(...high!)).length).toBeGreaterThanOrEqual(
      SLABS - GIVEN_OUT,
    );
    expect(Math.min(...low!)).toBeGreaterThan(Math.max(...middle!));
  });

  test("the scheduler compares priority, call and order within the call", async () => {
    const held = await setting.beginHeld(clients[0]!, { ...CUT, cut: "stages", priority: 3 }, 0);
    const known = await prioritiesOn(setting.dask.address);
    setting.gate.open();
    await setting.expectRight(held);
    expect(known.length).toBeGreaterThan(SLABS);
    expect(new Set(known.map(([, priority]) => priority))).toEqual(new Set([-3]));
    expect(new Set(known.map(([, , call]) => call)).size).toBe(1);
    for (const [key, , , order] of known) {
      const slab = Number(/-t(\d+)/.exec(key)![1]);
      expect(order, key).toBeGreaterThanOrEqual(slab - 0.5);
      expect(order, key).toBeLessThanOrEqual(slab);
    }
  });
});

/** When the slabs of a run were begun, in ms, slab by slab. */
function startsOf({ run }: StartedRun): number[] {
  const trace = run.report!.workers.flatMap(({ job }) => job.trace);
  const slab = (key: string) => Number(/, (\d+)\)/.exec(key)![1]);
  return trace.toSorted((a, b) => slab(a.key) - slab(b.key)).map(({ startMs }) => startMs);
}

/** What Dask compares tasks of factorloom by, as it has it. */
async function prioritiesOn(
  scheduler: string,
): Promise<[key: string, priority: number, call: number, order: number][]> {
  const script = [
    "import json, sys",
    "from distributed import Client",
    "def known(dask_scheduler):",
    "    tasks = dask_scheduler.tasks.values()",
    "    return [[task.key, *task.priority] for task in tasks if 'factorloom_' in task.key]",
    "with Client(sys.argv[1], set_as_default=False) as client:",
    "    print(json.dumps(client.run_on_scheduler(known)))",
  ].join("\n");
  const { stdout } = await promisify(execFile)((await findPython()).path, ["-c", script, scheduler]);
  return JSON.parse(stdout);
}
