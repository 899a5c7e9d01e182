"""The page that makes a test from a session."""

import asyncio
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from starlette.datastructures import FormData, QueryParams
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.debugger.background.jobs import JobStopped
from devui.debugger.replays.recordings import NotRecorded
from devui.debugger.runs.registry import NoSuchRun
from devui.debugger.saved_tests.keeper import Offer
from devui.debugger.saved_tests.testfile import file_name
from devui.store.rows import SessionRow
from devui.web.errors import Conflict, EdgeError, Unprocessable
from devui.web.htmx import HtmxRequest
from devui.web.links import session_url, test_url
from devui.web.lookup import session_of, theme_of
from devui.web.panels.apps.lists import session_name
from devui.web.panels.jobs.panel import job_list
from devui.web.panels.tests.api import KeepBody, display_path, keeper, make_test, wanted_of
from devui.web.panels.tests.parts import MakeTestPage, TestPreview
from devui.web.panels.tests.preview import FOLDER, preview, run_choices
from devui.web.panels.tests.running import command_of, run_test
from devui.web.security.intake import read_form
from devui.web.services import Services
from devui.web.text.deceptive_characters import visible


@dataclass(frozen=True, slots=True)
class _TestForm:
    """The form as it was filled in."""

    file: str
    by_run: dict[str, list[str]] | None
    """None if nothing has been chosen yet."""
    keep: bool
    overwrite: bool

    @property
    def body(self) -> KeepBody:
        """The same options as a request to the API."""
        return KeepBody(
            by_run=self.by_run,
            keep_secrets=self.keep,
            file=self.file,
            overwrite=self.overwrite,
        )


async def show(request: Request) -> Response:
    """Return the checklist with a preview of the test; for htmx, only the preview."""
    services, session = await session_of(request)
    test_form = _test_form(request.query_params, session)
    offers, draft = await _offers(services, session, test_form)
    if HtmxRequest.read(request.headers):
        return services.render.page(draft)
    return _page(request, services, session, test_form, offers, draft)


async def make(request: Request) -> Response:
    """Write the test and report its paths, or show the error."""
    services, session = await session_of(request)
    form = await read_form(request)
    test_form = _test_form(form, session)
    if form.get("play") is not None:
        return await _run_test(request, services, session, test_form)
    try:
        name = session.title or session.id
        with services.jobs.begin("test", name, session=session.key) as job:
            test = await make_test(services, session, test_form.body, job)
    except JobStopped:
        return RedirectResponse(test_url(session.key), status_code=303)
    except (Conflict, NoSuchRun, Unprocessable) as error:
        offers, draft = await _offers(services, session, test_form)
        draft = replace(draft, error=visible(str(error)))
        page = _page(request, services, session, test_form, offers, draft)
        page.status_code = Unprocessable.status if isinstance(error, NoSuchRun) else error.status
        return page
    draft = replace(
        preview(test_form.file, test.files, there=True, overwrite=test_form.overwrite),
        paths=tuple(map(visible, test.paths)),
        command=_shown_command(services, test.paths[0]),
    )
    return _page(request, services, session, test_form, test.offers, draft)


async def _run_test(
    request: Request, services: Services, session: SessionRow, test_form: _TestForm
) -> Response:
    """Run the test in its file and show the result."""
    _, place = wanted_of(services, session, test_form.body)
    if place is None or not await asyncio.to_thread(place.is_file):
        raise Conflict("write the test before you run it")
    offers, draft = await _offers(services, session, test_form)
    outcome = await run_test(place, services.settings.python)
    draft = replace(draft, command=_shown_command(services, display_path(place)), outcome=outcome)
    return _page(request, services, session, test_form, offers, draft)


def _shown_command(services: Services, file: str) -> str:
    return visible(shlex.join(command_of(file, services.settings.python)))


def _test_form(form: FormData | QueryParams, session: SessionRow) -> _TestForm:
    file = str(form.get("file") or f"{FOLDER}/{file_name(session.app, session.key)}.py")
    by_run: dict[str, list[str]] | None = None
    if form.get("chosen") is not None:
        by_run = {str(run): [] for run in form.getlist("run")}
        for value in form.getlist("check"):
            run, _, check = str(value).partition(":")
            if run in by_run:
                by_run[run].append(check)
    keep = form.get("secrets") is not None
    return _TestForm(file[:1000], by_run, keep=keep, overwrite=form.get("overwrite") is not None)


async def _offers(
    services: Services, session: SessionRow, test_form: _TestForm
) -> tuple[list[Offer], TestPreview]:
    """Return the runs, and a preview of their test. Raises Unprocessable without a run."""
    makes = await keeper(services, session, keep_secrets=test_form.keep)
    try:
        offers = await makes.offers(session, None)
    except (NotRecorded, NoSuchRun) as error:
        raise Unprocessable(str(error)) from error
    nothing = TestPreview(visible(test_form.file), code="", recordings="")
    body, problem = test_form.body, ""
    try:
        wanted_of(services, session, body)
    except Unprocessable as error:  # still shown, so that it can be copied
        body, problem = body.model_copy(update={"file": None}), visible(str(error))
    try:
        choice, place = wanted_of(services, session, body)
        files = await makes.files(session, offers, choice)
    except (EdgeError, NoSuchRun) as error:
        return offers, replace(nothing, error=problem or visible(str(error)))
    there = False if problem else await asyncio.to_thread((place or Path(test_form.file)).exists)
    result = preview(test_form.file, files, there=there, overwrite=test_form.overwrite)
    return offers, replace(result, error=problem, is_misplaced=bool(problem))


def _page(
    request: Request,
    services: Services,
    session: SessionRow,
    test_form: _TestForm,
    offers: list[Offer],
    test_preview: TestPreview,
) -> Response:
    page = MakeTestPage(
        theme=theme_of(request),
        name=session_name(session),
        session_href=session_url(session.key),
        action=test_url(session.key),
        base=visible(str(Path.cwd())),
        runs=run_choices(session.key, offers, test_form.by_run),
        keep=test_form.keep,
        preview=test_preview,
        jobs=job_list(services.jobs, session.key),
    )
    return services.render.page(page)
