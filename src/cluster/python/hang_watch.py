"""Operators of users that do not return: what executors write into their stamp files, as `stamp_file.ts` does.

An operator that takes longer than a limit, and a multiple of its estimate, is reported once, as an event of Dask.
"""

from __future__ import annotations

import json
import os
import tempfile

from stdio_frames import Record

# The topic of events.
TOPIC = "factorloom-hang"
# The variable that names an executor's descriptor.
VARIABLE = "FACTORLOOM_STAMPS"
# A first line that is longer is none of a stamp.
LINE_BYTES_MAX = 1 << 16


class StampFile:
    """A file without a name, which an executor inherits."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()
        self.descriptor = self._file.fileno()
        # The stamp that was seen last, since when, and whether it was reported.
        self._turn = 0
        self._since = 0.0
        self._is_reported = False

    def hang(self, wanted: Record, now: float) -> Record | None:
        """The stamp with `seconds`, once, of an operator that takes longer than a HangWatchRecord of `protocol.ts` says."""
        stamp = self._read()
        if stamp is None:
            return None
        if stamp["turn"] != self._turn:
            self._turn, self._since, self._is_reported = stamp["turn"], now, False
        seconds = now - self._since
        estimate = wanted["timesEstimate"] * stamp["estimatedMs"] / 1000
        if self._is_reported or seconds <= wanted["seconds"] or seconds <= estimate:
            return None
        self._is_reported = True
        return {**stamp, "seconds": seconds}

    def close(self) -> None:
        self._file.close()

    def _read(self) -> Record | None:
        try:
            line = os.pread(self.descriptor, LINE_BYTES_MAX, 0).split(b"\n", 1)[0]
            return json.loads(line) if line else None
        except (OSError, ValueError):
            # It was closed, or is being written.
            return None
