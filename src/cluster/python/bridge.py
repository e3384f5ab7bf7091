"""The bridge between factorloom and Dask: a client of the scheduler that talks to `bridge.ts` over stdio.

A request is a record {id, kind, ...}, its answer {id, kind: "answer", ...} or {id, kind: "fault", ...}; events have no id.
Answers may come out of order. A fault is that of an executor, {errorClass, code, problem, remedy}, or {code, args}, whose
text `errors.ts` writes. When stdin ends, the bridge leaves the scheduler, which then forgets its tasks.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
import time
import traceback
import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

import cloudpickle
import dask
from distributed import Future

import cluster_job
import executor_memory
import executor_pool
import node_executor
import panel_copy
import scheduler_reports
import stdio_frames
import task_faults
import worker_plugin
from cluster_job import JOB_PREFIX, ClusterJob
from connection import CONNECT_SECONDS, STATUS_SECONDS, Connection
from dask_graph import graph_of, missing_worker, order_of, restriction_text, restrictions, task_name
from executor_pool import POOL_PREFIX, ExecutorPool
from panel_copy import PANEL_PREFIX, piece_key
from scheduler_watch import SchedulerWatch, nannies_of
from stdio_frames import Record, read_frame, write_frame
from task_faults import FAULT_PREFIX, fault, internal, named

PROTOCOL_VERSION = 9
CLOSE_SECONDS = 2.0

Answer = tuple[Record, Sequence[Any]]

# Only this host has these modules, so Dask sends their code along.
for module in (
    cluster_job,
    executor_memory,
    executor_pool,
    node_executor,
    panel_copy,
    scheduler_reports,
    stdio_frames,
    task_faults,
    worker_plugin,
):
    cloudpickle.register_pickle_by_value(module)


class Bridge:
    """Handles requests: `on_<kind>` for each kind."""

    def __init__(self, stdout: int) -> None:
        self.stdout = stdout
        self.write_lock = asyncio.Lock()
        self.connection = Connection()
        # Results that were submitted and not gathered.
        self.futures: dict[str, Future] = {}
        self.cancelled: set[str] = set()
        self.watch = SchedulerWatch(self.connection, self.futures, self.send)
        self.pool = ""
        # That of the run, of which a bridge has one at a time, and the pieces of its panel.
        self.job: ClusterJob | None = None
        self.pieces: list[Future] = []

    async def send(self, record: Record, buffers: Sequence[Any] = ()) -> None:
        async with self.write_lock:
            await asyncio.to_thread(write_frame, self.stdout, record, buffers)

    async def answer(self, request: Record, buffers: list[bytearray]) -> None:
        """Answers a request, at the latest when the cluster is lost."""
        handler: Callable[[Record, list[bytearray]], Awaitable[Answer]] = getattr(self, f"on_{request['kind']}")
        working = asyncio.ensure_future(handler(request, buffers))
        losing = asyncio.ensure_future(self.watch.lost.wait())
        await asyncio.wait({working, losing}, return_when=asyncio.FIRST_COMPLETED)
        losing.cancel()
        record: Record
        values: Sequence[Any] = ()
        try:
            if not working.done():
                working.cancel()
                raise fault(self.watch.loss())
            answered, values = working.result()
            record = {"kind": "answer", **answered}
        except (Exception, asyncio.CancelledError) as error:
            record = {"kind": "fault", "fault": await self.fault_of(error, request)}
            # A failed future has its exception, whose frames have the future: Dask would keep its key for the next run.
            traceback.clear_frames(error.__traceback__)
        await self.send({"id": request["id"], **record}, values)

    async def fault_of(self, error: BaseException, request: Record) -> Record:
        """The fault that stands for an exception of Dask, of a task or of the bridge."""
        text = str(error)
        task = task_name(request["key"]) if "key" in request else request["kind"]
        if text.startswith(FAULT_PREFIX):
            return json.loads(text.removeprefix(FAULT_PREFIX))
        if self.watch.lost.is_set() or self.connection.status not in (None, "running"):
            return self.watch.loss()
        if task in self.cancelled:
            return {"error": "cancelled", "args": []}
        # By name: the modules and bases of these classes differ between versions of Dask.
        name = type(error).__name__
        is_disconnected = name == "CommClosedError" or isinstance(error, ConnectionError)
        # The scheduler forwards this error if a worker is gone; if the scheduler itself is, the client may not know yet.
        if is_disconnected and not await self.connection.has_scheduler():
            return self.watch.loss()
        if isinstance(error, OSError) and "No valid workers" in text:
            return self.watch.no_worker()
        # A worker that does not answer is an OSError.
        if name == "KilledWorker" or isinstance(error, OSError):
            return {"error": "workersLost", "args": [task, text]}
        if name.endswith("CancelledError"):
            return {"error": "workersLost", "args": [task, "what it reads is gone, or another client cancelled it"]}
        lines = traceback.format_exception(type(error), error, error.__traceback__)
        return internal("".join(lines).rstrip())

    async def on_connect(self, request: Record, _: list[bytearray]) -> Answer:
        """Connects to the scheduler, waits for a worker and starts the watch."""
        report = await self.connection.open(request)
        self.watch.start(report, request["timeoutSeconds"])
        link = self.connection.client.dashboard_link if report["hasDashboard"] else None
        return {**report, "dashboard": link}, ()

    async def on_install(self, request: Record, buffers: list[bytearray]) -> Answer:
        """Brings the bundle to every worker, also to those that join later."""
        client = self.connection.client
        bundle = worker_plugin.BUNDLE_PREFIX + request["digest"][:16]
        self.pool = f"{POOL_PREFIX}{client.id}-{bundle}"
        # The pool comes first: the next client removes bundles that no pool uses.
        entry, node, hello = (request[name] for name in ("entry", "node", "hello"))
        self.watch.pool = self.pool
        await self.connection.register(ExecutorPool(self.pool, bundle, entry, node, hello))
        question = (scheduler_reports.stale_plugins, [POOL_PREFIX, JOB_PREFIX], worker_plugin.BUNDLE_PREFIX)
        for name in await client.run_on_scheduler(*question):
            # Another client may remove it at the same time.
            with suppress(Exception):
                await self.connection.unregister(name)
        if not await client.run_on_scheduler(scheduler_reports.has_plugin, bundle):
            await self.connection.register(worker_plugin.Bundle(bundle, request["digest"], bytes(buffers[0])))
        self.connection.waking = None
        return {}, ()

    async def on_addJob(self, request: Record, buffers: list[bytearray]) -> Answer:
        """Brings a job to every worker; says whether all see the file of the panel."""
        client, digest, panel = self.connection.client.id, request["job"], request["panel"]
        if panel is not None:
            # Dask may forget pieces of an earlier job after those of the next one came, so their keys differ.
            panel["pieces"] = f"{PANEL_PREFIX}{panel['digest'][:16]}-{uuid.uuid4().hex[:8]}"
        # By client: two runs of the same job end at different times.
        name = f"{JOB_PREFIX}{client}-{digest[:16]}"
        job = ClusterJob(name, self.pool, digest, bytes(buffers[0]), panel)
        await self.connection.register(job)
        self.job = job
        self.watch.forget_tasks()
        return {"isPanelSeen": panel is None or await self.is_seen(panel)}, ()

    async def is_seen(self, panel: Record) -> bool:
        """Whether all workers see the file of the panel; False if one does not say so soon."""
        connection = self.connection
        workers = connection.responsive((await connection.report())["workers"])
        asking = connection.client.run(panel_copy.sees_panel, panel, workers=workers, on_error="ignore")
        try:
            seen = await asyncio.wait_for(asking, connection.silent_seconds)
        except asyncio.TimeoutError:
            return False
        return len(seen) > 0 and all(seen.values())

    async def on_put(self, request: Record, buffers: list[bytearray]) -> Answer:
        """Puts a piece of the panel of a job on a worker, until the job is removed."""
        assert self.job is not None and self.job.panel is not None
        # The cluster may have no worker by now, or be about to end its last one.
        if self.connection.waking is None:
            self.connection.request_worker()
        key, direct = piece_key(self.job.panel, request["index"]), self.connection.is_direct
        scattered = await self.connection.client.scatter({key: buffers.pop()}, direct=direct, hash=False)
        self.pieces.append(scattered[key])
        return {}, ()

    async def on_removeJob(self, _request: Record, _: list[bytearray]) -> Answer:
        job, self.job = self.job, None
        self.pieces.clear()
        if job is not None:
            await self.connection.unregister(job.name)
        return {}, ()

    async def on_submit(self, request: Record, buffers: list[bytearray]) -> Answer:
        """Submits the graph in the buffer; its results are gathered one by one."""
        connection = self.connection
        graph = json.loads(buffers[0])
        del buffers[:]
        results = [task_name(key) for key in graph["results"]]
        workers = (await connection.report())["workers"]
        missing = missing_worker(graph, workers)
        if missing is not None:
            raise named("noSuchWorker", missing, ", ".join(sorted(worker["address"] for worker in workers)))
        connection.wanted, connection.restriction = restrictions(graph, workers), restriction_text(graph)
        assert self.job is not None
        layers = graph_of(graph, self.job.name, self.futures, connection.wanted)
        futures = connection.client.get_in_order(layers, results, order_of(graph))
        self.watch.count_tasks(graph["tasks"])
        self.futures.update(zip(results, futures))
        self.cancelled.difference_update(results)
        connection.waking = None
        return {}, ()

    async def on_gather(self, request: Record, _: list[bytearray]) -> Answer:
        """The buffers of a result, once; the cluster may forget it then."""
        name = task_name(request["key"])
        if name in self.cancelled:
            raise named("cancelled")
        value = await self.gather(self.futures[name])
        self.futures.pop(name, None)
        return {}, value

    async def gather(self, future: Future) -> Any:
        """The value of a future. Some versions of Dask raise KeyError("data") while its worker is short of memory."""
        while True:
            try:
                return await self.connection.client.gather(future, direct=self.connection.is_direct)
            except KeyError as error:
                if error.args != ("data",) or future.status != "finished":
                    raise
                await asyncio.sleep(STATUS_SECONDS)

    async def on_cancel(self, _request: Record, _: list[bytearray]) -> Answer:
        """Cancels everything that was submitted and not gathered."""
        self.cancelled.update(self.futures)
        futures = list(self.futures.values())
        self.futures.clear()
        self.connection.waking = None
        if len(futures) > 0:
            await self.connection.client.cancel(futures)
        return {}, ()

    async def on_workers(self, request: Record, _: list[bytearray]) -> Answer:
        """What Dask knows of each worker, and what the job did there."""
        client, watch = self.connection.client, self.watch
        known = await client.run_on_scheduler(scheduler_reports.workers, watch.since)
        watch.note_workers(known["at"], nannies_of(known["workers"]))
        await watch.report_hangs()
        assert self.job is not None
        question = (worker_plugin.stats_of, self.job.name, request["trace"])
        responsive = self.connection.responsive(known["workers"])
        stats = await client.run(*question, workers=responsive, on_error="ignore")
        # Workers that left between the two questions are left out.
        workers = [
            {**worker, "restarts": watch.restarts.get(worker["nanny"], 0), "job": stats[worker["address"]]}
            for worker in known["workers"]
            if worker["address"] in stats
        ]
        report = {"workers": workers, "joined": watch.joined, "gone": watch.gone}
        return {}, [json.dumps(report).encode()]

    async def on_probe(self, request: Record, _: list[bytearray]) -> Answer:
        """What each worker answers to a small task, beside the graph."""
        workers = (await self.connection.report())["workers"]
        return {"workers": await asyncio.gather(*(self.probe(worker, request) for worker in workers))}, ()

    async def probe(self, worker: Record, request: Record) -> Record:
        known = {name: worker[name] for name in ("name", "address", "memoryLimitBytes")}
        address, seconds = worker["address"], request["seconds"]
        asking = self.connection.client.run(worker_plugin.probe, self.pool, request["folder"], workers=[address])
        try:
            answer = (await asyncio.wait_for(asking, seconds))[address]
        except Exception as error:
            reason = str(error) or f"nothing came within {seconds} s"
            return {**known, "problem": f"it does not answer: {reason}; look at its log and at the load of its host"}
        return {**known, **answer, "clockSeconds": answer["at"] - time.time()}

    async def close(self) -> None:
        """Removes what this client brought, as far as the cluster answers."""
        if self.connection.status != "running":
            return
        # Tasks that are still wanted would wait on their workers for the jobs.
        await self.on_cancel({}, [])
        await self.on_removeJob({}, [])
        if self.pool:
            await self.connection.unregister(self.pool)
        await self.connection.client.close()


def read_requests(loop: asyncio.AbstractEventLoop, requests: asyncio.Queue[Any]) -> None:
    """Puts the frames of stdin into the queue, and None after the last one."""
    frame: Any = ()
    while frame is not None:
        try:
            frame = read_frame(0)
        except (EOFError, OSError, ValueError):
            frame = None
        loop.call_soon_threadsafe(requests.put_nowait, frame)


async def serve(stdout: int) -> None:
    """Answers requests until stdin ends."""
    bridge = Bridge(stdout)
    await bridge.send({"kind": "hello", "protocol": PROTOCOL_VERSION, **scheduler_reports.versions()})
    requests: asyncio.Queue[Any] = asyncio.Queue()
    threading.Thread(target=read_requests, args=(asyncio.get_running_loop(), requests), daemon=True).start()
    answering: set[asyncio.Task[None]] = set()
    while (frame := await requests.get()) is not None:
        task = asyncio.create_task(bridge.answer(*frame))
        answering.add(task)
        task.add_done_callback(answering.discard)
    with suppress(Exception):
        await asyncio.wait_for(bridge.close(), CLOSE_SECONDS)
    # Exits without joining threads: they may hang on a lost scheduler, or on a pipe that is no longer read.
    sys.stderr.flush()
    os._exit(0)


def main() -> None:
    # Ctrl-C reaches the parent too, which ends stdin when it is done.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Only frames go to stdout; everything that is printed goes to stderr.
    stdout = os.dup(1)
    os.dup2(2, 1)
    dask.config.set({"distributed.comm.compression": None, "distributed.comm.timeouts.connect": f"{CONNECT_SECONDS}s"})
    asyncio.run(serve(stdout))


if __name__ == "__main__":
    main()
