"""Long work that people wait for: its progress, and a way to stop it.

A job lasts as long as the request that does the work. To stop it, the call that counts its progress
raises an exception, so that the work is undone as after any other error. Threads may count, too.
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
"""How many ended jobs can still be looked up."""


class JobStopped(Exception):
    """Somebody stopped the job."""

    def __init__(self) -> None:
        super().__init__("The work was stopped. Nothing was saved.")


class Progress:
    """A progress counter that ignores all calls, for work that nobody watches; see `Job`."""

    def begin(self, total: int) -> None:
        """Set the total amount of work, in any unit."""

    def advance(self, amount: int = 1) -> None:
        """Count finished work. Raises JobStopped if the job was stopped."""


UNWATCHED: Final = Progress()


@dataclass(frozen=True, slots=True)
class Stoppable(Progress):
    """A progress counter that ignores amounts, but stops when other work is stopped."""

    work: Progress

    def advance(self, amount: int = 1) -> None:
        self.work.advance(0)


@dataclass(slots=True)
class Job(Progress):
    """A piece of long work, with its progress."""

    id: str
    kind: Kind
    session: int | None
    """The key of the session; None for an import or an export of several sessions."""
    name: str
    """The name of the session or file."""
    progress: int = 0
    total: int = 0
    """0 until the total is known."""
    status: Status = "running"
    started: float = field(default_factory=time.monotonic)
    ended: float | None = None
    """None until it ends. `started` and `ended` are in seconds of `time.monotonic`."""
    saved: int = 0
    """How many sessions were saved before it was stopped."""

    def begin(self, total: int) -> None:
        self.total = max(1, total)

    def advance(self, amount: int = 1) -> None:
        if self.status == "stopping":
            raise JobStopped
        self.progress = min(self.progress + amount, self.total or self.progress + amount)

    def break_off(self, saved: int) -> None:
        """Mark the job as stopped, although some sessions were saved."""
        self.status, self.saved = "stopped", saved

    def stop(self) -> None:
        """Stop the work at its next `advance`; does nothing if the job has ended."""
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
        """Run the block as a job. Its id is `job_id`, unless another job has that."""
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
        """Return an active job, or one of the last that ended."""
        return self._running.get(id_) or next(
            (job for job in self._ended_jobs if job.id == id_), None
        )

    def all(self) -> list[Job]:
        """Return the last jobs that ended, then the active ones, each in order."""
        return [*self._ended_jobs, *self._running.values()]
