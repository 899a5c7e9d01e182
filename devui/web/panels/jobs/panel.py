"""The list of jobs, with their progress and buttons to stop them."""

import time
from dataclasses import dataclass
from typing import ClassVar, Final

from devui.debugger.background.jobs import Job, Jobs
from devui.web.links import jobs_url, stop_job_url
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import plural


@dataclass(frozen=True, slots=True)
class JobItem:
    """A job that takes a while, or that was just stopped."""

    id: str
    text: str
    """`Exporting Trip to London`."""
    percent: int | None
    """None while the total is unknown."""
    stop_action: str
    """Where to stop it; "" once it is stopped or stopping."""


@dataclass(frozen=True, slots=True)
class JobList:
    """The jobs of a session, or those of no single one; it reloads while one of them is active."""

    template: ClassVar[str] = "jobs/jobs.html"
    href: str
    jobs: tuple[JobItem, ...] = ()
    active: bool = False
    """Whether a job is in progress, shown or not."""


NO_IMPORTS: Final = JobList("/jobs")


UNSHOWN: Final = 0.4
"""Seconds before a job is shown; quicker ones never are."""
_AFTERWARDS: Final = 8.0
"""Seconds for which a stopped job stays in the list."""
_WORDS: Final = {
    "export": ("Exporting", "The export of"),
    "import": ("Importing", "The import of"),
    "replay": ("Preparing a replay of", "The replay of"),
    "test": ("Making a test of", "The test of"),
}


def job_list(jobs: Jobs, session: int | None) -> JobList:
    """Return the jobs of a session; with None, imports, and exports of several sessions."""
    here, now = [job for job in jobs.all() if job.session == session], time.monotonic()
    items = tuple(_item(job) for job in here if _is_shown(job, now))
    return JobList(jobs_url(session), items, active=any(job.ended is None for job in here))


def _is_shown(job: Job, now: float) -> bool:
    if job.ended is None:
        return now - job.started >= UNSHOWN
    return job.status == "stopped" and now - job.ended < _AFTERWARDS


def _item(job: Job) -> JobItem:
    doing, work = _WORDS[job.kind]
    name = visible(job.name)
    match job.status:
        case "running":
            percent = 100 * job.progress // job.total if job.total else None
            return JobItem(job.id, f"{doing} {name}", percent, stop_job_url(job.id))
        case "stopping":
            return JobItem(job.id, f"Canceling: {doing.lower()} {name}", None, "")
        case _:
            end = f" after {plural(job.saved, 'session')}" if job.saved else ". Nothing was saved"
            return JobItem(job.id, f"{work} {name} was stopped{end}.", None, "")
