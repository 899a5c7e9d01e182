"""Jobs over HTTP, for pages and programs: their progress, and stopping them."""

import re
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from typing_extensions import TypedDict

from devui.debugger.background.jobs import Job, Kind, Status
from devui.web.errors import NotFound
from devui.web.htmx import HtmxRequest
from devui.web.json_answers import answer
from devui.web.links import apps_url, export_url, session_url, test_url
from devui.web.operation import operation
from devui.web.panels.jobs.panel import job_list
from devui.web.services import services_of
from devui.web.text.numbers import whole_number

JOB_HEADER: Final = "x-devui-job"
"""The header with a client's own id for its request as a job, to follow its progress."""
_ID: Final = re.compile(r"[0-9a-f]{32}")


def wanted_id(request: Request) -> str:
    """Return the id that the request names; "" without one, or if it is malformed."""
    job_id = request.headers.get(JOB_HEADER, "")
    return job_id if _ID.fullmatch(job_id) else ""


class JobJson(TypedDict):
    """An export, an import, the making of a test, or the preparation of a replay."""

    job: str
    kind: Kind
    session: int | None
    """The key of the session; null for an import and for an export of several sessions."""
    name: str
    """The name of the session or the file."""
    done: int
    total: int
    """0 until known; the unit depends on the job."""
    status: Status


class JobsJson(TypedDict):
    """Active jobs, and the last fifty that ended."""

    jobs: list[JobJson]


@operation(JobsJson)
async def every(request: Request) -> Response:
    """List active exports, imports, tests and replays, and the last ones that ended."""
    return answer({"jobs": [_job_json(job) for job in services_of(request).jobs.all()]})


@operation(JobJson)
async def show(request: Request) -> Response:
    """Get one job."""
    return answer(_job_json(_job_of(request)))


@operation(JobJson)
async def stop(request: Request) -> Response:
    """Stop a job; one that has ended stays as it is."""
    job = _job_of(request)
    job.stop()
    return answer(_job_json(job))


async def show_list(request: Request) -> Response:
    """Return a page's list: jobs of the session `?session=`, or those of no single session."""
    server = services_of(request)
    session = whole_number(request.query_params.get("session", ""))
    return server.render.page(job_list(server.jobs, session))


async def stop_in_list(request: Request) -> Response:
    """Stop a job and return the list again; without htmx, redirect to the page that has it."""
    server, job = services_of(request), _job_of(request)
    job.stop()
    if HtmxRequest.read(request.headers):
        return server.render.page(job_list(server.jobs, job.session))
    if job.session is None:
        return RedirectResponse(apps_url(), status_code=303)
    if job.kind == "replay":
        return RedirectResponse(session_url(job.session, tab="run"), status_code=303)
    page = test_url if job.kind == "test" else export_url
    return RedirectResponse(page(job.session), status_code=303)


def _job_of(request: Request) -> Job:
    """Return the job in the path; raises NotFound."""
    job = services_of(request).jobs.get(request.path_params["job"])
    if job is None:
        raise NotFound("there is no such job; devui remembers only the most recent ones")
    return job


def _job_json(job: Job) -> JobJson:
    return {
        "job": job.id,
        "kind": job.kind,
        "session": job.session,
        "name": job.name,
        "done": job.progress,
        "total": job.total,
        "status": job.status,
    }
