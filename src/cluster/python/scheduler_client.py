"""Connects to the scheduler."""

from __future__ import annotations

import asyncio
import ssl
import time
from typing import Any

from distributed import Client, Future, Security
from distributed.comm import get_address_host_port

from stdio_frames import Record
from task_faults import named

AGAIN_SECONDS = 0.5
LATE_SECONDS = 1.0


class OrderingClient(Client):
    """Dask's client, which also says in which order the tasks of a graph run.

    The scheduler compares tasks by the priority that the user gives, then by which graph came first, then by their order
    within the graph. Dask's own methods leave that order to `dask.order`, though its messages have a place for it.
    """

    _order: dict[str, float] | None = None

    def get_in_order(self, graph: Any, results: list[str], order: dict[str, float]) -> list[Future]:
        """Submits a graph behind all earlier ones of its priority. `order`: of its tasks by name, the lowest first."""
        self._order = order
        try:
            # Graphs that come within this time would count as one.
            return self.get(graph, results, sync=False, fifo_timeout="0s")
        finally:
            self._order = None

    def _send_to_scheduler(self, message: Record) -> None:
        if self._order is not None and message["op"].startswith("update-graph"):
            # Older versions of Dask use the second name.
            name = "internal_priority" if "internal_priority" in message else "priority"
            message = {**message, name: self._order}
        super()._send_to_scheduler(message)


async def connect(address: str, seconds: float, tls: Record | None) -> OrderingClient:
    """A client of the scheduler. Raises `wrongAddress`, `tlsUnusable`, or `schedulerUnreachable` with the reason that Dask gives."""
    try:
        get_address_host_port(address)
    except ValueError as error:
        raise named("wrongAddress", address) from error
    security = security_of(tls)
    until = time.monotonic() + seconds
    while True:
        left = max(round(until - time.monotonic(), 1), AGAIN_SECONDS)
        opening = asyncio.ensure_future(opened(address, left, security))
        # Dask keeps this limit for each of its steps, not for all of them.
        await asyncio.wait({opening}, timeout=left + LATE_SECONDS)
        if not opening.done():
            opening.cancel()
            raise named("schedulerUnreachable", address, f"it has not answered within {seconds:.0f} s")
        error = opening.exception()
        if error is None:
            return opening.result()
        # A scheduler that starts or ends breaks connections. Certificates that do not fit stay as they are.
        is_final = not isinstance(error, OSError) or type(error).__name__ == "FatalCommClosedError"
        if is_final or time.monotonic() + AGAIN_SECONDS > until:
            raise named("schedulerUnreachable", address, reason_of(error))
        await asyncio.sleep(AGAIN_SECONDS)


def reason_of(error: BaseException) -> str:
    """What Dask says, and what caused it if that is known."""
    texts = []
    cause: BaseException | None = error
    while cause is not None:
        texts += [str(cause)] if str(cause) else []
        cause = cause.__cause__
    if len(texts) == 0:
        return type(error).__name__
    return texts[0] if len(texts) == 1 else f"{texts[0]} ({texts[-1]})"


async def opened(address: str, seconds: float, security: Security) -> OrderingClient:
    return await OrderingClient(address, asynchronous=True, timeout=seconds, set_as_default=False, security=security)


def security_of(tls: Record | None) -> Security:
    """The certificates of the request, by default those of Dask's settings."""
    try:
        if tls is None:
            security = Security()
        else:
            security = Security(
                require_encryption=True,
                tls_ca_file=tls.get("ca"),
                tls_client_cert=tls.get("cert"),
                tls_client_key=tls.get("key"),
            )
        security.get_connection_args("client")
    except (OSError, ssl.SSLError) as error:
        raise named("tlsUnusable", f"the certificates cannot be used: {error}") from error
    return security
