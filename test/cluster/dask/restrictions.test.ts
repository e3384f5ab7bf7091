import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { findPython } from "../../../src/cluster/bridge/python.ts";
import { hasDask } from "../../support/needs.ts";

const PYTHON = join(import.meta.dirname, "../../../src/cluster/python");

/** Where Dask is told to run a task that is restricted to a worker, as the bridge submits it. */
const SCRIPT = `
import sys
sys.path.insert(0, sys.argv[1])
from dask_graph import graph_of, missing_worker, restrictions, task_name

task = {"key": ["a", 0], "work": {"kind": "barrier"}, "dependencies": [], "preferredWorker": None, "isRestricted": True}
workers = [{"name": str(i), "address": f"tcp://h:{i}", "host": "h", "resources": {}} for i in range(2)]
for name in ["1", "tcp://h:0", "h"]:
    graph = {"tasks": [task], "workers": [name]}
    assert missing_worker(graph, workers) is None
    layers = graph_of(graph, "job", {}, restrictions(graph, workers), [])
    (layer,) = layers.layers.values()
    print(*layer.annotations["workers"](task_name(task["key"])))
`;

describe.runIf(await hasDask())("restrictions to workers", () => {
  test("are told to Dask by address: it finds no worker whose name is a number by a text", async () => {
    const { path } = await findPython();
    const { stdout } = await promisify(execFile)(path, ["-B", "-c", SCRIPT, PYTHON]);
    expect(stdout.trim().split("\n")).toEqual(["tcp://h:1", "tcp://h:0", "h"]);
  });
});
