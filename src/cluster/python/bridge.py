"""The bridge between factorloom and Dask: a client of the scheduler, spoken to over stdio by `bridge.ts`.

A request is a record {id, kind, ...}, its answer {id, kind: "answer", ...} or {id, kind: "fault", ...}; events have no id.
Requests are answered as they are done, not in order. A fault is that of an executor, {errorClass, code, problem, remedy}, or
{code, args}, whose text `errors.ts` writes. When stdin ends, the bridge leaves the scheduler, which then forgets its tasks.
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
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

import cloudpickle
import dask
import distributed
from distributed import Client, Future

import executor_pool
import node_executor
import scheduler_client
import scheduler_reports
import stdio_frames
import task_faults
import worker_plugin
from dask_graph import graph_of, missing_worker, restriction_text, restrictions, task_name
from executor_pool import JOB_PREFIX, POOL_PREFIX, ExecutorPool
from preparation import Preparation
from stdio_frames import Record, read_frame, write_frame
from task_faults import FAULT_PREFIX, coded, fault, internal
from worker_roster import WorkerRoster

PROTOCOL_VERSION = 2
HEARTBEAT_SECONDS = 0.5
STATUS_SECONDS = 0.1
# A scheduler that takes in a large graph answers nothing meanwhile.
SCHEDULER_SILENT_SECONDS = 120.0
CONNECT_SECONDS = 5.0
# Heartbeats of workers come every half second, in the largest clusters every five.
SILENT_SECONDS_MIN = 2.0
SILENT_SECONDS_MAX = 10.0
CLOSE_SECONDS = 2.0

Answer = tuple[Record, Sequence[Any]]

# What this host alone has travels by value.
for module in (executor_pool, node_executor, scheduler_reports, stdio_frames, task_faults, worker_plugin):
    cloudpickle.register_pickle_by_value(module)


class Bridge:
    """The state of a connection: one client, one bundle, and the futures of what was asked for."""

    def __init__(self, stdout: int) -> None:
        self.stdout = stdout
        self.write_lock = asyncio.Lock()
        self.lost = asyncio.Event()
        # Why: the scheduler is gone, or for too long it had no worker.
        self.loss = "E611"
        self.worker_seconds = 0.0
        # A worker that is not heard of for longer may stand still, or be about to be given up.
        self.silent_seconds = SILENT_SECONDS_MAX
        # Where tasks may run, and that in the user's words.
        self.wanted: Record = {}
        self.restriction = ""
        self.waking: Future | None = None
        self.client: Client | None = None
        self.address = ""
        self.since = 0.0
        self.pool = ""
        self.jobs: dict[str, str] = {}
        self.futures: dict[str, Future] = {}
        self.cancelled: set[str] = set()
        self.pieces: dict[str, Future] = {}
        # Number of tasks by group.
        self.groups: dict[str, int] = {}
        self.known_groups: set[str] = set()
        self.roster = WorkerRoster()
        # Running beside the requests; asyncio itself keeps no hold of them.
        self.running: set[asyncio.Future[Any]] = set()

    async def send(self, record: Record, buffers: Sequence[Any] = ()) -> None:
        async with self.write_lock:
            await asyncio.to_thread(write_frame, self.stdout, record, buffers)

    async def answer(self, request: Record, buffers: list[bytearray]) -> None:
        """Answers a request, at the latest when the scheduler is lost."""
        handler: Callable[[Record, list[bytearray]], Awaitable[Answer]] = getattr(self, f"on_{request['kind']}")
        working = asyncio.ensure_future(handler(request, buffers))
        losing = asyncio.ensure_future(self.lost.wait())
        await asyncio.wait({working, losing}, return_when=asyncio.FIRST_COMPLETED)
        losing.cancel()
        record: Record
        values: Sequence[Any] = ()
        try:
            if not working.done():
                working.cancel()
                raise fault(self.lost_fault())
            answered, values = working.result()
            record = {"kind": "answer", **answered}
        except (Exception, asyncio.CancelledError) as error:
            record = {"kind": "fault", "fault": await self.fault_of(error, request)}
        await self.send({"id": request["id"], **record}, values)

    def lost_fault(self) -> Record:
        return {"code": self.loss, "args": [self.address, self.restriction]}

    async def fault_of(self, error: BaseException, request: Record) -> Record:
        """The fault that an exception of Dask, of a task or of ours stands for."""
        text = str(error)
        task = task_name(request["key"]) if "key" in request else request["kind"]
        if text.startswith(FAULT_PREFIX):
            return json.loads(text.removeprefix(FAULT_PREFIX))
        if self.lost.is_set() or (self.client is not None and self.client.status != "running"):
            return self.lost_fault()
        if task in self.cancelled:
            return {"code": "cancelled", "args": []}
        # By name: the modules of these classes, and their bases, differ between versions of Dask.
        name = type(error).__name__
        # The scheduler may be gone before the client knows it; it hands on that a worker is.
        if (name == "CommClosedError" or isinstance(error, ConnectionError)) and not await self.has_scheduler():
            return self.lost_fault()
        # A worker that does not answer is an OSError.
        if name == "KilledWorker" or isinstance(error, OSError):
            return {"code": "E608", "args": [task, text]}
        if name.endswith("CancelledError"):
            return {"code": "E608", "args": [task, "what it reads is gone, or another client cancelled it"]}
        lines = traceback.format_exception(type(error), error, error.__traceback__)
        return internal("".join(lines).rstrip())

    async def has_scheduler(self) -> bool:
        try:
            asking = self.connected().run_on_scheduler(scheduler_reports.has_plugin, self.pool)
            await asyncio.wait_for(asking, CONNECT_SECONDS)
        except (OSError, asyncio.TimeoutError):
            return False
        return True

    async def on_connect(self, request: Record, _: list[bytearray]) -> Answer:
        """Finds the scheduler, and waits for a worker."""
        self.address = request["address"]
        self.worker_seconds = request["timeoutSeconds"]
        self.silent_seconds = max(SILENT_SECONDS_MIN, min(self.worker_seconds / 3, SILENT_SECONDS_MAX))
        self.wanted = {name: request[name] for name in ("workers", "resources")}
        self.restriction = restriction_text(self.wanted)
        until = time.monotonic() + request["seconds"]
        self.client = await scheduler_client.connect(self.address, request["seconds"], request["tls"])
        facts = await self.facts()
        while len(facts["workers"]) == 0:
            if time.monotonic() > until:
                raise coded("E604", self.address, self.restriction)
            self.wake()
            await asyncio.sleep(STATUS_SECONDS)
            facts = await self.facts()
        self.since = facts.pop("at")
        self.see(self.since, nannies_of(facts["workers"]))
        self.roster.joined = 0
        self.start(self.watch())
        link = self.client.dashboard_link if facts["hasDashboard"] else None
        return {**facts, "dashboard": link}, ()

    async def facts(self) -> Record:
        return await self.connected().run_on_scheduler(scheduler_reports.cluster)

    def wake(self) -> None:
        """Clusters that grow and shrink start workers for tasks, not for clients."""
        if self.waking is None or self.waking.done():
            self.waking = self.connected().submit(worker_plugin.barrier, pure=False, **self.wanted)

    async def on_install(self, request: Record, buffers: list[bytearray]) -> Answer:
        """Brings the bundle to every worker, also to those that come later."""
        until = time.monotonic() + request["seconds"]
        client = self.connected()
        bundle = worker_plugin.BUNDLE_PREFIX + request["digest"][:16]
        self.pool = f"{POOL_PREFIX}{client.id}-{bundle}"
        # The pool first: a bundle without one is taken away by the next client.
        entry, node, hello = (request[name] for name in ("entry", "node", "hello"))
        await self.register(ExecutorPool(self.pool, bundle, entry, node, hello))
        prefixes = [POOL_PREFIX, JOB_PREFIX]
        stale = await client.run_on_scheduler(
            scheduler_reports.stale_plugins, prefixes, worker_plugin.BUNDLE_PREFIX
        )
        for name in stale:
            # Another client may do the same.
            with suppress(Exception):
                await self.unregister(name)
        if not await client.run_on_scheduler(scheduler_reports.has_plugin, bundle):
            await self.register(worker_plugin.Bundle(bundle, request["digest"], bytes(buffers[0])))
        await self.prepare(until)
        self.waking = None
        return {}, ()

    async def prepare(self, until: float) -> None:
        """Waits until workers have what they need: those that fit, less those that end or say nothing, but one at least."""
        preparation = Preparation(self.connected(), self.pool, self.silent_seconds)
        while True:
            workers = (await self.facts())["workers"]
            fitting = [worker for worker in workers if scheduler_reports.fits(worker, self.wanted)] or workers
            if preparation.is_over(fitting):
                return
            if time.monotonic() > until:
                raise coded("E631", preparation.reasons(fitting))
            if len(workers) == 0:
                self.wake()
            await asyncio.sleep(STATUS_SECONDS)

    async def on_addJob(self, request: Record, buffers: list[bytearray]) -> Answer:
        digest = request["job"]
        name = self.job_name(digest)
        await self.register(worker_plugin.ClusterJob(name, self.pool, digest, bytes(buffers[0])))
        self.jobs[digest] = name
        return {}, ()

    async def on_removeJob(self, request: Record, _: list[bytearray]) -> Answer:
        await self.unregister(self.jobs.pop(request["job"]))
        return {}, ()

    async def on_claimName(self, request: Record, _: list[bytearray]) -> Answer:
        """A name for the groups of a run: no other run's tasks have it."""
        client = self.connected()
        name = await client.run_on_scheduler(scheduler_reports.claim_name, request["wanted"], client.id)
        return {"name": name}, ()

    async def on_releaseName(self, request: Record, _: list[bytearray]) -> Answer:
        await self.connected().run_on_scheduler(scheduler_reports.release_name, request["name"])
        return {}, ()

    async def on_submit(self, request: Record, buffers: list[bytearray]) -> Answer:
        """Submits the graph in the buffer; its results are gathered one by one."""
        graph = json.loads(buffers[0])
        del buffers[:]
        results = [task_name(key) for key in graph["results"]]
        workers = (await self.facts())["workers"]
        addresses = sorted(worker["address"] for worker in workers)
        missing = missing_worker(graph, workers)
        if missing is not None:
            raise coded("E622", missing, ", ".join(addresses))
        self.wanted, self.restriction = restrictions(graph, workers), restriction_text(graph)
        speaking = self.speaking(workers)
        layers = graph_of(graph, self.jobs[request["job"]], self.pieces, sorted(speaking))
        futures = self.connected().get(layers, results, sync=False)
        if len(self.futures) == 0:
            self.groups = {}
        self.futures.update(zip(results, futures))
        self.cancelled.difference_update(results)
        # The tasks hold them from now on, as long as they need them.
        self.pieces.clear()
        for task in graph["tasks"]:
            group = task["key"][0]
            self.groups[group] = self.groups.get(group, 0) + 1
        return {}, ()

    async def on_gather(self, request: Record, _: list[bytearray]) -> Answer:
        """The buffers of a result, once; the cluster may forget it then."""
        name = task_name(request["key"])
        if name in self.cancelled:
            raise coded("cancelled")
        future = self.futures[name]
        await settled(future)
        if request["isEmpty"] and future.status == "finished":
            value = None
        else:
            value = await self.gathered(future)
        self.futures.pop(name, None)
        return {}, value or ()

    async def gathered(self, future: Future) -> Any:
        """The value, as soon as its worker has time: some versions of Dask fail with that key where it is short of memory."""
        while True:
            try:
                return await self.connected().gather(future)
            except KeyError as error:
                if error.args != ("data",) or future.status != "finished":
                    raise
                await asyncio.sleep(STATUS_SECONDS)

    async def on_cancel(self, _request: Record, _: list[bytearray]) -> Answer:
        """Cancels everything that was submitted and not gathered."""
        self.cancelled.update(self.futures)
        futures, self.futures = list(self.futures.values()), {}
        self.groups = {}
        self.pieces = {}
        if len(futures) > 0:
            await self.connected().cancel(futures)
        return {}, ()

    def speaking(self, workers: list[Record]) -> list[str]:
        """Addresses of those that are heard of."""
        return [worker["address"] for worker in workers if worker["silentSeconds"] < self.silent_seconds]

    async def on_put(self, request: Record, buffers: list[bytearray]) -> Answer:
        """Puts lists of buffers on workers: `counts` says how many buffers each key has."""
        pieces: dict[str, list[bytearray]] = {}
        first = 0
        for key, count in zip(request["keys"], request["counts"]):
            pieces[task_name(key)] = buffers[first : first + count]
            first += count
        del buffers[:]
        self.pieces.update(await self.connected().scatter(pieces))
        return {}, ()

    async def on_workers(self, request: Record, _: list[bytearray]) -> Answer:
        """What Dask knows of each worker, and what a job did there."""
        client = self.connected()
        known = await client.run_on_scheduler(scheduler_reports.workers, self.since)
        self.see(known["at"], nannies_of(known["workers"]))
        name = self.job_name(request["job"])
        speaking = self.speaking(known["workers"])
        ledgers = await client.run(
            worker_plugin.ledger_of, self.pool, name, request["trace"], workers=speaking, on_error="ignore"
        )
        # Those that went between the questions are left out.
        facts = [
            {**worker, "restarts": self.roster.restarts.get(worker["nanny"], 0), "job": ledgers[worker["address"]]}
            for worker in known["workers"]
            if worker["address"] in ledgers
        ]
        changes = {"joined": self.roster.joined, "gone": self.roster.gone}
        return {}, [json.dumps({"workers": facts, **changes}).encode()]

    async def on_call(self, request: Record, buffers: list[bytearray]) -> Answer:
        """Runs a task on every worker, beside the graph."""
        name = None if request["job"] is None else self.jobs[request["job"]]
        answers = await self.connected().run(
            worker_plugin.run_here, self.pool, name, request["task"], buffers, request["deadlineSeconds"]
        )
        facts = [
            {"worker": worker, "bufferCount": len(received), **answer}
            for worker, (answer, received) in answers.items()
        ]
        return {"answers": facts}, [buffer for _, received in answers.values() for buffer in received]

    async def watch(self) -> None:
        """Reports progress until the scheduler is gone, or all workers are: then requests are answered with that."""
        try:
            await self.watch_scheduler()
        except Exception:
            traceback.print_exc()
        self.lost.set()

    async def watch_scheduler(self) -> None:
        client = self.connected()
        due = 0.0
        worker_at = time.monotonic()
        asking: asyncio.Task[Any] | None = None
        asked_at = 0.0
        while client.status == "running":
            await asyncio.sleep(STATUS_SECONDS)
            now = time.monotonic()
            if asking is None:
                if now >= due:
                    groups = list(self.groups)
                    asking = asyncio.ensure_future(
                        client.run_on_scheduler(scheduler_reports.progress, groups, self.wanted, self.silent_seconds)
                    )
                    asked_at = now
            elif asking.done():
                if isinstance(asking.exception(), OSError):
                    break
                if asking.exception() is None:
                    answer = asking.result()
                    self.see(answer["at"], answer["nannies"])
                    if answer["canRun"] or len(self.futures) == 0:
                        worker_at = now
                    elif now - worker_at > self.worker_seconds:
                        self.loss = "E604"
                        break
                    if len(self.futures) > 0:
                        await self.send(self.progress(answer["groups"]))
                        if self.roster.gone > 0:
                            self.start(client.run_on_scheduler(scheduler_reports.hand_out_queued))
                asking, due = None, now + HEARTBEAT_SECONDS
            elif now - asked_at > SCHEDULER_SILENT_SECONDS:
                break

    def see(self, at: float, workers: dict[str, str]) -> None:
        """Takes note of the workers that were there at a time, with their nannies."""
        gone = self.roster.update(at, workers)
        if len(gone) > 0:
            # A worker that stands still keeps its connections open, and who waits for its data would wait for ever.
            forgetting = self.connected().run(worker_plugin.forget_workers, sorted(gone), on_error="ignore")
            self.start(forgetting)

    def start(self, work: Awaitable[Any]) -> asyncio.Future[Any]:
        """Runs beside the requests. What becomes of it need not be asked for."""
        task = asyncio.ensure_future(work)
        self.running.add(task)
        task.add_done_callback(self.running.discard)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return task

    def progress(self, states: dict[str, Record]) -> Record:
        """Groups that the scheduler knew, and has forgotten, are done."""
        self.known_groups.update(states)
        groups = {
            name: {
                "total": total,
                "done": total if name in self.known_groups else 0,
                "processing": 0,
                "queued": 0,
                **states.get(name, {}),
            }
            for name, total in self.groups.items()
        }
        done = sum(group["done"] for group in groups.values())
        return {"kind": "progress", "groups": groups, "done": done, "total": sum(self.groups.values())}

    async def register(self, plugin: Any) -> None:
        client = self.connected()
        # The older name warns in newer versions, and the newer is not in older ones.
        register = getattr(client, "register_plugin", None) or client.register_worker_plugin
        await self.spread(register(plugin, name=plugin.name), plugin.name, is_wanted=True)

    async def unregister(self, name: str) -> None:
        await self.spread(self.connected().unregister_worker_plugin(name), name, is_wanted=False)

    async def spread(self, work: Awaitable[Any], plugin: str, is_wanted: bool) -> None:
        """Waits until all workers have a plugin, or lack it; one that says nothing, or has gone meanwhile, hears of it later."""
        working = self.start(work)
        while not working.done():
            await asyncio.wait({working}, timeout=HEARTBEAT_SECONDS)
            asked = (scheduler_reports.waits_in_vain, plugin, is_wanted, self.silent_seconds)
            if not working.done() and await self.connected().run_on_scheduler(*asked):
                return
        if working.exception() is not None and not (
            isinstance(working.exception(), OSError) and await self.has_scheduler()
        ):
            await working

    def job_name(self, digest: str) -> str:
        # By client: two runs of the same job end at different times.
        return f"{JOB_PREFIX}{self.connected().id}-{digest[:16]}"

    def connected(self) -> Client:
        assert self.client is not None
        return self.client

    async def close(self) -> None:
        """Leaves the cluster as it was, as far as it answers."""
        client = self.client
        if client is None or client.status != "running":
            return
        for name in [*self.jobs.values(), *([self.pool] if self.pool else [])]:
            await self.unregister(name)
        await client.close()


def nannies_of(workers: list[Record]) -> dict[str, str]:
    return {worker["address"]: worker["nanny"] for worker in workers}


async def settled(future: Future) -> None:
    """Waits until a future is done, however; distributed.wait knows the default client only."""
    loop = asyncio.get_running_loop()
    done = asyncio.Event()
    future.add_done_callback(lambda _: loop.call_soon_threadsafe(done.set))
    await done.wait()


def read_requests(loop: asyncio.AbstractEventLoop, requests: asyncio.Queue[Any]) -> None:
    """Puts the frames of stdin into the queue, and None behind the last one."""
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
    versions = {"python": sys.version.split()[0], "dask": dask.__version__, "distributed": distributed.__version__}
    await bridge.send({"kind": "hello", "protocol": PROTOCOL_VERSION, **versions})
    requests: asyncio.Queue[Any] = asyncio.Queue()
    threading.Thread(target=read_requests, args=(asyncio.get_running_loop(), requests), daemon=True).start()
    answering: set[asyncio.Task[None]] = set()
    while (frame := await requests.get()) is not None:
        task = asyncio.create_task(bridge.answer(*frame))
        answering.add(task)
        task.add_done_callback(answering.discard)
    with suppress(Exception):
        await asyncio.wait_for(bridge.close(), CLOSE_SECONDS)
    # At once: threads may hang on a scheduler that is gone, or on a reader that reads no more.
    sys.stderr.flush()
    os._exit(0)


def main() -> None:
    # Of Ctrl-C the other side hears too, and ends stdin when it is done.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Frames alone go to stdout: what anything prints goes to stderr.
    stdout = os.dup(1)
    os.dup2(2, 1)
    dask.config.set({"distributed.comm.compression": None, "distributed.comm.timeouts.connect": f"{CONNECT_SECONDS}s"})
    asyncio.run(serve(stdout))


if __name__ == "__main__":
    main()
