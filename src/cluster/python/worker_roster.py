"""Which workers the bridge has seen, and what became of them."""

from __future__ import annotations


class WorkerRoster:
    """Workers by address, with their nannies, as the scheduler told last."""

    def __init__(self) -> None:
        self.workers: dict[str, str] = {}
        self.joined = 0
        self.gone = 0
        # New workers of a nanny that had one before, by nanny.
        self.restarts: dict[str, int] = {}
        self._nannies: set[str] = set()
        self._told_at = 0.0

    def update(self, at: float, workers: dict[str, str]) -> set[str]:
        """Takes an answer of that time; gives the workers that have gone. Answers may come out of order."""
        if at <= self._told_at:
            return set()
        self._told_at = at
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
