import { describe, expect, test } from "vitest";
import { hasDask } from "../../support/needs.ts";
import { printed } from "../support/python_script.ts";

/** Tasks that begin and end in a room; `at(...)` gives those that run once nothing changes any more. */
const SETTING = `
import threading, time
from executor_memory import Room

room, running, ends, threads = Room(), set(), {}, []

def begin(name, is_alone=False, look=lambda: None):
    ends[name] = threading.Event()
    def run():
        try:
            with room.for_task(is_alone, look):
                running.add(name)
                ends[name].wait()
                running.discard(name)
        except KeyError:
            pass
    threads.append(threading.Thread(target=run))
    threads[-1].start()

def at(expected):
    until = time.monotonic() + 60
    while running != set(expected) and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.3)
    print("".join(sorted(running)) or "-")

def end(*names):
    for name in names:
        ends[name].set()
`;

const seen = (script: string) => printed(SETTING + script, process.execPath);

describe.runIf(await hasDask()).concurrent("room for tasks of a worker", () => {
  test("while memory is short one task runs at a time", async () => {
    const script = `
begin("a"); begin("b"); at("ab")
room.note(True); begin("c"); at("ab")
end("a"); at("b")
end("b"); at("c")
begin("d"); at("c")
room.note(False); at("cd")
end("c", "d"); at("")`;
    expect(await seen(script)).toEqual(["ab", "ab", "b", "c", "c", "cd", "-"]);
  });

  test("a task that is to run alone waits for the others, and they for it", async () => {
    const script = `
begin("a"); at("a")
begin("x", is_alone=True); at("a")
begin("b"); at("a")
end("a"); at("x")
end("x"); at("b")
end("b"); at("")`;
    expect(await seen(script)).toEqual(["a", "a", "a", "x", "b", "-"]);
  });

  test("one that waits and is no longer wanted goes, and keeps no other one waiting", async () => {
    const script = `
def unwanted():
    raise KeyError()
begin("a"); at("a")
begin("x", is_alone=True, look=unwanted); threads[-1].join(60)
begin("b"); at("ab")
end("a", "b"); at("")`;
    expect(await seen(script)).toEqual(["a", "ab", "-"]);
  });

  test("a pool that is not set up is not there for others", async () => {
    const script = `
from types import SimpleNamespace
import executor_pool

def pool(name):
    return executor_pool.ExecutorPool(name, "bundle", "executor.js", None, {})

first, second = pool("factorloom-executors-1"), pool("factorloom-executors-2")
worker = SimpleNamespace(plugins={}, state=SimpleNamespace(nthreads=2), metrics={})
for one in (first, second):
    worker.plugins[one.name] = one
    one.transition("key", "executing", "released")
    print(len(executor_pool.pools_of(worker)), executor_pool.executors_of(worker))
    threading.Timer(0.2, lambda: one.setup(worker)).start()
    print(executor_pool.plugin_of(worker, one.name) is one, executor_pool.executors_of(worker))`;
    expect(await seen(script)).toEqual(["0 []", "True []", "1 []", "True []"]);
  });

  test("the first tasks of a worker find its memory read", async () => {
    const script = `
import os
from types import SimpleNamespace
import executor_pool

os.environ["FACTORLOOM_MEMORY_PAUSE"] = "0.001"
executor_pool.WATCH_SECONDS = 60
bundle = SimpleNamespace(is_set_up=True, folder=".", changed=lambda: None)
worker = SimpleNamespace(
    address="tcp://w",
    plugins={"bundle": bundle},
    state=SimpleNamespace(nthreads=2),
    metrics={},
    memory_manager=SimpleNamespace(memory_limit=10**9),
)
pool = executor_pool.ExecutorPool("executors", "bundle", "executor.js", sys.argv[1], {})
pool.setup(worker)
pool.prepare()
room = pool._room
begin("a"); at("a")
begin("b"); at("a")
end("a"); at("b")
end("b"); at("")`;
    expect(await seen(script)).toEqual(["a", "a", "b", "-"]);
  });
});
