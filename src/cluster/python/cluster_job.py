"""A job on a worker: what its executors share, and what they did."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from distributed import WorkerPlugin

from panel_copy import PanelCopy, sees_folder
from stdio_frames import Buffer, Record

JOB_PREFIX = "factorloom-job-"

TRACE_RECORDS_MAX = 100_000

COUNTERS = (
    "tasks",
    "seconds",
    "bytesSent",
    "bytesReceived",
    "bytesRead",
    "bytesWritten",
    "executorStarts",
    "executorRestarts",
    "deadlineKills",
    "memoryKills",
)
# The most that was seen while a job was under way: of the worker's own process, of its executors together.
PEAKS = ("workerBytesMax", "executorBytesMax")


class JobStats:
    """Counters and trace of a job on a worker."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.trace: deque[Record] = deque(maxlen=TRACE_RECORDS_MAX)
        self.counters: dict[str, float] = dict.fromkeys((*COUNTERS, *PEAKS), 0)

    def count(self, **amounts: float) -> None:
        with self._lock:
            for name, amount in amounts.items():
                self.counters[name] += amount

    def note_peaks(self, **amounts: float) -> None:
        with self._lock:
            for name, amount in amounts.items():
                self.counters[name] = max(self.counters[name], amount)


class ClusterJob(WorkerPlugin):
    """The data that the executors of a run share."""

    is_set_up = False

    def __init__(self, name: str, pool: str, digest: str, data: bytes, panel: Record | None) -> None:
        self.name = name
        self.pool = pool
        self.digest = digest
        self.data = data
        # The panel that the client brings, if it does.
        self.panel = panel

    def setup(self, worker: Any) -> None:
        self.worker = worker
        self.stats = JobStats()
        self._copy = None if self.panel is None else PanelCopy(worker, self.panel)
        self._sees_client: bool | None = None
        self.is_set_up = True

    def teardown(self, worker: Any) -> None:
        """Gives up the panel and ends the executors: idle ones hold some 190 MB each."""
        if self._copy is not None:
            self._copy.close()
        pool = worker.plugins.get(self.pool)
        if pool is not None:
            pool.end_executors(self)

    def run(self, spec: Record) -> list[Buffer]:
        """The buffers of a task; an output has its counts, as JSON, in one more buffer at the end."""
        key = self.worker.get_current_task()
        pool = self.worker.plugins[self.pool]
        panel = self._panel_path(lambda: pool.reschedule_unwanted(key))
        report, received = pool.run(key, self, spec["task"], spec["deadlineSeconds"], panel)
        counts = report.pop("counts", None)
        self.stats.count(tasks=1, bytesRead=report["bytesRead"], bytesWritten=report["bytesWritten"])
        self.stats.trace.append({"key": str(key), **report})
        if counts is not None:
            received.append(bytearray(json.dumps(counts).encode()))
        return list(received)

    def _panel_path(self, look: Callable[[], None]) -> str | None:
        """Where this worker reads the panel that the client brings; None if it brings none."""
        if self.panel is None or self._copy is None:
            return None
        if self._sees_client is None:
            self._sees_client = sees_folder(self.panel)
        return self.panel["path"] if self._sees_client else self._copy.take(look)
