"""The executors of a worker, and what they did there."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from distributed import Reschedule, WorkerPlugin

from node_executor import Executor, ExecutorEnded
from stdio_frames import Buffer, Record
from task_faults import coded, raise_fault

if TYPE_CHECKING:
    from worker_plugin import ClusterJob

NODE_VERSION_MIN = 24
# To load or release a job.
LOAD_SECONDS_MAX = 120.0
WATCH_SECONDS = 0.2
# What the client brings is on its way for so long at most.
PLUGIN_SECONDS_MAX = 30.0
# Executors that nobody has used for so long end: their client may be gone without having said so.
IDLE_SECONDS_MAX = 10.0
TRACE_RECORDS_MAX = 100_000
# Runs of a client whose counts are kept.
LEDGERS_MAX = 4

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


class Ledger:
    """What a run did on a worker."""

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
        self._ledgers: dict[str, Ledger] = {}
        self._command: list[str] | None = None
        self._lock = threading.Lock()
        self._prepare_lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(worker.state.nthreads)
        self._free: list[Executor] = []
        # By index; the key of the task that it runs, None if it runs none.
        self._executors: dict[int, tuple[Executor, Any]] = {}
        self._closed = threading.Event()
        threading.Thread(target=self._watch, daemon=True, name="factorloom-watch").start()

    def teardown(self, worker: Any) -> None:
        self._closed.set()
        self.end_executors()

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:
        """Frees the executor of a task that is wanted no more: Dask itself lets it run on."""
        if finish in ("released", "forgotten", "cancelled"):
            with self._lock:
                concerned = [executor for executor, running in self._executors.values() if running == key]
            for executor in concerned:
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
                self._command = [self._find_node(), os.path.join(bundle.folder, self.entry)]

    def _wait_for_bundle(self) -> Any:
        """The bundle once it is unpacked: another client may be bringing it, or the worker have just joined."""
        until = time.monotonic() + PLUGIN_SECONDS_MAX
        bundle = plugin_of(self.worker, self.bundle)
        while bundle.folder is None and not bundle.problem:
            if time.monotonic() > until:
                raise not_there(self.worker)
            time.sleep(WATCH_SECONDS)
        return bundle

    def open_ledger(self, job: ClusterJob | None) -> Ledger:
        """That of a job; one that nobody reads for a task outside of the graph."""
        if job is None:
            return Ledger()
        with self._lock:
            ledger = self._ledgers.setdefault(job.name, Ledger())
            if len(self._ledgers) > LEDGERS_MAX:
                del self._ledgers[next(iter(self._ledgers))]
            return ledger

    def forget_ledger(self, job: str) -> None:
        """A job that is added again starts from zero."""
        with self._lock:
            self._ledgers.pop(job, None)

    def ledger(self, job: str) -> Ledger | None:
        """What a job did here; None if it did nothing."""
        return self._ledgers.get(job)

    def run(
        self, key: Any, job: ClusterJob | None, task: Record, buffers: Sequence[Buffer], seconds: float
    ) -> tuple[Record, list[bytearray]]:
        """The report of a task and the buffers behind it.

        An executor that ends or keeps silent is replaced, and the task run once more; a fault that it reports is final.
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
                    self._judge(executor, key, job, seconds, is_last)
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
        ledger = self.open_ledger(job)
        before = time.perf_counter(), executor.bytes_sent, executor.bytes_received
        try:
            return executor.ask({"kind": "run", "job": digest, "task": task}, buffers, seconds)
        finally:
            ledger.count(
                seconds=time.perf_counter() - before[0],
                bytesSent=executor.bytes_sent - before[1],
                bytesReceived=executor.bytes_received - before[2],
            )

    def _take(self, key: Any, job: ClusterJob | None) -> Executor:
        """A free executor, or a new one; `key` is what `transition` knows it by."""
        ledger = self.open_ledger(job)
        with self._lock:
            while self._free:
                executor = self._free.pop()
                if executor.is_alive():
                    self._executors[executor.index] = (executor, key)
                    break
                del self._executors[executor.index]
                executor.end()
            else:
                executor = self._start(key, ledger)
        if key is not None and self._is_unwanted(key):
            executor.kill("cancelled")
        return executor

    def _start(self, key: Any, ledger: Ledger) -> Executor:
        assert self._command is not None
        index = next(number for number in range(len(self._executors) + 1) if number not in self._executors)
        try:
            executor = Executor(index, self._command, f"{self.worker.name} ({self.worker.address})")
        except OSError as error:
            raise coded("E605", self.worker.address, str(error)) from error
        self._executors[index] = (executor, key)
        ledger.count(executorStarts=1)
        return executor

    def _load(self, executor: Executor, job: ClusterJob | None) -> None:
        """Greets an executor that is new, has it release jobs that are gone, and load the one that it lacks."""
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

    def _judge(self, executor: Executor, key: Any, job: ClusterJob | None, seconds: float, is_last: bool) -> None:
        """Raises what the end of an executor means for its task; returns if the task is to be run again."""
        if executor.killed_for == "cancelled":
            # A task that nobody wants is forgotten; one that was asked for again meanwhile is run anew.
            raise Reschedule()
        is_silent = executor.killed_for == "deadline"
        logger.warning("executor %d %s in %s", executor.index, "kept silent" if is_silent else "ended", key)
        self.open_ledger(job).count(executorRestarts=1, deadlineKills=int(is_silent))
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

    def _find_node(self) -> str:
        address = self.worker.address
        node = self.node or os.environ.get("FACTORLOOM_NODE") or "node"
        found = shutil.which(node)
        if found is None:
            raise coded("E605", address, f"{node} is not there" if self.node else f"{node} is not on its PATH")
        try:
            answer = subprocess.run([found, "--version"], capture_output=True, timeout=30, text=True)
            version = answer.stdout.strip()
            major = int(version.removeprefix("v").split(".")[0])
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            raise coded("E605", address, f"{found} --version does not say its version") from error
        if major < NODE_VERSION_MIN:
            raise coded("E605", address, f"{found} is {version}")
        return found


def plugin_of(worker: Any, name: str) -> Any:
    """A plugin, once it is there: a worker that joins, or stood still, may have tasks before it."""
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
