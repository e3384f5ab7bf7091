"""Which workers are ready to run tasks, and why others are not."""

from __future__ import annotations

import asyncio
from typing import Any

from distributed import Client

import worker_plugin
from stdio_frames import Record
from task_faults import fault

# A broken connection says little about the worker.
ATTEMPTS_MAX = 3


class Preparation:
    """Asks each worker, as soon as it has joined, whether tasks can run on it."""

    def __init__(self, client: Client, pool: str, silent_seconds: float) -> None:
        self._client = client
        self._pool = pool
        self._silent_seconds = silent_seconds
        self._asked: dict[str, asyncio.Future[Any]] = {}
        self._attempts: dict[str, int] = {}
        self._seen: dict[str, Record] = {}
        # Descriptions of workers that have left, with counts: the workers of a nanny have one name.
        self._ended: dict[str, int] = {}

    def is_over(self, workers: list[Record]) -> bool:
        """True once a worker is ready and no other is about to be. Raises the fault that tasks would meet on one."""
        here = {worker["address"]: worker for worker in workers}
        for address in self._seen.keys() - here.keys():
            text = ended(self._seen.pop(address))
            self._ended[text] = self._ended.get(text, 0) + 1
        self._seen.update(here)
        for address in here:
            self._ask(address)
        ready = [address for address in here if self._is_ready(address)]
        pending = [
            address
            for address, worker in here.items()
            if not self._asked[address].done() and worker["silentSeconds"] < self._silent_seconds
        ]
        return len(ready) > 0 and len(pending) == 0

    def reasons(self, workers: list[Record]) -> str:
        """Why no worker is ready, worker by worker."""
        gone = [text if count == 1 else f"{text}, {count} times" for text, count in self._ended.items()]
        silent = [f"{worker['name']} at {worker['address']} does not answer" for worker in workers]
        return "; ".join(sorted(gone or silent)) or "none is there"

    def _ask(self, address: str) -> None:
        asked = self._asked.get(address)
        if asked is not None and not asked.done():
            return
        has_failed = asked is not None and asked.exception() is not None
        if asked is not None and not (has_failed and self._attempts[address] < ATTEMPTS_MAX):
            return
        self._attempts[address] = self._attempts.get(address, 0) + 1
        asking = self._client.run(worker_plugin.prepare_pool, self._pool, workers=[address])
        self._asked[address] = asyncio.ensure_future(asking)
        self._asked[address].add_done_callback(lambda done: done.cancelled() or done.exception())

    def _is_ready(self, address: str) -> bool:
        asked = self._asked[address]
        if not asked.done() or asked.exception() is not None:
            return False
        problem = asked.result()[address]
        if problem is not None:
            raise fault(problem)
        return True


def ended(worker: Record) -> str:
    limit = f" (memory limit {worker['memoryLimitBytes'] / 1e6:.0f} MB)" if worker["memoryLimitBytes"] else ""
    return f"{worker['name']}{limit} ended while it took their code"
