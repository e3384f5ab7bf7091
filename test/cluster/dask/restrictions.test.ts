import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { findPython } from "../../../src/cluster/bridge/python.ts";
import { hasDask } from "../../support/needs.ts";

const PYTHON = join(import.meta.dirname, "../../../src/cluster/python");

/** Where Dask is told to run a task, as the bridge submits it. */
const SETTING = `
import sys
sys.path.insert(0, sys.argv[1])
from dask_graph import graph_of, missing_worker, restrictions, task_name

def told(graph, task, preferable=()):
    layers = graph_of(graph, "job", {}, restrictions(graph, workers), preferable)
    (layer,) = layers.layers.values()
    names = "workers", "allow_other_workers", "resources"
    return [layer.annotations[name](task_name(task["key"])) for name in names]

task = {"key": ["a", 0], "work": {"kind": "barrier"}, "dependencies": [], "preferredWorker": None}
workers = [{"name": str(i), "address": f"tcp://h:{i}", "host": "h", "resources": {}} for i in range(2)]
`;

async function told(script: string): Promise<string[]> {
  const { path } = await findPython();
  const { stdout } = await promisify(execFile)(path, ["-B", "-c", SETTING + script, PYTHON]);
  return stdout.trim().split("\n");
}

describe.runIf(await hasDask())("restrictions of tasks", () => {
  test("to workers are told to Dask by address: it finds no worker whose name is a number by a text", async () => {
    const script = `
for name in ["1", "tcp://h:0", "h"]:
    graph = {"tasks": [task], "workers": [name]}
    assert missing_worker(graph, workers) is None
    print(*told(graph, task)[0])`;
    expect(await told(script)).toEqual(["tcp://h:1", "tcp://h:0", "h"]);
  });

  test("a task prefers no worker: Dask would take one without the resource", async () => {
    const script = `
each = {**task, "preferredWorker": 0.5}
for graph in ({}, {"resources": {"GPU": 1}}, {"workers": ["0"]}):
    print(*told({**graph, "tasks": [each]}, each, ["tcp://h:0", "tcp://h:1"]))`;
    expect(await told(script)).toEqual([
      "['tcp://h:1'] True {}",
      "None False {'GPU': 1}",
      "['tcp://h:0'] False {}",
    ]);
  });
});
