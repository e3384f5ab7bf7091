"""The memory of a worker with its executors, which Dask does not count: they are processes of their own.

A pool reads it before its first task and every 200 ms. Above the `pause` share of the worker's limit, idle executors end
and tasks begin one at a time; above the `terminate` share the largest executor is killed, and its task runs again while no
other one does.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psutil

from task_faults import named

if TYPE_CHECKING:
    from node_executor import Executor

# Variables in the environment of workers: shares of the memory limit; 0 switches off.
SHARES = {"FACTORLOOM_MEMORY_PAUSE": 0.8, "FACTORLOOM_MEMORY_TERMINATE": 0.95}
# A metric of Dask's workers, beside Dask's own `memory`, which is that of the Python process.
METRIC = "factorloom_executor_bytes"
# How often a task that waits looks whether it is still wanted.
LOOK_SECONDS = 0.2


def shares_of(worker: Any) -> list[float]:
    """The shares for `pause` and `terminate`, from the environment of this worker. Raises `wrongShare`."""
    return [share_of(worker, variable, default) for variable, default in SHARES.items()]


def share_of(worker: Any, variable: str, default: float) -> float:
    text = os.environ.get(variable, "")
    try:
        share = float(text or default)
    except ValueError:
        share = -1.0
    if not 0 <= share < float("inf"):
        raise named("wrongShare", worker.address, f"{variable} is {text}")
    return share


def resident_bytes(pid: int) -> int:
    """0 for a process that has ended."""
    try:
        return psutil.Process(pid).memory_info().rss
    except psutil.Error:
        return 0


def limit_of(worker: Any) -> int:
    """The memory limit of a worker in bytes; 0 for none."""
    manager = worker.memory_manager
    return 0 if manager is None else int(manager.memory_limit or 0)


class WorkerMemory:
    """What a worker and the executors of all its pools take, and its limit; 0 for none."""

    def __init__(self, worker: Any, executors: Sequence[Executor]) -> None:
        self.worker_bytes = resident_bytes(os.getpid())
        self.by_executor = {executor: resident_bytes(executor.pid) for executor in executors}
        self.limit = limit_of(worker)

    @property
    def total(self) -> int:
        return self.worker_bytes + sum(self.by_executor.values())

    def exceeds(self, share: float) -> bool:
        return self.limit > 0 and share > 0 and self.total > share * self.limit

    def largest(self) -> Executor | None:
        """None as long as memory of an executor that was killed may still come back."""
        is_settled = all(executor.killed_for is None for executor in self.by_executor)
        return max(self.by_executor, key=self.by_executor.__getitem__, default=None) if is_settled else None


class Room:
    """Lets tasks of a pool begin: while memory is short one at a time, and a task that is to run alone by itself."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._is_short = False
        self._running = 0
        # Tasks that run alone, or wait to.
        self._alone = 0

    def note(self, is_short: bool) -> None:
        with self._changed:
            self._is_short = is_short
            self._changed.notify_all()

    @contextmanager
    def for_task(self, is_alone: bool, look: Callable[[], None]) -> Iterator[None]:
        """Waits for room; `look` raises if the task is no longer wanted."""
        with self._changed:
            self._alone += is_alone
            try:
                while not self._has_room(is_alone):
                    self._changed.wait(LOOK_SECONDS)
                    look()
            except BaseException:
                self._alone -= is_alone
                raise
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._alone -= is_alone
                self._changed.notify_all()

    def _has_room(self, is_alone: bool) -> bool:
        if is_alone:
            return self._running == 0
        return self._alone == 0 and not (self._is_short and self._running > 0)
