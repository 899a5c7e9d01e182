"""Long work that people wait for: how far it is, and a way to stop it.

A job lasts as long as the request that does the work. It is stopped where it counts its progress,
by an exception: so the work undoes what it began as it does after any other error. Threads may
count, too.
"""

import asyncio
import time
import uuid
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Literal

Kind = Literal["export", "import", "test", "replay"]
Status = Literal["running", "stopping", "done", "stopped", "failed"]

_REMEMBERED: Final = 50
"""Jobs that have ended and can still be looked up."""


class JobStopped(Exception):
    """Somebody stopped the work."""

    def __init__(self) -> None:
        super().__init__("The work was stopped. Nothing was saved.")


class Progress:
    """Counts work that nobody watches; a `Job` is watched."""

    def begin(self, total: int) -> None:
        """Set how much work there is, in any unit."""

    def advance(self, amount: int = 1) -> None:
        """Count work that is done. Raises JobStopped."""


UNWATCHED: Final = Progress()


@dataclass(frozen=True, slots=True)
class Stoppable(Progress):
    """Counts nothing, and stops with other work."""

    work: Progress

    def advance(self, amount: int = 1) -> None:
        self.work.advance(0)


@dataclass(slots=True)
class Job(Progress):
    """One piece of long work."""

    id: str
    kind: Kind
    session: int | None
    """The key of the session; None for an import and for an export of several sessions."""
    name: str
    """Of the session or the file."""
    progress: int = 0
    total: int = 0
    """0 until it is known."""
    status: Status = "running"
    started: float = field(default_factory=time.monotonic)
    ended: float | None = None
    """Both in seconds of `time.monotonic`."""
    saved: int = 0
    """Sessions that were saved before it was stopped."""

    def begin(self, total: int) -> None:
        self.total = max(1, total)

    def advance(self, amount: int = 1) -> None:
        if self.status == "stopping":
            raise JobStopped
        self.progress = min(self.progress + amount, self.total or self.progress + amount)

    def break_off(self, saved: int) -> None:
        """End as stopped, although some sessions were saved."""
        self.status, self.saved = "stopped", saved

    def stop(self) -> None:
        """End the work where it counts next; a job that has ended stays as it is."""
        if self.status == "running":
            self.status = "stopping"


class Jobs:
    """The jobs of a server."""

    def __init__(self) -> None:
        self._running: dict[str, Job] = {}
        self._ended_jobs: deque[Job] = deque(maxlen=_REMEMBERED)

    @contextmanager
    def begin(
        self, kind: Kind, name: str, *, session: int | None = None, job_id: str = ""
    ) -> Iterator[Job]:
        """A job for as long as the block; `job_id` is its id, unless another job has it."""
        id_ = job_id if job_id and self.get(job_id) is None else uuid.uuid4().hex
        job = self._running[id_] = Job(id_, kind, session, name)
        try:
            yield job
        except (JobStopped, asyncio.CancelledError):
            job.status = "stopped"
            raise
        except BaseException:
            job.status = "failed"
            raise
        else:
            if job.status != "stopped":
                job.status = "done"
        finally:
            job.ended = time.monotonic()
            self._ended_jobs.append(self._running.pop(id_))

    def get(self, id_: str) -> Job | None:
        """An active job, or one of the last that ended."""
        return self._running.get(id_) or next(
            (job for job in self._ended_jobs if job.id == id_), None
        )

    def all(self) -> list[Job]:
        """The last jobs that ended, then the active ones, each in order."""
        return [*self._ended_jobs, *self._running.values()]
