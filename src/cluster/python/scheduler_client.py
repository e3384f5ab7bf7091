"""Connects to the scheduler, and finds out why that fails."""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from contextlib import suppress
from typing import Any

from distributed import Client, Future, Security
from distributed.comm import get_address_host_port

from stdio_frames import Record
from task_faults import coded

# A running scheduler answers earlier; only then is the port probed for another server.
PROBE_AFTER_SECONDS = 0.5
PROBE_AGAIN_SECONDS = 0.2
# How long a server that accepts a connection may take to send its first bytes.
FIRST_BYTES_SECONDS = 1.0
FIRST_BYTES_MAX = 4096
# The first message of a server of Dask contains this.
DASK_HELLO = b"pickle-protocol"

# What answers at an address: its kind, a key of INSTEAD_OF_SCHEDULER in `errors.ts`, and details.
Found = tuple[str, str]


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
    """A client of the scheduler. Raises E601, E632, or E603 with what answers instead of a scheduler."""
    until = time.monotonic() + seconds
    try:
        host, port = get_address_host_port(address)
    except ValueError as error:
        raise coded("E601", address) from error
    security, is_tls = security_of(tls), address.startswith("tls:")
    # Other protocols are not probed.
    is_probed = is_tls or address.startswith("tcp:")
    connecting = asyncio.ensure_future(opened(address, seconds, security))
    await asyncio.wait({connecting}, timeout=min(seconds, PROBE_AFTER_SECONDS))
    kind, detail = "late", ""
    while (client := client_of(connecting)) is None and time.monotonic() < until:
        if is_probed:
            asking = what_answers(is_tls, host, port, security)
            with suppress(asyncio.TimeoutError):
                kind, detail = await asyncio.wait_for(asking, until - time.monotonic())
        if kind not in ("late", "nobody", "silent", "dask"):
            break
        if connecting.done() and client_of(connecting) is None:
            # The scheduler may be about to start.
            connecting = asyncio.ensure_future(opened(address, until - time.monotonic(), security))
        await asyncio.wait({connecting}, timeout=PROBE_AGAIN_SECONDS)
    if client is None:
        connecting.cancel()
        raise coded("E603", address, kind, detail)
    return client


def client_of(connecting: asyncio.Future[OrderingClient]) -> OrderingClient | None:
    """None while it connects, or if it failed."""
    is_there = connecting.done() and connecting.exception() is None
    return connecting.result() if is_there else None


async def opened(address: str, seconds: float, security: Security) -> OrderingClient:
    return await OrderingClient(
        address, asynchronous=True, timeout=max(seconds, 0.1), set_as_default=False, security=security
    )


def security_of(tls: Record | None) -> Security:
    """The certificates of the request, by default those of Dask's settings."""
    try:
        if tls is None:
            security = Security()
        else:
            security = Security(
                require_encryption=True,
                tls_ca_file=tls["ca"],
                tls_client_cert=tls["cert"],
                tls_client_key=tls["key"],
            )
        security.get_connection_args("client")
    except (OSError, ssl.SSLError) as error:
        raise coded("E632", f"the certificates cannot be used: {error}") from error
    return security


async def what_answers(is_tls: bool, host: str, port: int, security: Security) -> Found:
    try:
        found = await plain_answer(host, port)
        if found[0] == "silent" and await speaks_tls(host, port):
            found = ("tls", "")
        elif found[0] == "silent":
            found = await plain_answer(host, port, b"GET / HTTP/1.0\r\n\r\n")
    except OSError as error:
        return "nobody", os.strerror(error.errno) if (error.errno or 0) > 0 else str(error)
    if is_tls and found[0] == "dask":
        return "plain", ""
    if is_tls and found[0] == "tls":
        return await certified_answer(host, port, security)
    return found


async def plain_answer(host: str, port: int, question: bytes = b"") -> Found:
    """What answers without TLS; servers of Dask send the first message."""
    return kind_of(await exchanged(host, port, question))


async def certified_answer(host: str, port: int, security: Security) -> Found:
    """What answers over TLS with the given certificates."""
    context = security.get_connection_args("client").get("ssl_context")
    if context is None:
        return "certificates", "none are given"
    try:
        return kind_of(await exchanged(host, port, b"", ssl=context, server_hostname=host))
    except OSError as error:
        return "certificates", getattr(error, "reason", None) or str(error)


async def speaks_tls(host: str, port: int) -> bool:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        await exchanged(host, port, b"", ssl=context, server_hostname=host)
    except ssl.SSLError as error:
        # A server that rejects our certificate speaks TLS.
        return "ALERT" in (error.reason or "")
    except OSError:
        return False
    return True


async def exchanged(host: str, port: int, question: bytes, **options: Any) -> bytes | None:
    """The first bytes of an answer; None if none come in time."""
    opening = asyncio.open_connection(host, port, **options)
    try:
        reader, writer = await asyncio.wait_for(opening, 2 * FIRST_BYTES_SECONDS)
    except asyncio.TimeoutError as error:
        raise OSError("no answer") from error
    try:
        writer.write(question)
        return await asyncio.wait_for(reader.read(FIRST_BYTES_MAX), FIRST_BYTES_SECONDS)
    except asyncio.TimeoutError:
        return None
    finally:
        writer.close()


def kind_of(answer: bytes | None) -> Found:
    if not answer:
        return "silent", ""
    if DASK_HELLO in answer:
        return "dask", ""
    if answer.startswith(b"HTTP/"):
        return "http", ""
    return "other", repr(answer[:40])[1:]
