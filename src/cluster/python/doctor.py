"""Examines a Dask cluster for `factorloom cluster doctor`: `doctor.py REQUEST`. Request and output are JSON.

Asks scheduler and workers for their versions, and each worker for its Node; then measures the connection to each worker.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import statistics
import sys
import time
from typing import Any

import cloudpickle
import dask
from distributed import Client

import node_executor
import scheduler_client
import scheduler_reports
from node_executor import find_node, node_command
from scheduler_reports import cluster, versions
from stdio_frames import Record
from task_faults import fault_in

SILENT_SECONDS = 30.0
NODE_SECONDS_MAX = 20.0
ROUND_TRIPS = 11
TRANSFER_BYTES = 8 << 20

# Only this host has these modules, so Dask sends their code along.
for module in (node_executor, scheduler_reports):
    cloudpickle.register_pickle_by_value(module)


def describe_host() -> Record:
    return {"host": socket.gethostname(), **versions()}


def describe_scheduler(dask_scheduler: Any) -> Record:
    return {**cluster(dask_scheduler), "versions": describe_host()}


def examine_here(node: str | None) -> Record:
    path, version = find_node(node_command(node), NODE_SECONDS_MAX)
    return {"versions": describe_host(), "node": {"path": path, "version": version}}


def answer_at_once() -> None:
    return None


async def examine_worker(client: Client, worker: Record, node: str | None) -> Record:
    """Versions and Node of a worker, or why it does not tell them."""
    worker = {name: worker[name] for name in ("address", "name", "threads", "memoryLimitBytes")}
    asking = client.run(examine_here, node, workers=[worker["address"]])
    try:
        answers = await asyncio.wait_for(asking, SILENT_SECONDS)
        return {**worker, **answers[worker["address"]]}
    except asyncio.TimeoutError:
        return {**worker, "problem": f"it does not answer within {SILENT_SECONDS:.0f} s"}
    except Exception as error:
        return {**worker, "problem": f"it does not answer: {error}"}


async def measure_connection(client: Client, worker: Record) -> Record:
    """Seconds that a request takes to the worker and back, and seconds to send bytes to it in the way of tiles."""
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
    # One after the other, because they share the network.
    for worker in workers:
        if "problem" in worker:
            continue
        try:
            worker["way"] = await asyncio.wait_for(measure_connection(client, worker), SILENT_SECONDS)
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
    # Exits without waiting for connections to silent workers.
    os._exit(0)
