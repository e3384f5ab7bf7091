import { beforeAll, describe, expect, test } from "vitest";
import { hasDask } from "../../support/needs.ts";
import { printed } from "../support/python_script.ts";

/** Where Dask is told to run a task, as the bridge submits it. */
const SETTING = `
from dask_graph import graph_of, missing_worker, restrictions, task_name

def told(graph, task):
    layers = graph_of(graph, "job", {}, restrictions(graph, workers))
    (layer,) = layers.layers.values()
    names = "workers", "resources"
    return [layer.annotations[name](task_name(task["key"])) for name in names]

task = {"key": ["a", 0], "work": {"kind": "pick", "index": 0}, "dependencies": [["b", 0]]}
workers = [{"name": str(i), "address": f"tcp://h:{i}", "host": "h", "resources": {}} for i in range(2)]
`;

const SCRIPT = `${SETTING}
for name in ["1", "tcp://h:0", "h"]:
    graph = {"tasks": [task], "workers": [name]}
    assert missing_worker(graph, workers) is None
    print(*told(graph, task)[0])
for graph in ({}, {"resources": {"GPU": 1}}, {"workers": ["0"]}):
    print(*told({**graph, "tasks": [task]}, task))`;

describe.runIf(await hasDask())("restrictions of tasks", () => {
  let told: readonly string[];
  beforeAll(async () => {
    told = await printed(SCRIPT);
  });

  test("to workers are told to Dask by address: it finds no worker whose name is a number by a text", () => {
    expect(told.slice(0, 3)).toEqual(["tcp://h:1", "tcp://h:0", "h"]);
  });

  test("to resources are told as they are; without any, all workers may", () => {
    expect(told.slice(3)).toEqual(["None {}", "None {'GPU': 1}", "['tcp://h:0'] {}"]);
  });
});
