"""An executor as a worker of Dask sees it: a Node process at the other end of two pipes."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from stdio_frames import Buffer, Record, read_frame, write_frame

# To start an executor.
HELLO_SECONDS_MAX = 120.0
LAST_LINES_MAX = 40
# Larger pipes wake the other side less often: 1 MiB is what Linux allows to everyone.
PIPE_BYTES = 1 << 20
SET_PIPE_BYTES = 1031

logger = logging.getLogger("distributed.factorloom")


class ExecutorEnded(Exception):
    """The executor is gone: it died, or it was killed for the reason in `killed_for`."""


class Executor:
    """A Node process, spoken to by one thread at a time. `kill` may be called from any thread."""

    def __init__(self, index: int, command: list[str], worker: str) -> None:
        # The nanny sets MALLOC_TRIM_THRESHOLD_ for Python: with it, Node gives memory back after every tile and faults
        # every page in again for the next one (measured: 9.4 s for 5.4 s).
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
        # As its errors call it.
        environment["FACTORLOOM_WORKER"] = worker
        self.index = index
        self.is_greeted = False
        self.idle_since = 0.0
        self.loaded: set[str] = set()
        self.killed_for: str | None = None
        self.bytes_sent = 0
        self.bytes_received = 0
        self.last_lines: deque[str] = deque(maxlen=LAST_LINES_MAX)
        self._lock = threading.Lock()
        self._deadline: float | None = None
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe, env=environment
        )
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

    def ask(
        self, record: Record, buffers: Sequence[Buffer], seconds: float
    ) -> tuple[Record, list[bytearray]]:
        """The answer to a record. Raises ExecutorEnded when none comes within so many seconds."""

        def exchange() -> tuple[Record, list[bytearray]]:
            self.bytes_sent += write_frame(self._stdin, record, buffers)
            answer, received = read_frame(self._stdout)
            self.bytes_received += sum(map(len, received))
            return answer, received

        return self._within(seconds, exchange)

    def kill(self, reason: str, after: float | None = None) -> bool:
        """Kills the process, if its deadline has passed at `after`; true if this call did."""
        with self._lock:
            is_due = after is None or (self._deadline is not None and after > self._deadline)
            if not is_due or self.killed_for is not None:
                return False
            self.killed_for = reason
            # A stopped process dies of SIGKILL too; one that is gone already is not signalled.
            self.process.send_signal(signal.SIGKILL)
            return True

    def end(self) -> None:
        """Ends the process, whatever it does, and frees what belongs to it."""
        self.kill("end")
        self.process.wait()
        self._log.join(1)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def _within(
        self, seconds: float, exchange: Callable[[], tuple[Record, list[bytearray]]]
    ) -> tuple[Record, list[bytearray]]:
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
