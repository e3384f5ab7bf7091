"""An executor from the side of a Dask worker: a Node process at the other end of two pipes."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from stdio_frames import Buffer, Frame, Record, read_frame, write_frame
from task_faults import named

NODE_VERSION_MIN = 24
NODE_VERSION_SECONDS_MAX = 30.0
# An executor has this long to start.
HELLO_SECONDS_MAX = 120.0
LAST_LINES_MAX = 40
# Larger pipes wake the other side less often; Linux allows every user 1 MiB.
PIPE_BYTES = 1 << 20
SET_PIPE_BYTES = 1031

OnHang = Callable[[Record], None]

logger = logging.getLogger("distributed.factorloom")


class ExecutorEnded(Exception):
    """The executor died, or was killed for the reason in `killed_for`."""


def find_node(command: str) -> tuple[str | None, str | None]:
    """Path of the command and its version, e.g. 24.1.0; None for what cannot be found out."""
    path = shutil.which(command)
    if path is None:
        return None, None
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, timeout=NODE_VERSION_SECONDS_MAX, text=True)
    except (OSError, ValueError, subprocess.SubprocessError):
        return path, None
    version = answer.stdout.strip().removeprefix("v")
    return path, version if version.split(".")[0].isdecimal() else None


def node_path(wanted: str | None, worker: str) -> str:
    """The path of the Node that executors run on, `wanted` if the client names one. Raises `noNode`."""
    command = wanted or os.environ.get("FACTORLOOM_NODE") or "node"
    path, version = find_node(command)
    if path is None:
        reason = f"{command} is not there" if wanted else f"{command} is not on its PATH"
    elif version is None:
        reason = f"{path} --version does not say its version"
    elif int(version.split(".")[0]) < NODE_VERSION_MIN:
        reason = f"{path} is v{version}"
    else:
        return path
    raise named("noNode", worker, reason)


class Executor:
    """A Node process, used by one thread at a time; any thread may call `kill`."""

    def __init__(self, index: int, command: list[str], variables: Mapping[str, str], job: Any) -> None:
        # The nanny sets MALLOC_TRIM_THRESHOLD_ for Python: with it, Node returns memory after every task and faults
        # every page in again for the next one (measured: 9.4 s instead of 5.4 s).
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
        environment.update(variables)
        self.index = index
        # The ClusterJob whose tasks it runs; None for one that only says hello.
        self.job = job
        self.is_loaded = False
        self.idle_since = 0.0
        self.killed_for: str | None = None
        # If it was killed for memory: its own, that of the worker with all executors, and the limit.
        self.memory_at_kill = (0, 0, 0)
        self.bytes_sent = 0
        self.bytes_received = 0
        self.last_lines: deque[str] = deque(maxlen=LAST_LINES_MAX)
        self._lock = threading.Lock()
        self._deadline: float | None = None
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe, env=environment)
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self._stdin, self._stdout = self.process.stdin.fileno(), self.process.stdout.fileno()
        self._enlarge_pipes()
        self._log = threading.Thread(target=self._log_lines, daemon=True, name="factorloom-log")
        self._log.start()

    @property
    def pid(self) -> int:
        return self.process.pid

    def hello(self) -> Record:
        return self._within(HELLO_SECONDS_MAX, lambda: read_frame(self._stdout))[0]

    def ask(self, record: Record, buffers: Sequence[Buffer], seconds: float, on_hang: OnHang = lambda _: None) -> Frame:
        """The answer to a record. Raises ExecutorEnded when none comes within `seconds`.

        `on_hang` takes what the executor says meanwhile of an operator that hangs.
        """

        def exchange() -> Frame:
            self.bytes_sent += write_frame(self._stdin, record, buffers)
            answer, received = read_frame(self._stdout)
            while answer["kind"] == "hang":
                on_hang(answer)
                answer, received = read_frame(self._stdout)
            self.bytes_received += sum(map(len, received))
            return answer, received

        return self._within(seconds, exchange)

    def kill(self, reason: str, after: float | None = None) -> None:
        """Kills the process, with `after` only if its deadline is earlier."""
        with self._lock:
            is_due = after is None or (self._deadline is not None and after > self._deadline)
            if is_due and self.killed_for is None:
                self.killed_for = reason
                # Also ends a stopped process; does nothing if the process has ended.
                self.process.send_signal(signal.SIGKILL)

    def end(self) -> None:
        """Kills the process and frees its pipes."""
        self.kill("end")
        self.process.wait()
        self._log.join(1)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def is_alive(self) -> bool:
        return self.killed_for is None and self.process.poll() is None

    def _within(self, seconds: float, exchange: Callable[[], Frame]) -> Frame:
        with self._lock:
            self._deadline = time.monotonic() + seconds
        try:
            answer = exchange()
        except (EOFError, OSError, ValueError) as error:
            raise ExecutorEnded(str(error)) from error
        finally:
            with self._lock:
                self._deadline = None
        if self.killed_for is not None:
            raise ExecutorEnded(self.killed_for)
        return answer

    def _enlarge_pipes(self) -> None:
        import fcntl

        for fd in (self._stdin, self._stdout):
            with suppress(OSError):
                fcntl.fcntl(fd, SET_PIPE_BYTES, PIPE_BYTES)

    def _log_lines(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            text = line.decode(errors="replace").rstrip()
            self.last_lines.append(text)
            logger.info("executor %d: %s", self.index, text)
