"""What the bridge asks of the scheduler: functions that run there, shipped by value."""

from __future__ import annotations

import time
from typing import Any, Dict

Record = Dict[str, Any]


def cluster(dask_scheduler: Any) -> dict[str, Any]:
    """Versions of the scheduler, and its workers."""
    import importlib.util
    import sys

    import dask
    import distributed

    workers = [described(worker) for worker in dask_scheduler.workers.values()]
    versions = {"python": sys.version.split()[0], "dask": dask.__version__, "distributed": distributed.__version__}
    # Without bokeh the dashboard is a page that says what to install.
    has_dashboard = importlib.util.find_spec("bokeh") is not None
    return {"schedulerVersions": versions, "workers": workers, "hasDashboard": has_dashboard, "at": time.time()}


def described(worker: Any) -> Record:
    return {
        "address": worker.address,
        "name": str(worker.name),
        "nanny": worker.nanny,
        "host": worker.host,
        "resources": dict(worker.resources),
        "nthreads": worker.nthreads,
        "memoryLimit": worker.memory_limit,
        # Since its last heartbeat.
        "silentSeconds": time.time() - worker.last_seen,
    }


def fits(worker: Record, wanted: Record) -> bool:
    """Whether a task may run there: `wanted` holds what a TaskGraph restricts."""
    names = wanted.get("workers")
    is_named = names is None or any(worker[name] in names for name in ("name", "address", "host"))
    amounts = wanted.get("resources") or {}
    return is_named and all(worker["resources"].get(name, 0) >= amount for name, amount in amounts.items())


def has_plugin(name: str, dask_scheduler: Any) -> bool:
    return name in dask_scheduler.worker_plugins


def waits_in_vain(name: str, is_wanted: bool, seconds: float, dask_scheduler: Any) -> bool:
    """Whether the scheduler has added or removed a plugin, and waits for a worker that has said nothing for so long."""
    workers = [described(worker) for worker in dask_scheduler.workers.values()]
    has_silent = any(worker["silentSeconds"] > seconds for worker in workers)
    return has_silent and has_plugin(name, dask_scheduler) == is_wanted


def stale_plugins(prefixes: list[str], bundle_prefix: str, dask_scheduler: Any) -> list[str]:
    """Plugins of clients that are gone without having removed them, and bundles that no client uses.

    Names of clients' plugins are prefix, client, and what follows; those of pools end with that of their bundle.
    """
    names = list(dask_scheduler.worker_plugins)
    own = [name for name in names if name.startswith(tuple(prefixes))]
    clients = tuple(prefix + client for prefix in prefixes for client in dask_scheduler.clients)
    used = [name for name in own if name.startswith(clients)]
    bundles = [name for name in names if name.startswith(bundle_prefix)]
    unused = [bundle for bundle in bundles if not any(name.endswith(bundle) for name in used)]
    return [name for name in own if name not in used] + unused


def claim_name(wanted: str, client: str, dask_scheduler: Any) -> str:
    """The wanted name, or with a number behind it if tasks of that name are there, or another run has claimed it."""
    claims: dict[str, str] = dask_scheduler.__dict__.setdefault("factorloom_names", {})
    for name in [name for name, owner in claims.items() if owner not in dask_scheduler.clients]:
        del claims[name]
    number = 1
    name = wanted
    while name in claims or any(group.startswith(name + "_") for group in dask_scheduler.task_groups):
        number += 1
        name = f"{wanted}x{number}"
    claims[name] = client
    return name


def release_name(name: str, dask_scheduler: Any) -> None:
    dask_scheduler.__dict__.get("factorloom_names", {}).pop(name, None)


def progress(groups: list[str], wanted: Record, seconds: float, dask_scheduler: Any) -> dict[str, Any]:
    """`groups`: how many tasks of each are done and under way; those that are forgotten are left out. `nannies`: those of
    `workers`, at a time of the scheduler's clock. `canRun`: whether a worker that was heard of in the last `seconds`
    may run what is wanted.
    """
    found = {}
    for name in groups:
        group = dask_scheduler.task_groups.get(name)
        if group is not None:
            states = group.states
            # A task is in `released` only once it was done: it goes to `waiting` as soon as it is known.
            done = sum(states.get(state, 0) for state in ("memory", "released", "forgotten", "erred"))
            # Those that wait for room on a worker are `queued`.
            found[name] = {
                "done": done,
                "processing": states.get("processing", 0),
                "queued": states.get("queued", 0),
            }
    workers = [described(worker) for worker in dask_scheduler.workers.values()]
    nannies = {worker["address"]: worker["nanny"] for worker in workers}
    can_run = any(fits(worker, wanted) and worker["silentSeconds"] < seconds for worker in workers)
    return {"groups": found, "nannies": nannies, "canRun": can_run, "at": time.time()}


def hand_out_queued(dask_scheduler: Any) -> None:
    """Gives queued tasks to workers that have room.

    Dask does so when a task ends. Where a worker is lost, and with it what all tasks under way were to read, none does:
    its tasks are queued anew while other workers idle (seen with 2022.12).
    """
    hand_out = getattr(dask_scheduler, "stimulus_queue_slots_maybe_opened", None)
    if hand_out is not None:
        hand_out(stimulus_id=f"factorloom-{time.time()}")


def workers(since: float, dask_scheduler: Any) -> dict[str, Any]:
    """Memory and replicas of each worker, steals since that time, in Unix seconds, and when that was so."""
    if hasattr(dask_scheduler, "get_events"):
        events = dask_scheduler.get_events("stealing")
    else:
        events = dask_scheduler.events.get("stealing", ())
    stolen_from: dict[str, int] = {}
    stolen_by: dict[str, int] = {}
    for at, event in list(events):
        # ("confirm", key, state, victim, thief, ...)
        if at >= since and event[0] == "confirm":
            stolen_from[event[3]] = stolen_from.get(event[3], 0) + 1
            stolen_by[event[4]] = stolen_by.get(event[4], 0) + 1

    def facts(worker: Any) -> dict[str, Any]:
        memory = worker.memory
        return {
            "address": worker.address,
            "nanny": worker.nanny,
            "nthreads": worker.nthreads,
            "silentSeconds": time.time() - worker.last_seen,
            "managedBytes": memory.managed,
            "unmanagedBytes": memory.unmanaged,
            "spilledBytes": getattr(memory, "spilled", None) or getattr(memory, "managed_spilled", 0),
            "keys": len(worker.has_what),
            "replicatedKeys": sum(len(task.who_has or ()) > 1 for task in worker.has_what),
            "stolenFrom": stolen_from.get(worker.address, 0),
            "stolenBy": stolen_by.get(worker.address, 0),
        }

    return {"workers": [facts(worker) for worker in dask_scheduler.workers.values()], "at": time.time()}
