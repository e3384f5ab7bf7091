"""A panel that the client brings: workers that do not see the client's file use a copy on their host.

The cluster holds the file in pieces. The first task of a host that needs the copy writes it beside the folders of its
workers; the last job that uses it removes it. Who uses a copy holds a shared lock on it, who writes one an exclusive lock
on the unfinished file. Locks end with their process, so a crash leaves at most a file that nobody uses.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import fcntl
import glob
import hashlib
import json
import os
import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO, cast

from distributed import Reschedule
from distributed.worker import get_data_from_worker

from executor_memory import LOOK_SECONDS
from stdio_frames import Record
from task_faults import named

PANEL_PREFIX = "factorloom-panel-"
# A piece that takes longer counts as lost.
PIECE_SECONDS_MAX = 120.0


def piece_key(panel: Record, index: int) -> str:
    return f"{panel['pieces']}-{index}"


def sees_folder(panel: Record) -> bool:
    """Whether this host sees the folder in which the client has written the panel."""
    try:
        with open(os.path.join(panel["folder"], "_owner.json"), "rb") as file:
            return json.load(file).get("token") == panel["token"]
    except (OSError, ValueError):
        return False


async def sees_panel(panel: Record) -> bool:
    """Asks a worker what `sees_folder` says there."""
    return await asyncio.to_thread(sees_folder, panel)


class PanelCopy:
    """The copy of a panel, for the tasks of a job on a worker."""

    def __init__(self, worker: Any, panel: Record) -> None:
        self._worker = worker
        self._panel = panel
        self._folder = os.path.dirname(worker.local_directory)
        self._path = os.path.join(self._folder, f"{PANEL_PREFIX}{panel['digest'][:16]}.arrow")
        self._lock = threading.Lock()
        # The copy with its shared lock.
        self._held: BinaryIO | None = None
        self._is_closed = False

    def take(self, look: Callable[[], None]) -> str:
        """The path of the copy, which stays until `close`. `look` raises if the task is no longer wanted.

        Raises `storeFailed` if the copy cannot be written, `columnsMissing` if a piece of the panel is lost.
        """
        try:
            while not self._hold():
                if not self._make(look):
                    time.sleep(LOOK_SECONDS)
                look()
        except OSError as error:
            raise named("storeFailed", self._path, str(error), f"worker {self._worker.address}") from error
        return self._path

    def close(self) -> None:
        """Gives up the copy. Removes all copies that nobody uses, also those that crashes left."""
        with self._lock:
            self._is_closed = True
            if self._held is not None:
                self._held.close()
        for path in glob.glob(os.path.join(glob.escape(self._folder), PANEL_PREFIX + "*")):
            # Another worker may remove it first; another user may own it.
            with suppress(OSError):
                file = locked(path, "r+b", fcntl.LOCK_EX)
                if file is not None:
                    with file:
                        os.unlink(path)

    def _hold(self) -> bool:
        """Locks the copy if it is there. A file of its size is whole: it got its name when it was."""
        with self._lock, suppress(FileNotFoundError):
            if self._is_closed:
                raise Reschedule()
            if self._held is None and os.path.getsize(self._path) == self._panel["bytes"]:
                self._held = locked(self._path, "r+b", fcntl.LOCK_SH)
        return self._held is not None

    def _make(self, look: Callable[[], None]) -> bool:
        """Writes the copy; False while another task does."""
        unfinished = self._path + ".part"
        file = locked(unfinished, "a+b", fcntl.LOCK_EX)
        if file is None:
            return False
        with file:
            try:
                # Another task may have finished meanwhile.
                is_there = self._hold()
                if not is_there:
                    self._write(file, look)
            except BaseException:
                os.unlink(unfinished)
                raise
            if is_there:
                os.unlink(unfinished)
            else:
                os.rename(unfinished, self._path)
        return True

    def _write(self, file: BinaryIO, look: Callable[[], None]) -> None:
        digest = hashlib.sha256()
        file.truncate(0)
        for index in range(-(-self._panel["bytes"] // self._panel["pieceBytes"])):
            piece = self._fetch(index, look)
            digest.update(piece)
            file.write(piece)
            # The next one takes its place in memory.
            del piece
        file.flush()
        if digest.hexdigest() != self._panel["digest"]:
            raise named("columnsMissing", self._path)

    def _fetch(self, index: int, look: Callable[[], None]) -> bytes:
        until = time.monotonic() + PIECE_SECONDS_MAX
        getting = value_of(self._worker, piece_key(self._panel, index))
        asking = asyncio.run_coroutine_threadsafe(getting, self._worker.loop.asyncio_loop)
        try:
            while not asking.done() and time.monotonic() < until:
                concurrent.futures.wait({asking}, LOOK_SECONDS)
                look()
        finally:
            asking.cancel()
        piece = None if asking.cancelled() else asking.result()
        if piece is None:
            raise named("columnsMissing", self._path)
        return piece


async def value_of(worker: Any, key: str) -> Any:
    """The value of a key from a worker that holds it; None if none does."""
    while True:
        # The scheduler removes workers that are gone.
        with suppress(OSError):
            holders = (await worker.scheduler.who_has(keys=[key]))[key]
            if len(holders) == 0:
                return None
            answer = await get_data_from_worker(worker.rpc, [key], random.choice(list(holders)))
            # A worker that is short of memory may send nothing for a while.
            if key in answer.get("data", {}):
                return answer["data"][key]
        await asyncio.sleep(LOOK_SECONDS)


def locked(path: str, mode: str, lock: int) -> BinaryIO | None:
    """The open file with the lock; None if another lock excludes it, or if the file has lost its name."""
    file = cast(BinaryIO, open(path, mode))
    try:
        fcntl.flock(file, lock | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
            return file
    except (BlockingIOError, FileNotFoundError):
        pass
    file.close()
    return None
