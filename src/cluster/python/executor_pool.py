"""The executors of a worker, with statistics of each job."""

from __future__ import annotations

import logging
import os
import threading
import time
from typing import Any

from distributed import Reschedule, WorkerPlugin

from cluster_job import ClusterJob
from executor_memory import METRIC, Room, WorkerMemory, limit_of, shares_of
from node_executor import Executor, ExecutorEnded, node_path
from scheduler_reports import HANG_TOPIC
from stdio_frames import Frame, Record
from task_faults import named, raise_fault

# To load a job.
LOAD_SECONDS_MAX = 120.0
WATCH_SECONDS = 0.2
# How long a worker waits for a plugin of the client.
PLUGIN_SECONDS_MAX = 30.0
# Executors idle for longer end: their client may have been lost.
IDLE_SECONDS_MAX = 10.0

POOL_PREFIX = "factorloom-executors-"

logger = logging.getLogger("distributed.factorloom")


class ExecutorPool(WorkerPlugin):
    """The executors of a worker for one client."""

    is_set_up = False

    def __init__(self, name: str, bundle: str, entry: str, node: str | None, hello: Record) -> None:
        self.name = name
        self.bundle = bundle
        self.entry = entry
        self.node = node
        self.expected = hello

    def setup(self, worker: Any) -> None:
        self.worker = worker
        self._command: list[str] | None = None
        self._lock = threading.Lock()
        self._prepare_lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(worker.state.nthreads)
        self._free: list[Executor] = []
        # By index: an executor and the key of the task that it runs, None if it runs none.
        self._executors: dict[int, tuple[Executor, Any]] = {}
        self._closed = threading.Event()
        self._room = Room()
        worker.metrics[METRIC] = executor_bytes
        self.is_set_up = True
        threading.Thread(target=self._watch, daemon=True, name="factorloom-watch").start()

    def teardown(self, worker: Any) -> None:
        self._closed.set()
        self.end_executors()
        if len(pools_of(worker)) == 0:
            worker.metrics.pop(METRIC, None)

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:
        """Frees the executor of a task that is no longer wanted: Dask itself lets it run on."""
        if self.is_set_up and finish in ("released", "forgotten", "cancelled"):
            with self._lock:
                affected = [executor for executor, running in self._executors.values() if running == key]
            for executor in affected:
                executor.kill("cancelled")

    def prepare(self) -> None:
        """Finds Node and the bundle. Raises the fault that every task would meet."""
        with self._prepare_lock:
            if self._command is None:
                self._shares = shares_of(self.worker)
                # Another client may be sending it, or the worker may have just joined.
                bundle = plugin_of(self.worker, self.bundle)
                if bundle.folder is None:
                    raise named("bundleNotUnpacked", self.worker.address, bundle.problem)
                changed = bundle.changed()
                if changed is not None:
                    raise named("bundleChanged", self.worker.address, changed)
                self._command = [node_path(self.node, self.worker.address), os.path.join(bundle.folder, self.entry)]
                # The first tasks may begin before the watch looks.
                self._watch_memory()

    def run(self, key: Any, job: ClusterJob, task: Record, seconds: float, panel: str | None) -> Frame:
        """Runs a task, with the path of the panel; returns its report and buffers.

        If the executor ends or misses its deadline, another one runs the task once more; a fault that it reports is final.
        """
        self.prepare()
        record = {"kind": "run", "task": task, "panel": panel}
        is_alone = False
        with self._slots:
            for is_last in (False, True):
                with self._room.for_task(is_alone, lambda: self.reschedule_unwanted(key)):
                    executor = self._take(key, job)
                    try:
                        self._load(executor)
                        answer, received = self._run_once(executor, key, record, seconds)
                        # The watch does not see short tasks.
                        self._note_peaks(WorkerMemory(self.worker, executors_of(self.worker)))
                    except ExecutorEnded:
                        self._drop(executor)
                        self._raise_unless_retried(executor, key, seconds, is_last)
                        # What others take at that time is no fault of this task.
                        is_alone = executor.killed_for == "memory"
                        continue
                    except BaseException:
                        self._drop(executor)
                        raise
                    self._give_back(executor)
                raise_fault(answer)
                return {**answer["report"], "executor": executor.index, "pid": executor.pid}, received
        raise AssertionError("the last attempt returns or raises")

    def hello(self) -> Record:
        """What a new executor says of itself, for `factorloom cluster doctor`."""
        self.prepare()
        for is_last in (False, True):
            with self._lock:
                executor = self._start(None, None)
            try:
                return self._greet(executor)
            except ExecutorEnded as error:
                if is_last:
                    raise self._lost("a trial", executor) from error
            finally:
                self._drop(executor)
        raise AssertionError("the last attempt returns or raises")

    def end_executors(self, job: ClusterJob | None = None) -> None:
        """Ends the executors of a job, or all; tasks that run are rescheduled."""
        self._end_idle()
        for executor in self.executors():
            if job is None or executor.job is job:
                executor.kill("cancelled")

    def executors(self) -> list[Executor]:
        with self._lock:
            return [executor for executor, _ in self._executors.values()]

    def _run_once(self, executor: Executor, key: Any, record: Record, seconds: float) -> Frame:
        before = time.perf_counter(), executor.bytes_sent, executor.bytes_received
        try:
            return executor.ask(record, (), seconds, lambda hang: self._note_hang(executor, key, hang))
        finally:
            executor.job.stats.count(
                seconds=time.perf_counter() - before[0],
                bytesSent=executor.bytes_sent - before[1],
                bytesReceived=executor.bytes_received - before[2],
            )

    def _note_hang(self, executor: Executor, key: Any, hang: Record) -> None:
        logger.warning("executor %d hangs in %s of %s", executor.index, ", ".join(hang["operators"]), key)
        # The scheduler adds the address of the worker.
        event = {**hang, "pool": self.name, "executor": executor.index, "key": str(key)}
        self.worker.log_event(HANG_TOPIC, event)

    def _take(self, key: Any, job: ClusterJob) -> Executor:
        """A free executor of the job, or a new one, for the task `key`."""
        with self._lock:
            while self._free:
                executor = self._free.pop()
                if executor.is_alive() and executor.job is job:
                    self._executors[executor.index] = (executor, key)
                    break
                del self._executors[executor.index]
                executor.end()
            else:
                executor = self._start(key, job)
                job.stats.count(executorStarts=1)
        if self._is_unwanted(key):
            executor.kill("cancelled")
        return executor

    def _start(self, key: Any, job: ClusterJob | None) -> Executor:
        assert self._command is not None
        index = next(number for number in range(len(self._executors) + 1) if number not in self._executors)
        variables = {
            # The name of the worker in error messages, and the memory of an executor in bytes.
            "FACTORLOOM_WORKER": f"{self.worker.name} ({self.worker.address})",
            "FACTORLOOM_WORKER_MEMORY": str(limit_of(self.worker) // self.worker.state.nthreads),
        }
        try:
            executor = Executor(index, self._command, variables, job)
        except OSError as error:
            raise named("noNode", self.worker.address, str(error)) from error
        self._executors[index] = (executor, key)
        return executor

    def _load(self, executor: Executor) -> None:
        """Has a new executor load its job."""
        if not executor.is_loaded:
            self._greet(executor)
            load = {"kind": "load", "job": executor.job.digest}
            answer, _ = executor.ask(load, [executor.job.data], LOAD_SECONDS_MAX)
            raise_fault(answer)
            executor.is_loaded = True

    def _greet(self, executor: Executor) -> Record:
        """What a new executor says of itself, if it is of the version of the client."""
        hello = executor.hello()
        for name in ("protocol", "version"):
            if hello.get(name) != self.expected[name]:
                what = f"the executor on {self.worker.address}"
                raise named("otherVersion", what, described(hello), described(self.expected))
        return hello

    def _raise_unless_retried(self, executor: Executor, key: Any, seconds: float, is_last: bool) -> None:
        """Raises what the end of an executor means for its task; returns if the task is to be run again."""
        if executor.killed_for == "cancelled":
            # Dask forgets a cancelled task, or runs it again if it was requested meanwhile.
            raise Reschedule()
        is_silent, is_large = executor.killed_for == "deadline", executor.killed_for == "memory"
        what = "kept silent" if is_silent else "took too much memory" if is_large else "ended"
        logger.warning("executor %d %s in %s", executor.index, what, key)
        executor.job.stats.count(executorRestarts=1, deadlineKills=int(is_silent), memoryKills=int(is_large))
        if is_last and is_silent:
            raise named("executorSilent", str(key), self.worker.address, seconds)
        if is_last and is_large:
            raise named("executorTooLarge", str(key), self.worker.address, *executor.memory_at_kill)
        if is_last:
            raise self._lost(str(key), executor)

    def _lost(self, task: str, executor: Executor) -> RuntimeError:
        return named("executorLost", task, self.worker.address, "\n".join(executor.last_lines))

    def _give_back(self, executor: Executor) -> None:
        with self._lock:
            is_open = not self._closed.is_set() and self.worker.plugins.get(executor.job.name) is executor.job
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

    def reschedule_unwanted(self, key: Any) -> None:
        if self._closed.is_set() or self._is_unwanted(key):
            raise Reschedule()

    def _is_unwanted(self, key: Any) -> bool:
        task = self.worker.state.tasks.get(key)
        return task is None or task.state in ("cancelled", "released", "forgotten")

    def _watch(self) -> None:
        while not self._closed.wait(WATCH_SECONDS):
            self._end_idle(IDLE_SECONDS_MAX)
            now = time.monotonic()
            for executor in self.executors():
                executor.kill("deadline", after=now)
            self._watch_memory()

    def _watch_memory(self) -> None:
        if self._command is None:
            return
        memory = WorkerMemory(self.worker, executors_of(self.worker))
        self._note_peaks(memory)
        pause, terminate = self._shares
        self._room.note(memory.exceeds(pause))
        if memory.exceeds(pause) and self._end_idle() > 0:
            return
        largest = memory.largest() if memory.exceeds(terminate) else None
        if largest is None:
            return
        with self._lock:
            is_running = any(executor is largest for executor, _ in self._executors.values())
            if is_running and largest not in self._free:
                largest.memory_at_kill = memory.by_executor[largest], memory.total, memory.limit
                largest.kill("memory")

    def _end_idle(self, seconds: float = 0.0) -> int:
        """Ends executors that have been idle for as long; returns how many."""
        now = time.monotonic()
        with self._lock:
            idle = [executor for executor in self._free if now - executor.idle_since >= seconds]
            for executor in idle:
                self._free.remove(executor)
                del self._executors[executor.index]
        for executor in idle:
            executor.end()
        return len(idle)

    def _note_peaks(self, memory: WorkerMemory) -> None:
        executors = self.executors()
        own = sum(memory.by_executor.get(executor, 0) for executor in executors)
        for job in {executor.job for executor in executors if executor.job is not None}:
            job.stats.note_peaks(workerBytesMax=memory.worker_bytes, executorBytesMax=own)


def plugin_of(worker: Any, name: str) -> Any:
    """A plugin, once it has arrived: a worker that joins, or was stopped, may have tasks earlier."""
    until = time.monotonic() + PLUGIN_SECONDS_MAX
    while not is_ready(worker.plugins.get(name)):
        if time.monotonic() > until:
            raise named("bundleNotUnpacked", worker.address, f"it did not come within {PLUGIN_SECONDS_MAX} s")
        time.sleep(WATCH_SECONDS / 10)
    return worker.plugins[name]


def is_ready(plugin: Any) -> bool:
    """False for a plugin that Dask lists already and has not set up, which other threads may see."""
    return plugin is not None and plugin.is_set_up


def pools_of(worker: Any) -> list[ExecutorPool]:
    pools = [plugin for name, plugin in list(worker.plugins.items()) if name.startswith(POOL_PREFIX)]
    return [pool for pool in pools if is_ready(pool)]


def executors_of(worker: Any) -> list[Executor]:
    return [executor for pool in pools_of(worker) for executor in pool.executors()]


def executor_bytes(worker: Any) -> int:
    """A metric of Dask's worker."""
    return sum(WorkerMemory(worker, executors_of(worker)).by_executor.values())


def described(hello: Record) -> str:
    return f"factorloom {hello.get('version')}, protocol {hello.get('protocol')}"
