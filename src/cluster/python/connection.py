"""A connection to a Dask cluster: the client, where tasks may run, which workers respond, and the plugins on them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import Any

from distributed import Future

import scheduler_client
import scheduler_reports
import worker_plugin
from dask_graph import restriction_text
from scheduler_client import OrderingClient
from stdio_frames import Record
from task_faults import named

HEARTBEAT_SECONDS = 0.5
STATUS_SECONDS = 0.1
CONNECT_SECONDS = 5.0
# Workers send heartbeats every half second, in the largest clusters every five.
SILENT_SECONDS_MIN = 2.0
SILENT_SECONDS_MAX = 10.0
# A worker that this host can connect to answers at once.
DIRECT_SECONDS_MAX = 2.0


class Connection:
    """Dask's client, once `open` has returned."""

    def __init__(self) -> None:
        self.address = ""
        # A worker without a heartbeat for longer may be stopped, or about to be given up.
        self.silent_seconds = SILENT_SECONDS_MAX
        # Where tasks may run, and the same in the user's words.
        self.wanted: Record = {}
        self.restriction = ""
        # Whether values come from workers directly: firewalls may allow the scheduler only.
        self.is_direct = False
        self._client: OrderingClient | None = None
        # The empty task of `request_worker`.
        self.waking: Future | None = None
        # asyncio itself holds only weak references to tasks.
        self._background: set[asyncio.Future[Any]] = set()

    @property
    def client(self) -> OrderingClient:
        assert self._client is not None
        return self._client

    @property
    def status(self) -> str | None:
        """Dask's word for the state of the client; None before `open`."""
        return None if self._client is None else self._client.status

    async def open(self, request: Record) -> Record:
        """Connects to the scheduler and waits for a worker; returns the report of `scheduler_reports.cluster`."""
        self.address = request["address"]
        self.silent_seconds = max(SILENT_SECONDS_MIN, min(request["timeoutSeconds"] / 3, SILENT_SECONDS_MAX))
        self.wanted = {name: request.get(name) for name in ("workers", "resources")}
        self.restriction = restriction_text(self.wanted)
        until = time.monotonic() + request["seconds"]
        self._client = await scheduler_client.connect(self.address, request["seconds"], request.get("tls"))
        report = await self.report()
        while len(report["workers"]) == 0:
            if time.monotonic() > until:
                raise named("noWorkers", self.address, self.restriction)
            self.request_worker()
            await asyncio.sleep(STATUS_SECONDS)
            report = await self.report()
        responsive = self.responsive(report["workers"])
        self.is_direct = len(responsive) > 0 and await self._reaches(responsive[0])
        return report

    async def report(self) -> Record:
        return await self.client.run_on_scheduler(scheduler_reports.cluster)

    def request_worker(self) -> None:
        """Submits an empty task: clusters that grow and shrink start workers for tasks, not for clients."""
        if self.waking is None or self.waking.done():
            self.waking = self.client.submit(worker_plugin.wake, pure=False, **self.wanted)

    def responsive(self, workers: list[Record]) -> list[str]:
        """Addresses of the workers whose last heartbeat is recent."""
        return [worker["address"] for worker in workers if worker["silentSeconds"] < self.silent_seconds]

    async def _reaches(self, worker: str) -> bool:
        return await is_answered(self.client.rpc(worker).identity(), DIRECT_SECONDS_MAX)

    async def has_scheduler(self) -> bool:
        return await is_answered(self.client.run_on_scheduler(scheduler_reports.has_plugin, ""), CONNECT_SECONDS)

    def start(self, work: Awaitable[Any]) -> asyncio.Future[Any]:
        """Runs work in the background; its failure is reported only to callers that await it."""
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return task

    async def register(self, plugin: Any) -> None:
        # Newer versions of Dask deprecate the older name, older ones lack the newer name.
        register = getattr(self.client, "register_plugin", None) or self.client.register_worker_plugin
        await self._apply(register(plugin, name=plugin.name), plugin.name, is_wanted=True)

    async def unregister(self, name: str) -> None:
        await self._apply(self.client.unregister_worker_plugin(name), name, is_wanted=False)

    async def _apply(self, work: Awaitable[Any], plugin: str, is_wanted: bool) -> None:
        """Waits until all workers have or lack a plugin. Silent workers and those that leave meanwhile catch up later."""
        working = self.start(work)
        while not working.done():
            await asyncio.wait({working}, timeout=HEARTBEAT_SECONDS)
            question = (scheduler_reports.waits_in_vain, plugin, is_wanted, self.silent_seconds)
            if not working.done() and await self.client.run_on_scheduler(*question):
                return
        error = working.exception()
        if error is not None and not (isinstance(error, OSError) and await self.has_scheduler()):
            await working


async def is_answered(asking: Awaitable[Any], seconds: float) -> bool:
    try:
        await asyncio.wait_for(asking, seconds)
    except (OSError, asyncio.TimeoutError):
        return False
    return True
