"""A TaskGraph of `protocol.ts` as a graph of Dask."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import dask
from dask.highlevelgraph import HighLevelGraph
from distributed import Future

import worker_plugin
from stdio_frames import Record

# Newer versions of Dask pickle a graph as a whole, and by value only functions of the main module.
for function in (worker_plugin.run, worker_plugin.barrier, worker_plugin.merge, worker_plugin.pick):
    function.__module__ = "__main__"


def task_name(key: Sequence[Any]) -> str:
    """A TaskKey as the text of a tuple, from which Dask derives the name of the group."""
    group, *indices = key
    return "('" + group + "', " + ", ".join(map(str, indices)) + ")"


def graph_of(
    graph: Record, job: str, pieces: dict[str, Future], wanted: Record, workers: Sequence[str]
) -> HighLevelGraph:
    """The tasks of a job, by name; dependencies on pieces are replaced by their futures.

    `wanted`: the `restrictions` of the graph. `workers`: addresses of those that other tasks may prefer.
    """
    tasks = {task_name(task["key"]): task for task in graph["tasks"]}
    layer = {name: work_of(task, job, pieces) for name, task in tasks.items()}
    resources, allowed = wanted["resources"] or {}, wanted["workers"]
    is_restricted = len(resources) > 0 or allowed is not None
    # Where a preferred worker lacks a resource or has gone, Dask takes any other one, also without the resource.
    preferred = {
        name: [workers[int(task["preferredWorker"] * len(workers))]]
        for name, task in tasks.items()
        if task["preferredWorker"] is not None and len(workers) > 0 and not is_restricted
    }
    with dask.annotate(
        priority=graph.get("priority", 0),
        resources=lambda _: resources,
        workers=lambda name: preferred.get(name, allowed),
        allow_other_workers=lambda name: name in preferred,
    ):
        return HighLevelGraph.from_collections("factorloom", layer, dependencies=())


def order_of(graph: Record) -> dict[str, float]:
    """The order of the tasks within their graph, by name: Dask takes the lowest first."""
    return {task_name(task["key"]): -task["urgency"] for task in graph["tasks"]}


def work_of(task: Record, job: str, pieces: dict[str, Future]) -> tuple[Any, ...]:
    """A task as Dask's tuple: a function, then its arguments."""
    names = [task_name(key) for key in task["dependencies"]]
    values = [pieces.get(name, name) for name in names]
    work = task["work"]
    if work["kind"] == "run":
        spec = {
            "job": job,
            "task": work["task"],
            "buffers": work["buffers"],
            "deadlineSeconds": task["deadlineSeconds"],
        }
        return (worker_plugin.run, json.dumps(spec, separators=(",", ":")).encode(), *values)
    if work["kind"] == "merge":
        return (worker_plugin.merge, work["from"], work["to"], *values)
    if work["kind"] == "pick":
        return (worker_plugin.pick, work["index"], *values)
    return (worker_plugin.barrier, *values)


def missing_worker(graph: Record, workers: Sequence[Record]) -> str | None:
    """A worker name or resource that the graph asks for and no worker has: Dask would wait for it without end."""
    for name in graph.get("workers") or []:
        if not any(name in (worker["name"], worker["address"], worker["host"]) for worker in workers):
            return f"is called {name}"
    for name, amount in (graph.get("resources") or {}).items():
        if not any(worker["resources"].get(name, 0) >= amount for worker in workers):
            return f"has {name}={amount}"
    return None


def restrictions(graph: Record, workers: Sequence[Record]) -> Record:
    """Where the tasks of a graph may run, for Dask: names of workers are replaced by their addresses.

    Dask does not find a name that is a number, as `LocalCluster` gives them, by its text.
    """
    names = graph.get("workers")
    if names is not None:
        named = {worker["name"]: worker["address"] for worker in workers}
        names = [named.get(name, name) for name in names]
    return {"workers": names, "resources": graph.get("resources")}


def restriction_text(wanted: Record) -> str:
    """Restrictions in words; empty if there are none."""
    names = " or ".join(wanted.get("workers") or [])
    amounts = ", ".join(f"{name}={amount:g}" for name, amount in (wanted.get("resources") or {}).items())
    return " ".join([*([f"called {names}"] if names else []), *([f"with {amounts}"] if amounts else [])])
