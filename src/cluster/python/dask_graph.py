"""A TaskGraph of `protocol.ts` as a graph of Dask."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import dask
from dask.highlevelgraph import HighLevelGraph
from distributed import Future

import worker_plugin
from stdio_frames import Record

# Newer versions of Dask pickle a graph as a whole, and by value only functions of the main module.
for function in (worker_plugin.run, worker_plugin.pick, worker_plugin.wake):
    function.__module__ = "__main__"


def task_name(key: Sequence[Any]) -> str:
    """A TaskKey as the text of a tuple, from which Dask derives the name of the group."""
    group, *indices = key
    return "('" + group + "', " + ", ".join(map(str, indices)) + ")"


def graph_of(graph: Record, job: str, futures: Mapping[str, Future], wanted: Record) -> HighLevelGraph:
    """The tasks of a job, by name; results of earlier graphs, on which they depend, are replaced by their futures.

    `wanted`: the `restrictions` of the graph.
    """
    layer = {task_name(task["key"]): work_of(task, job, futures) for task in graph["tasks"]}
    resources, allowed = wanted["resources"] or {}, wanted["workers"]
    priority = graph.get("priority", 0)
    with dask.annotate(priority=priority, resources=lambda _: resources, workers=lambda _: allowed):
        return HighLevelGraph.from_collections("factorloom", layer, dependencies=())


def order_of(graph: Record) -> dict[str, float]:
    """The order of the tasks within their graph, by name: Dask takes the lowest first."""
    return {task_name(task["key"]): -task["urgency"] for task in graph["tasks"]}


def work_of(task: Record, job: str, futures: Mapping[str, Future]) -> tuple[Any, ...]:
    """A task as Dask's tuple: a function, then its arguments."""
    names = [task_name(key) for key in task["dependencies"]]
    values = [futures.get(name, name) for name in names]
    work = task["work"]
    if work["kind"] == "pick":
        return (worker_plugin.pick, work["index"], *values)
    spec = {"job": job, "task": work["task"], "deadlineSeconds": task["deadlineSeconds"]}
    return (worker_plugin.run, json.dumps(spec, separators=(",", ":")).encode(), *values)


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
