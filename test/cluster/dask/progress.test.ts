import { describe, expect, test } from "vitest";
import { hasDask } from "../../support/needs.ts";
import { printed } from "../support/python_script.ts";

/** Two runs of a program one after the other, whose groups have the same names; prints how many tasks are done. */
const SCRIPT = `
from scheduler_watch import SchedulerWatch

futures = {}
watch = SchedulerWatch(None, futures, None)
tasks = [{"key": ["run_slabs", part]} for part in range(3)]
done = lambda states: print(watch._progress(states)["done"])
for _ in range(2):
    watch.forget_tasks()
    watch.count_tasks(tasks)
    # The scheduler does not know them yet, knows them, and has forgotten them because they are done.
    done({})
    done({"run_slabs": {"done": 1, "processing": 2, "queued": 0}})
    done({})
`;

describe.runIf(await hasDask())("progress", () => {
  test("of a run begins with nothing done, also after one of the same program", async () => {
    expect((await printed(SCRIPT)).map(Number)).toEqual([0, 1, 3, 0, 1, 3]);
  });
});
