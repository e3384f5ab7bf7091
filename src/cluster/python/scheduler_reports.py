"""What the bridge asks of the scheduler: functions that run there, shipped by value."""

from __future__ import annotations

import time
from typing import Any, Dict

Record = Dict[str, Any]

# The topic of events about operators of users that take far longer than estimated.
HANG_TOPIC = "factorloom-hang"


def versions() -> Record:
    """Versions of this process."""
    import sys

    import dask
    import distributed

    return {"python": sys.version.split()[0], "dask": dask.__version__, "distributed": distributed.__version__}


def cluster(dask_scheduler: Any) -> Record:
    """Versions of the scheduler, its workers, and the time by its clock."""
    import importlib.util

    workers = [described(worker) for worker in dask_scheduler.workers.values()]
    # Without bokeh the dashboard is a page that says what to install.
    has_dashboard = importlib.util.find_spec("bokeh") is not None
    return {"schedulerVersions": versions(), "workers": workers, "hasDashboard": has_dashboard, "at": time.time()}


def described(worker: Any) -> Record:
    return {
        "address": worker.address,
        "name": str(worker.name),
        "nanny": worker.nanny,
        "host": worker.host,
        "resources": dict(worker.resources),
        "threads": worker.nthreads,
        "memoryLimitBytes": worker.memory_limit,
        # Since its last heartbeat.
        "silentSeconds": time.time() - worker.last_seen,
    }


def fits(worker: Record, wanted: Record) -> bool:
    """Whether a task may run on the worker: `wanted` has the `workers` and `resources` of a TaskGraph."""
    names = wanted.get("workers")
    is_named = names is None or any(worker[name] in names for name in ("name", "address", "host"))
    amounts = wanted.get("resources") or {}
    return is_named and all(worker["resources"].get(name, 0) >= amount for name, amount in amounts.items())


def has_plugin(name: str, dask_scheduler: Any) -> bool:
    return name in dask_scheduler.worker_plugins


def waits_in_vain(name: str, is_wanted: bool, seconds: float, dask_scheduler: Any) -> bool:
    """Whether the scheduler has added or removed a plugin and waits only for a worker silent for longer than `seconds`."""
    workers = [described(worker) for worker in dask_scheduler.workers.values()]
    has_silent = any(worker["silentSeconds"] > seconds for worker in workers)
    return has_silent and has_plugin(name, dask_scheduler) == is_wanted


def stale_plugins(prefixes: list[str], bundle_prefix: str, dask_scheduler: Any) -> list[str]:
    """Plugins that lost clients left behind, and bundles that no client uses.

    A client's plugin is named prefix, client id, and more; the name of a pool ends with the name of its bundle.
    """
    names = list(dask_scheduler.worker_plugins)
    own = [name for name in names if name.startswith(tuple(prefixes))]
    clients = tuple(prefix + client for prefix in prefixes for client in dask_scheduler.clients)
    used = [name for name in own if name.startswith(clients)]
    bundles = [name for name in names if name.startswith(bundle_prefix)]
    unused = [bundle for bundle in bundles if not any(name.endswith(bundle) for name in used)]
    return [name for name in own if name not in used] + unused


def progress(
    groups: list[str], wanted: Record, seconds: float, topic: str, since: float, dask_scheduler: Any
) -> Record:
    """`groups`: how many tasks of each are done and under way, without groups that the scheduler has forgotten.

    `nannies`: by address of the worker, `at` a time of the scheduler's clock. `canRun`: whether a worker with a heartbeat
    in the last `seconds` may run the tasks, `allowed`: how many workers may, also silent ones. `events`: those of a topic
    after a time of the scheduler's clock.
    """
    found = {}
    for name in groups:
        group = dask_scheduler.task_groups.get(name)
        if group is not None:
            states = group.states
            # Tasks are `released` only after they are done: new ones are `waiting` at once.
            done = sum(states.get(state, 0) for state in ("memory", "released", "forgotten", "erred"))
            found[name] = {
                "done": done,
                "processing": states.get("processing", 0),
                "queued": states.get("queued", 0),
            }
    workers = [described(worker) for worker in dask_scheduler.workers.values()]
    nannies = {worker["address"]: worker["nanny"] for worker in workers}
    silences = [worker["silentSeconds"] for worker in workers if fits(worker, wanted)]
    return {
        "groups": found,
        "nannies": nannies,
        "canRun": any(silence < seconds for silence in silences),
        "allowed": len(silences),
        "events": later_events(topic, since, dask_scheduler),
        "at": time.time(),
    }


def later_events(topic: str, since: float, dask_scheduler: Any) -> list[Record]:
    """Those that workers have logged after a time of the scheduler's clock."""
    return [{**event, "at": at} for at, event in events_of(topic, dask_scheduler) if at > since]


def events_of(topic: str, dask_scheduler: Any) -> list[Any]:
    """Events with their times."""
    if hasattr(dask_scheduler, "get_events"):
        return list(dask_scheduler.get_events(topic))
    return list(dask_scheduler.events.get(topic, ()))


def hand_out_queued(dask_scheduler: Any) -> None:
    """Gives queued tasks to workers that are free.

    Dask does so only when a task ends. If a lost worker held the inputs of all running tasks, none ends: its tasks stay
    queued while other workers idle (seen with 2022.12).
    """
    hand_out = getattr(dask_scheduler, "stimulus_queue_slots_maybe_opened", None)
    if hand_out is not None:
        hand_out(stimulus_id=f"factorloom-{time.time()}")


def workers(since: float, dask_scheduler: Any) -> Record:
    """Memory and replicas of each worker, and its steals from `since` to `at`, in Unix seconds."""
    stolen_from: dict[str, int] = {}
    stolen_by: dict[str, int] = {}
    for at, event in events_of("stealing", dask_scheduler):
        if at >= since and event[0] == "confirm":
            _, _key, _state, victim, thief, *_ = event
            stolen_from[victim] = stolen_from.get(victim, 0) + 1
            stolen_by[thief] = stolen_by.get(thief, 0) + 1

    def report(worker: Any) -> Record:
        memory = worker.memory
        return {
            "address": worker.address,
            "nanny": worker.nanny,
            "threads": worker.nthreads,
            "silentSeconds": time.time() - worker.last_seen,
            "managedBytes": memory.managed,
            "unmanagedBytes": memory.unmanaged,
            "spilledBytes": getattr(memory, "spilled", None) or getattr(memory, "managed_spilled", 0),
            "keys": len(worker.has_what),
            "replicatedKeys": sum(len(task.who_has or ()) > 1 for task in worker.has_what),
            "stolenFrom": stolen_from.get(worker.address, 0),
            "stolenBy": stolen_by.get(worker.address, 0),
        }

    return {"workers": [report(worker) for worker in dask_scheduler.workers.values()], "at": time.time()}
