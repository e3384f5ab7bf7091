"""What a job did on a worker."""

from __future__ import annotations

import threading
from collections import deque

from stdio_frames import Record

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
    "hangKills",
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
