"""Watches the scheduler: reports progress, notes which workers join and leave, and detects the loss of the cluster."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence

from distributed import Future

import scheduler_reports
import worker_plugin
from connection import HEARTBEAT_SECONDS, STATUS_SECONDS, Connection
from stdio_frames import Record

# A scheduler that takes in a large graph answers nothing meanwhile.
SCHEDULER_SILENT_SECONDS = 120.0


class SchedulerWatch:
    """`lost` is set once the scheduler is gone, or no worker could run the submitted tasks for too long."""

    def __init__(
        self, connection: Connection, futures: Mapping[str, Future], send: Callable[[Record], Awaitable[None]]
    ) -> None:
        self.lost = asyncio.Event()
        # Workers that have joined and left, and new ones of a nanny that had one before, by nanny.
        self.joined = 0
        self.gone = 0
        self.restarts: dict[str, int] = {}
        # The latest workers with their nannies, by address, and when they were reported; all nannies so far.
        self._workers: dict[str, str] = {}
        self._workers_at = 0.0
        self._nannies: set[str] = set()
        # When the watch began, by the scheduler's clock.
        self.since = 0.0
        # The pool whose events are for this client.
        self.pool = ""
        # Of the last event that was reported.
        self._event_at = 0.0
        self._connection = connection
        self._futures = futures
        self._send = send
        self._loss = "schedulerLost"
        # Workers that may run the tasks and do not answer.
        self._silent = 0
        self._task_counts: dict[str, int] = {}
        self._known_groups: set[str] = set()

    def start(self, report: Record, worker_seconds: float) -> None:
        """Begins with a report of `scheduler_reports.cluster`; a run without a worker for longer counts as lost."""
        self.since = self._event_at = report["at"]
        self.note_workers(self.since, nannies_of(report["workers"]))
        self.joined = 0
        self._connection.start(self._watch(worker_seconds))

    def loss(self) -> Record:
        """The fault of every request once the cluster is lost."""
        return self.no_worker() if self._loss == "noWorkers" else {"error": self._loss, "args": [self._connection.address]}

    def no_worker(self) -> Record:
        args = [self._connection.address, self._connection.restriction, self._silent, self.gone]
        return {"error": "noWorkers", "args": args}

    def forget_tasks(self) -> None:
        """Counts from zero: another run begins."""
        self._task_counts = {}
        self._known_groups = set()

    def count_tasks(self, tasks: Sequence[Record]) -> None:
        """Counts tasks that are submitted, by group."""
        for task in tasks:
            group = task["key"][0]
            self._task_counts[group] = self._task_counts.get(group, 0) + 1

    def note_workers(self, at: float, workers: dict[str, str]) -> None:
        """Notes which workers were there at a time, with their nannies; ignores a report that comes late."""
        if at <= self._workers_at:
            return
        joined, gone = workers.keys() - self._workers.keys(), self._workers.keys() - workers.keys()
        self._workers, self._workers_at = workers, at
        self.joined += len(joined)
        self.gone += len(gone)
        for nanny in (workers[worker] for worker in joined):
            if nanny and nanny in self._nannies:
                self.restarts[nanny] = self.restarts.get(nanny, 0) + 1
            self._nannies.add(nanny)
        if len(gone) > 0:
            # A stopped worker keeps its connections open; others would wait for its data without end.
            client = self._connection.client
            for worker in gone:
                client.rpc.remove(worker)
            self._connection.start(client.run(worker_plugin.forget_workers, sorted(gone), on_error="ignore"))

    async def _watch(self, worker_seconds: float) -> None:
        endings = (self._until_disconnected(), self._until_unusable(worker_seconds))
        tasks = [asyncio.ensure_future(ending) for ending in endings]
        done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        for error in [task.exception() for task in done if not task.cancelled()]:
            if error is not None:
                traceback.print_exception(type(error), error, error.__traceback__)
        self.lost.set()

    async def _until_disconnected(self) -> None:
        while self._connection.status == "running":
            await asyncio.sleep(STATUS_SECONDS)

    async def _until_unusable(self, worker_seconds: float) -> None:
        connection, client = self._connection, self._connection.client
        usable_at = time.monotonic()
        while True:
            groups, wanted = list(self._task_counts), connection.wanted
            events = (scheduler_reports.HANG_TOPIC, self._event_at)
            question = (scheduler_reports.progress, groups, wanted, connection.silent_seconds, *events)
            asking = connection.start(client.run_on_scheduler(*question))
            await asyncio.wait({asking}, timeout=SCHEDULER_SILENT_SECONDS)
            if not asking.done() or isinstance(asking.exception(), OSError):
                return
            if asking.exception() is None:
                answer = asking.result()
                self.note_workers(answer["at"], answer["nannies"])
                if answer["canRun"] or len(self._futures) == 0:
                    usable_at = time.monotonic()
                elif time.monotonic() - usable_at > worker_seconds:
                    self._loss, self._silent = "noWorkers", answer["allowed"]
                    return
                await self._send_hangs(answer["events"])
                await self._report_progress(answer["groups"])
            await asyncio.sleep(HEARTBEAT_SECONDS)

    async def report_hangs(self) -> None:
        """Reports what the scheduler has heard so far."""
        client = self._connection.client
        question = (scheduler_reports.later_events, scheduler_reports.HANG_TOPIC, self._event_at)
        await self._send_hangs(await client.run_on_scheduler(*question))

    async def _send_hangs(self, events: list[Record]) -> None:
        new = [event for event in events if event["at"] > self._event_at]
        self._event_at = max([self._event_at, *(event["at"] for event in new)])
        for event in new:
            if event["pool"] == self.pool:
                await self._send({**event, "kind": "hang"})

    async def _report_progress(self, states: dict[str, Record]) -> None:
        if len(self._futures) == 0:
            return
        await self._send(self._progress(states))
        if self.gone > 0:
            client = self._connection.client
            self._connection.start(client.run_on_scheduler(scheduler_reports.hand_out_queued))

    def _progress(self, states: dict[str, Record]) -> Record:
        """The `progress` event. Groups that the scheduler knew and has forgotten are done."""
        self._known_groups.update(states)
        groups = {
            name: {
                "total": total,
                "done": total if name in self._known_groups else 0,
                "processing": 0,
                "queued": 0,
                **states.get(name, {}),
            }
            for name, total in self._task_counts.items()
        }
        done = sum(group["done"] for group in groups.values())
        return {"kind": "progress", "groups": groups, "done": done, "total": sum(self._task_counts.values())}


def nannies_of(workers: list[Record]) -> dict[str, str]:
    return {worker["address"]: worker["nanny"] for worker in workers}
