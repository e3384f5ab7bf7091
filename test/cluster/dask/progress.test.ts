import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { findPython } from "../../../src/cluster/bridge/python.ts";
import { hasDask } from "../../support/needs.ts";

const PYTHON = join(import.meta.dirname, "../../../src/cluster/python");

/** Two runs of a program one after the other, whose groups have the same names; prints how many tasks are done. */
const SCRIPT = `
import sys
sys.path.insert(0, sys.argv[1])
from scheduler_watch import SchedulerWatch

futures = {}
watch = SchedulerWatch(None, futures, None)
tasks = [{"key": ["run_stage0", part]} for part in range(3)]
done = lambda states: print(watch._progress(states)["done"])
for _ in range(2):
    watch.count_tasks(tasks)
    futures["a result"] = None
    # The scheduler does not know them yet, knows them, and has forgotten them because they are done.
    done({})
    done({"run_stage0": {"done": 1, "processing": 2, "queued": 0}})
    done({})
    futures.clear()
`;

describe.runIf(await hasDask())("progress", () => {
  test("of a run begins with nothing done, also after one of the same program", async () => {
    const { path } = await findPython();
    const { stdout } = await promisify(execFile)(path, ["-B", "-c", SCRIPT, PYTHON]);
    expect(stdout.trim().split("\n").map(Number)).toEqual([0, 1, 3, 0, 1, 3]);
  });
});
