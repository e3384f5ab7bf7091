"""Frames of `frames.ts` over blocking pipes: a record, then buffers."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Sequence
from typing import Any, Dict, List, Tuple, Union

Record = Dict[str, Any]
Buffer = Union[bytes, bytearray, memoryview]
Frame = Tuple[Record, List[bytearray]]

MAGIC = b"FLF1"
# A format, because a compiled struct cannot be pickled with the tasks.
HEAD = "<4sIII"
HEAD_BYTES = struct.calcsize(HEAD)
# POSIX limits the parts of a writev.
PARTS_PER_WRITE_MAX = 1024


def write_frame(fd: int, record: Record, buffers: Sequence[Buffer] = ()) -> int:
    """Writes a frame without copying its buffers; returns its length in bytes."""
    text = json.dumps(record, separators=(",", ":")).encode()
    views = [memoryview(buffer).cast("B") for buffer in buffers]
    lengths = struct.pack(f"<{len(views)}d", *(view.nbytes for view in views))
    head = struct.pack(HEAD, MAGIC, len(text), len(views), 0) + lengths + text
    parts = [memoryview(head), *views]
    first = 0
    while first < len(parts):
        sent = os.writev(fd, parts[first : first + PARTS_PER_WRITE_MAX])
        while first < len(parts) and sent >= parts[first].nbytes:
            sent -= parts[first].nbytes
            first += 1
        if sent > 0:
            parts[first] = parts[first][sent:]
    return len(head) + sum(view.nbytes for view in views)


def read_exactly(fd: int, count: int) -> bytearray:
    """Reads `count` bytes of a pipe. Raises EOFError at its end."""
    buffer = bytearray(count)
    view = memoryview(buffer)
    at = 0
    while at < count:
        got = os.readv(fd, [view[at:]])
        if got == 0:
            raise EOFError("the pipe ended")
        at += got
    return buffer


def read_frame(fd: int) -> Frame:
    """Reads the next frame of a pipe. Raises EOFError at its end, ValueError for bytes that are not a frame."""
    magic, text_bytes, buffer_count, _ = struct.unpack(HEAD, read_exactly(fd, HEAD_BYTES))
    if magic != MAGIC:
        raise ValueError("the pipe holds bytes that are not a frame")
    lengths = struct.unpack(f"<{buffer_count}d", read_exactly(fd, 8 * buffer_count))
    record = json.loads(read_exactly(fd, text_bytes))
    return record, [read_exactly(fd, int(length)) for length in lengths]
