"""What factorloom brings to Dask workers: executors (Node processes) beside their threads, and the tasks of a graph.

The bridge sends the code of this module and of those that it imports: hosts of workers need Python with Dask, and Node.

    thread of a worker --run(spec)--> ClusterJob --> ExecutorPool --frames over stdio--> executor
                                          |               |
                                      PanelCopy        Bundle: the code that executors run

Dask brings these plugins to every worker: a bundle, which clients of the same code share; a pool for each client, with at
most one executor for each thread of the worker; and a job for each run. `frames.ts` defines the frames, `protocol.ts` the
records.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import zipfile
import zlib
from io import BytesIO
from typing import Any

from distributed import WorkerPlugin, get_worker

from cluster_job import JobStats
from executor_pool import plugin_of
from scheduler_reports import versions
from stdio_frames import Buffer, Record
from task_faults import fault_in, named

BUNDLE_PREFIX = "factorloom-bundle-"


class Bundle(WorkerPlugin):
    """The files that executors run, unpacked in `folder`; None for the reason in `problem`.

    Dask sets it up again for each client that brings it, while executors of others may start. The worker's own folder, and
    the files with it, goes with the worker.
    """

    is_set_up = False

    def __init__(self, name: str, digest: str, data: bytes) -> None:
        self.name = name
        self.digest = digest
        self.data = data
        # By path: size and CRC-32.
        self.sums: dict[str, tuple[int, int]] = {}
        self.folder: str | None = None
        self.problem = ""

    async def setup(self, worker: Any) -> None:
        import asyncio

        try:
            self.folder = await asyncio.to_thread(self._unpack, worker.local_directory)
        except (OSError, zipfile.BadZipFile) as error:
            self.problem = repr(error)
        self.data = b""
        self.is_set_up = True

    def _unpack(self, parent: str) -> str:
        """Unpacks under a temporary name and renames, so that a folder of the name is complete; uses an existing one."""
        if hashlib.sha256(self.data).hexdigest() != self.digest:
            raise zipfile.BadZipFile("its bytes are not those of the client")
        with zipfile.ZipFile(BytesIO(self.data)) as bundle:
            self.sums = {entry.filename: (entry.file_size, entry.CRC) for entry in bundle.infolist()}
        folder = os.path.join(parent, self.name)
        if os.path.isdir(folder):
            return folder
        os.makedirs(parent, exist_ok=True)
        temporary = tempfile.mkdtemp(prefix="factorloom-", dir=parent)
        try:
            with zipfile.ZipFile(BytesIO(self.data)) as bundle:
                bundle.extractall(temporary)
            try:
                os.rename(temporary, folder)
            except OSError:
                # Another client may have unpacked it at the same time.
                if not os.path.isdir(folder):
                    raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        return folder

    def changed(self) -> str | None:
        """The path of a file that has been changed since it was unpacked, or None."""
        assert self.folder is not None
        for name, expected in self.sums.items():
            path = os.path.join(self.folder, name)
            try:
                with open(path, "rb") as file:
                    content = file.read()
            except OSError:
                return path
            if (len(content), zlib.crc32(content)) != expected:
                return path
        return None


# The tasks of a graph. These functions are short because Dask sends one with every task.


def run(spec: bytes, *_: Any) -> list[Buffer]:
    decoded = json.loads(spec)
    return plugin_of(get_worker(), decoded["job"]).run(decoded)


def pick(index: int, value: list[Any]) -> list[Any]:
    return [value[index]]


def wake() -> None:
    return None


# Functions that the bridge runs on all workers, beside the graph.


def forget_workers(addresses: list[str], dask_worker: Any) -> None:
    """Closes the connections to workers that the scheduler has given up, so that open requests to them fail."""
    for address in addresses:
        dask_worker.rpc.remove(address)


def stats_of(job: str, with_trace: bool, dask_worker: Any) -> Record:
    """Counters and trace of a job on the worker."""
    plugin = dask_worker.plugins.get(job)
    stats = getattr(plugin, "stats", None) or JobStats()
    return {"counters": dict(stats.counters), "trace": list(stats.trace) if with_trace else []}


async def probe(pool: str, folder: str | None, dask_worker: Any) -> Record:
    """What this worker is, what an executor says there, and whether the folder can be written; or the fault."""
    import asyncio
    import socket
    import time

    record = {"host": socket.gethostname(), "versions": versions()}

    def trial() -> Record:
        hello = plugin_of(dask_worker, pool).hello()
        if folder is not None:
            write_in(folder, f"worker {dask_worker.name} ({dask_worker.address}) on {record['host']}")
        node = hello["node"].removeprefix("v")
        return {"node": node, "factorloom": hello["version"], "hasWritten": folder is not None}

    try:
        record.update(await asyncio.to_thread(trial))
    except RuntimeError as error:
        record["fault"] = fault_in(error)
    return {**record, "at": time.time()}


def write_in(folder: str, who: str) -> None:
    """Writes a file for a moment. Raises `folderNotShared` for a folder that is not there, `storeFailed`."""
    if not os.path.isdir(folder):
        raise named("folderNotShared", folder, "it is not there", who)
    try:
        with tempfile.NamedTemporaryFile(dir=folder) as file:
            file.write(b"probe")
    except OSError as error:
        raise named("storeFailed", folder, str(error), who) from error
