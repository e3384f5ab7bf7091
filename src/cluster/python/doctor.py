"""Examines a Dask cluster for `factorloom cluster doctor`: `doctor.py REQUEST`, which is JSON, as is what it prints.

Asks scheduler and workers for their versions, and each worker for its Node; then measures the way to each worker. A worker
that does not answer, or fails, is reported as such.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import time
from typing import Any

import dask
from distributed import Client

import scheduler_client
from task_faults import fault_in

Record = dict[str, Any]

SILENT_SECONDS = 30.0
ROUND_TRIPS = 11
TRANSFER_BYTES = 8 << 20


# What runs on scheduler and workers is sent by value: it imports what it needs by itself.


def describe_host() -> Record:
    """Versions of the process."""
    import platform
    import socket

    import dask
    import distributed

    return {
        "host": socket.gethostname(),
        "python": platform.python_version(),
        "dask": dask.__version__,
        "distributed": distributed.__version__,
    }


def describe_scheduler(dask_scheduler: Any) -> Record:
    import importlib.util

    workers = [
        {
            "address": worker.address,
            "name": str(worker.name),
            "threads": worker.nthreads,
            "memoryLimitBytes": worker.memory_limit,
        }
        for worker in dask_scheduler.workers.values()
    ]
    # Without bokeh the dashboard is a page that says what to install.
    has_dashboard = importlib.util.find_spec("bokeh") is not None
    return {"versions": describe_host(), "workers": workers, "hasDashboard": has_dashboard}


def describe_node(wanted: str | None) -> Record:
    """Node as executors are started with it: where it is, and its version, null if it does not say it."""
    import shutil
    import subprocess

    path = shutil.which(wanted or os.environ.get("FACTORLOOM_NODE") or "node")
    if path is None:
        return {"path": None, "version": None}
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, timeout=20, text=True)
    except (OSError, subprocess.SubprocessError):
        return {"path": path, "version": None}
    version = answer.stdout.strip()
    return {"path": path, "version": version.removeprefix("v") if version.startswith("v") else None}


def examine_here(node: str | None) -> Record:
    return {"versions": describe_host(), "node": describe_node(node)}


def answer_at_once() -> None:
    return None


async def examine_worker(client: Client, worker: Record, node: str | None) -> Record:
    """What the worker says of itself, or why it does not."""
    asking = client.run(examine_here, node, workers=[worker["address"]])
    try:
        answers = await asyncio.wait_for(asking, SILENT_SECONDS)
        return {**worker, **answers[worker["address"]]}
    except asyncio.TimeoutError:
        return {**worker, "problem": f"it does not answer within {SILENT_SECONDS:.0f} s"}
    except Exception as error:
        return {**worker, "problem": f"it does not answer: {error}"}


async def measure_way(client: Client, worker: Record) -> Record:
    """Seconds that a request takes to the worker and back, and to bring bytes to it, as tiles are brought."""
    address = worker["address"]
    times = []
    for _ in range(ROUND_TRIPS):
        started = time.perf_counter()
        await client.run(answer_at_once, workers=[address])
        times.append(time.perf_counter() - started)
    block = os.urandom(TRANSFER_BYTES)
    started = time.perf_counter()
    await client.scatter(block, workers=[address], hash=False)
    return {
        "roundTripSeconds": statistics.median(times),
        "transferBytes": TRANSFER_BYTES,
        "transferSeconds": time.perf_counter() - started,
    }


async def examine(request: Record) -> Record:
    """The report, or a fault with the code and the arguments of one of `errors.ts`."""
    address, seconds = request["address"], request["timeoutSeconds"]
    try:
        client = await scheduler_client.connect(address, seconds, request["tls"])
    except RuntimeError as error:
        return {"fault": fault_in(error)}
    scheduler = await client.run_on_scheduler(describe_scheduler)
    if len(scheduler["workers"]) == 0:
        return {"fault": {"code": "E604", "args": [address]}}
    workers = await asyncio.gather(
        *(examine_worker(client, worker, request["node"]) for worker in scheduler["workers"])
    )
    # One after the other: they share the way.
    for worker in workers:
        if "problem" in worker:
            continue
        try:
            worker["way"] = await asyncio.wait_for(measure_way(client, worker), SILENT_SECONDS)
        except Exception as error:
            worker["problem"] = f"the way to it breaks: {error or type(error).__name__}"
    return {
        "dashboard": client.dashboard_link if scheduler["hasDashboard"] else None,
        "client": describe_host(),
        "scheduler": scheduler["versions"],
        "workers": workers,
    }


if __name__ == "__main__":
    dask.config.set({"distributed.comm.compression": None})
    report = asyncio.new_event_loop().run_until_complete(examine(json.loads(sys.argv[1])))
    print(json.dumps(report), flush=True)
    # Connections to workers that keep silent are not waited for.
    os._exit(0)
