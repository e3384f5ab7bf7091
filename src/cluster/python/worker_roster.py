"""Which workers have joined and left a cluster."""

from __future__ import annotations


class WorkerRoster:
    """The nannies of the workers, by address, of the latest report of the scheduler."""

    def __init__(self) -> None:
        self.workers: dict[str, str] = {}
        self.joined = 0
        self.gone = 0
        # New workers of a nanny that had one before, by nanny.
        self.restarts: dict[str, int] = {}
        self._nannies: set[str] = set()
        self._updated_at = 0.0

    def update(self, at: float, workers: dict[str, str]) -> set[str]:
        """Takes the workers of a report and its time; returns those that have left. Ignores a report that comes late."""
        if at <= self._updated_at:
            return set()
        self._updated_at = at
        joined = workers.keys() - self.workers.keys()
        gone = self.workers.keys() - workers.keys()
        self.joined += len(joined)
        self.gone += len(gone)
        for worker in joined:
            nanny = workers[worker]
            if nanny and nanny in self._nannies:
                self.restarts[nanny] = self.restarts.get(nanny, 0) + 1
            self._nannies.add(nanny)
        self.workers = workers
        return gone
