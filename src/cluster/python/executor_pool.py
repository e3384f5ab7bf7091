"""The executors of a worker, with statistics of each job."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from distributed import Reschedule, WorkerPlugin

from node_executor import Executor, ExecutorEnded, find_node, node_command
from stdio_frames import Buffer, Record
from task_faults import coded, raise_fault

if TYPE_CHECKING:
    from worker_plugin import ClusterJob

NODE_VERSION_MIN = 24
NODE_VERSION_SECONDS_MAX = 30.0
# To load or release a job.
LOAD_SECONDS_MAX = 120.0
WATCH_SECONDS = 0.2
# How long a worker waits for a plugin of the client.
PLUGIN_SECONDS_MAX = 30.0
# Executors idle for longer end: their client may have been lost.
IDLE_SECONDS_MAX = 10.0
TRACE_RECORDS_MAX = 100_000
# Jobs of a client whose statistics are kept.
JOBS_MAX = 4

POOL_PREFIX = "factorloom-executors-"
JOB_PREFIX = "factorloom-job-"

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
)

logger = logging.getLogger("distributed.factorloom")


class JobStats:
    """Counters and trace of a job on a worker."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.trace: deque[Record] = deque(maxlen=TRACE_RECORDS_MAX)
        self.counters: dict[str, float] = dict.fromkeys(COUNTERS, 0)

    def count(self, **amounts: float) -> None:
        with self._lock:
            for name, amount in amounts.items():
                self.counters[name] += amount


class ExecutorPool(WorkerPlugin):
    """The executors of a worker for one client."""

    def __init__(self, name: str, bundle: str, entry: str, node: str | None, hello: Record) -> None:
        self.name = name
        self.bundle = bundle
        self.entry = entry
        self.node = node
        self.expected = hello

    def setup(self, worker: Any) -> None:
        self.worker = worker
        self._stats: dict[str, JobStats] = {}
        self._command: list[str] | None = None
        self._lock = threading.Lock()
        self._prepare_lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(worker.state.nthreads)
        self._free: list[Executor] = []
        # By index: an executor and the key of the task that it runs, None if it runs none.
        self._executors: dict[int, tuple[Executor, Any]] = {}
        self._closed = threading.Event()
        threading.Thread(target=self._watch, daemon=True, name="factorloom-watch").start()

    def teardown(self, worker: Any) -> None:
        self._closed.set()
        self.end_executors()

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:
        """Frees the executor of a task that is no longer wanted: Dask itself lets it run on."""
        if finish in ("released", "forgotten", "cancelled"):
            with self._lock:
                affected = [executor for executor, running in self._executors.values() if running == key]
            for executor in affected:
                executor.kill("cancelled")

    def prepare(self) -> None:
        """Finds Node and the bundle. Raises the fault that every task would meet."""
        with self._prepare_lock:
            if self._command is None:
                bundle = self._wait_for_bundle()
                if bundle.folder is None:
                    raise coded("E619", self.worker.address, bundle.problem)
                changed = bundle.changed()
                if changed is not None:
                    raise coded("E627", self.worker.address, changed)
                self._command = [self._node_path(), os.path.join(bundle.folder, self.entry)]

    def _wait_for_bundle(self) -> Any:
        """The bundle once it is unpacked: another client may be sending it, or the worker may have just joined."""
        until = time.monotonic() + PLUGIN_SECONDS_MAX
        bundle = plugin_of(self.worker, self.bundle)
        while bundle.folder is None and not bundle.problem:
            if time.monotonic() > until:
                raise not_there(self.worker)
            time.sleep(WATCH_SECONDS)
        return bundle

    def stats_for(self, job: ClusterJob | None) -> JobStats:
        """The statistics of a job, to count in; those of a task outside of the graph are not kept."""
        if job is None:
            return JobStats()
        with self._lock:
            stats = self._stats.setdefault(job.name, JobStats())
            if len(self._stats) > JOBS_MAX:
                del self._stats[next(iter(self._stats))]
            return stats

    def reset_stats(self, job: str) -> None:
        with self._lock:
            self._stats.pop(job, None)

    def stats(self, job: str) -> JobStats | None:
        """The statistics of a job; None if it ran nothing here."""
        return self._stats.get(job)

    def run(
        self, key: Any, job: ClusterJob | None, task: Record, buffers: Sequence[Buffer], seconds: float
    ) -> tuple[Record, list[bytearray]]:
        """Runs a task; returns its report and buffers.

        If the executor ends or misses its deadline, another one runs the task once more; a fault that it reports is final.
        """
        self.prepare()
        with self._slots:
            for is_last in (False, True):
                executor = self._take(key, job)
                try:
                    self._load(executor, job)
                    answer, received = self._run_once(executor, job, task, buffers, seconds)
                except ExecutorEnded:
                    self._drop(executor)
                    self._raise_unless_retried(executor, key, job, seconds, is_last)
                    continue
                except BaseException:
                    self._drop(executor)
                    raise
                self._give_back(executor)
                raise_fault(answer)
                return {**answer["report"], "executor": executor.index, "pid": executor.pid}, received
        raise AssertionError("the last attempt returns or raises")

    def end_executors(self) -> None:
        """Ends all executors; tasks that run are rescheduled."""
        with self._lock:
            executors = [executor for executor, _ in self._executors.values()]
            idle, self._free = self._free, []
            for executor in idle:
                del self._executors[executor.index]
        for executor in executors:
            executor.kill("cancelled")
        for executor in idle:
            executor.end()

    def _run_once(
        self, executor: Executor, job: ClusterJob | None, task: Record, buffers: Sequence[Buffer], seconds: float
    ) -> tuple[Record, list[bytearray]]:
        digest = "" if job is None else job.digest
        stats = self.stats_for(job)
        before = time.perf_counter(), executor.bytes_sent, executor.bytes_received
        try:
            return executor.ask({"kind": "run", "job": digest, "task": task}, buffers, seconds)
        finally:
            stats.count(
                seconds=time.perf_counter() - before[0],
                bytesSent=executor.bytes_sent - before[1],
                bytesReceived=executor.bytes_received - before[2],
            )

    def _take(self, key: Any, job: ClusterJob | None) -> Executor:
        """A free executor, or a new one, for the task `key`."""
        stats = self.stats_for(job)
        with self._lock:
            while self._free:
                executor = self._free.pop()
                if executor.is_alive():
                    self._executors[executor.index] = (executor, key)
                    break
                del self._executors[executor.index]
                executor.end()
            else:
                executor = self._start(key, stats)
        if key is not None and self._is_unwanted(key):
            executor.kill("cancelled")
        return executor

    def _start(self, key: Any, stats: JobStats) -> Executor:
        assert self._command is not None
        index = next(number for number in range(len(self._executors) + 1) if number not in self._executors)
        try:
            executor = Executor(index, self._command, f"{self.worker.name} ({self.worker.address})")
        except OSError as error:
            raise coded("E605", self.worker.address, str(error)) from error
        self._executors[index] = (executor, key)
        stats.count(executorStarts=1)
        return executor

    def _load(self, executor: Executor, job: ClusterJob | None) -> None:
        """Checks a new executor, has it release jobs that were removed, and load this one if it lacks it."""
        if not executor.is_greeted:
            self._check(executor.hello())
            executor.is_greeted = True
        if job is None:
            return
        for digest in executor.loaded - {here.digest for here in jobs_of(self.worker, self.name)}:
            executor.ask({"kind": "release", "job": digest}, (), LOAD_SECONDS_MAX)
            executor.loaded.discard(digest)
        if job.digest not in executor.loaded:
            answer, _ = executor.ask({"kind": "load", "job": job.digest}, [job.data], LOAD_SECONDS_MAX)
            raise_fault(answer)
            executor.loaded.add(job.digest)

    def _check(self, hello: Record) -> None:
        for name in ("protocol", "version"):
            if hello.get(name) != self.expected[name]:
                what = f"the executor on {self.worker.address}"
                raise coded("E606", what, described(hello), described(self.expected))

    def _raise_unless_retried(
        self, executor: Executor, key: Any, job: ClusterJob | None, seconds: float, is_last: bool
    ) -> None:
        """Raises what the end of an executor means for its task; returns if the task is to be run again."""
        if executor.killed_for == "cancelled":
            # Dask forgets a cancelled task, or runs it again if it was requested meanwhile.
            raise Reschedule()
        is_silent = executor.killed_for == "deadline"
        logger.warning("executor %d %s in %s", executor.index, "kept silent" if is_silent else "ended", key)
        self.stats_for(job).count(executorRestarts=1, deadlineKills=int(is_silent))
        if is_last and is_silent:
            raise coded("E613", str(key), self.worker.address, seconds)
        if is_last:
            raise coded("E607", str(key), self.worker.address, "\n".join(executor.last_lines))

    def _give_back(self, executor: Executor) -> None:
        with self._lock:
            is_open = not self._closed.is_set() and len(jobs_of(self.worker, self.name)) > 0
            if is_open:
                executor.idle_since = time.monotonic()
                self._executors[executor.index] = (executor, None)
                self._free.append(executor)
        if not is_open:
            self._drop(executor)

    def _drop(self, executor: Executor) -> None:
        with self._lock:
            self._executors.pop(executor.index, None)
        executor.end()

    def _is_unwanted(self, key: Any) -> bool:
        task = self.worker.state.tasks.get(key)
        return task is None or task.state in ("cancelled", "released", "forgotten")

    def _watch(self) -> None:
        while not self._closed.wait(WATCH_SECONDS):
            now = time.monotonic()
            with self._lock:
                executors = [executor for executor, _ in self._executors.values()]
                idle = [executor for executor in self._free if now - executor.idle_since > IDLE_SECONDS_MAX]
                for executor in idle:
                    self._free.remove(executor)
                    del self._executors[executor.index]
            for executor in idle:
                executor.end()
            for executor in executors:
                executor.kill("deadline", after=now)

    def _node_path(self) -> str:
        command = node_command(self.node)
        path, version = find_node(command, NODE_VERSION_SECONDS_MAX)
        if path is None:
            reason = f"{command} is not there" if self.node else f"{command} is not on its PATH"
        elif version is None:
            reason = f"{path} --version does not say its version"
        elif int(version.split(".")[0]) < NODE_VERSION_MIN:
            reason = f"{path} is v{version}"
        else:
            return path
        raise coded("E605", self.worker.address, reason)


def plugin_of(worker: Any, name: str) -> Any:
    """A plugin, once it has arrived: a worker that joins, or was stopped, may have tasks earlier."""
    until = time.monotonic() + PLUGIN_SECONDS_MAX
    while name not in worker.plugins:
        if time.monotonic() > until:
            raise not_there(worker)
        time.sleep(WATCH_SECONDS / 10)
    return worker.plugins[name]


def not_there(worker: Any) -> RuntimeError:
    return coded("E619", worker.address, f"it did not come within {PLUGIN_SECONDS_MAX} s")


def jobs_of(worker: Any, pool: str) -> list[ClusterJob]:
    jobs = [plugin for name, plugin in list(worker.plugins.items()) if name.startswith(JOB_PREFIX)]
    return [job for job in jobs if job.pool == pool]


def described(hello: Record) -> str:
    return f"factorloom {hello.get('version')}, protocol {hello.get('protocol')}"
