import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Cluster } from "../../../src/cluster/client/cluster.ts";
import { compile } from "../../../src/compile.ts";
import { hasDask } from "../../support/needs.ts";
import { until } from "../../support/until.ts";
import { FaultSetting, type StartedRun } from "../support/fault_setting.ts";
import { gated } from "../support/gate.ts";
import { printed } from "../support/python_script.ts";

/** In which order Dask runs the tasks of clients that share a worker of one thread. */

const program = compile("a = gated(ts_mean(close, 3), row)", {
  operators: [gated],
  fields: ["close", "row"],
});
const SLABS = 8;
const CUT = { slabRows: 240 / SLABS, trace: true };
/** The worker runs one task and has been given another one when more tasks come. */
const GIVEN_OUT = 2;

describe.runIf(await hasDask())("priorities on Dask", () => {
  let setting: FaultSetting;
  const clients: Cluster[] = [];
  beforeAll(async () => {
    setting = await FaultSetting.start({ workers: 1 }, program);
    for (let client = 0; client < 3; client++) clients.push(await setting.connect());
  });
  afterAll(async () => {
    for (const client of clients) await client.close();
    await setting?.close();
  });

  const holdAll = () => setting.gate.close(0);

  /** Starts runs of these priorities, each by a client of its own, while the first task of all is held. */
  async function runTogether(priorities: readonly number[]): Promise<StartedRun[]> {
    const runs: StartedRun[] = [];
    for (const [index, priority] of priorities.entries()) {
      const options = { ...CUT, priority };
      if (index === 0) runs.push(await setting.beginHeld(clients[0]!, options, holdAll));
      else runs.push(await setting.begin(clients[index]!, options));
      await until(async () => (await setting.counts()).tasks === 2 * SLABS * runs.length);
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
    const held = await setting.beginHeld(clients[0]!, { ...CUT, priority: 3 }, holdAll);
    const known = await prioritiesOn(setting.dask.address);
    setting.gate.open();
    await setting.expectRight(held);
    // Of each slab the task, and one that takes its chunk.
    expect(known).toHaveLength(2 * SLABS);
    expect(new Set(known.map(([, priority]) => priority))).toEqual(new Set([-3]));
    expect(new Set(known.map(([, , call]) => call)).size).toBe(1);
    for (const [key, , , order] of known) expect(order, key).toBe(slabOf(key));
  });
});

/** Of a task or its chunk: `('factorloom_3f2a_slabs', SHARE, SLAB)`. */
const slabOf = (key: string) => Number(/', \d+, (\d+)/.exec(key)![1]);

/** When the slabs of a run were begun, in ms, slab by slab. */
function startsOf({ run }: StartedRun): number[] {
  const trace = run.report!.workers.flatMap(({ job }) => job.trace);
  return trace.toSorted((a, b) => slabOf(a.key) - slabOf(b.key)).map(({ startMs }) => startMs);
}

type Known = readonly [key: string, priority: number, call: number, order: number];

/** What Dask compares tasks of factorloom by, as it has it. */
async function prioritiesOn(scheduler: string): Promise<Known[]> {
  const script = `import json
from distributed import Client
def known(dask_scheduler):
    tasks = dask_scheduler.tasks.values()
    return [[task.key, *task.priority] for task in tasks if "factorloom_" in task.key]
with Client(sys.argv[1], set_as_default=False) as client:
    print(json.dumps(client.run_on_scheduler(known)))`;
  return JSON.parse((await printed(script, scheduler)).join());
}
