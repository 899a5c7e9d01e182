"""The page that makes a test of a session."""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData, QueryParams
from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.keeping.keeper import Offer
from devui.debugger.keeping.testfile import file_name
from devui.debugger.recordings import NotRecorded
from devui.debugger.runs import NoSuchRun
from devui.store.rows import SessionRow
from devui.web.api.kept_tests import KeepBody, keeper, kept, wanted_of
from devui.web.errors import Conflict, EdgeError, Unprocessable
from devui.web.htmx import HtmxRequest
from devui.web.links import session_url, test_url
from devui.web.pages.keeping import MakeTestPage
from devui.web.parts import every as parts
from devui.web.presenters.keeping import FOLDER, preview, run_choices
from devui.web.presenters.lists import session_name
from devui.web.security.intake import read_form
from devui.web.services import Services
from devui.web.text.visible import visible
from devui.web.views.lookup import session_of, theme_of


@dataclass(frozen=True, slots=True)
class _Asked:
    """The form as it was filled in."""

    file: str
    by_run: dict[str, list[str]] | None
    """None if nothing was chosen yet."""
    keep: bool
    overwrite: bool

    @property
    def body(self) -> KeepBody:
        """The same as programs ask for it."""
        return KeepBody(
            by_run=self.by_run,
            keep_secrets=self.keep,
            file=self.file,
            overwrite=self.overwrite,
        )


async def show(request: Request) -> Response:
    """The checklist with what would be written; for htmx only the latter."""
    found, session = await session_of(request)
    asked = _asked(request.query_params, session)
    offers, shown = await _offered(found, session, asked)
    if HtmxRequest.read(request.headers):
        return found.render.page(shown)
    return _page(request, found, session, asked, offers, shown)


async def make(request: Request) -> Response:
    """Write the test, and say where; or why not."""
    found, session = await session_of(request)
    asked = _asked(await read_form(request), session)
    status, said = 200, dict[str, Any]()
    try:
        _, written = await kept(found, session, asked.body)
        command = f"devui test {written[0]}"
        said = {"written": tuple(map(visible, written)), "command": visible(command)}
    except (Conflict, NoSuchRun, Unprocessable) as error:
        status = Unprocessable.status if isinstance(error, NoSuchRun) else error.status
        said = {"error": visible(str(error))}
    offers, shown = await _offered(found, session, asked)
    page = _page(request, found, session, asked, offers, replace(shown, **said))
    page.status_code = status
    return page


def _asked(form: FormData | QueryParams, session: SessionRow) -> _Asked:
    file = str(form.get("file") or f"{FOLDER}/{file_name(session.app, session.key)}.py")
    by_run: dict[str, list[str]] | None = None
    if form.get("chosen") is not None:
        by_run = {str(run): [] for run in form.getlist("run")}
        for value in form.getlist("check"):
            run, _, check = str(value).partition(":")
            if run in by_run:
                by_run[run].append(check)
    keep = form.get("secrets") is not None
    return _Asked(file[:1000], by_run, keep=keep, overwrite=form.get("overwrite") is not None)


async def _offered(
    found: Services, session: SessionRow, asked: _Asked
) -> tuple[list[Offer], parts.TestPreview]:
    """The runs, and what would be written of them. Raises Unprocessable without a run."""
    makes = await keeper(found, session, keep_secrets=asked.keep)
    try:
        offers = await makes.offers(session, None)
    except (NotRecorded, NoSuchRun) as error:
        raise Unprocessable(str(error)) from error
    nothing = parts.TestPreview(visible(asked.file), code="", recordings="")
    body, misplaced = asked.body, ""
    try:
        wanted_of(found, session, body)
    except Unprocessable as error:  # it is shown all the same, to be copied
        body, misplaced = body.model_copy(update={"file": None}), visible(str(error))
    try:
        wanted, place = wanted_of(found, session, body)
        files = await asyncio.to_thread(makes.made, offers, session, wanted)
    except (EdgeError, NoSuchRun) as error:
        return offers, replace(nothing, error=misplaced or visible(str(error)))
    there = False if misplaced else await asyncio.to_thread((place or Path(asked.file)).exists)
    shown = preview(asked.file, files, there=there, overwrite=asked.overwrite)
    return offers, replace(shown, error=misplaced, misplaced=bool(misplaced))


def _page(
    request: Request,
    found: Services,
    session: SessionRow,
    asked: _Asked,
    offers: list[Offer],
    shown: parts.TestPreview,
) -> Response:
    page = MakeTestPage(
        theme=theme_of(request),
        name=session_name(session),
        session_href=session_url(session.key),
        action=test_url(session.key),
        base=visible(str(Path.cwd())),
        runs=run_choices(session.key, offers, asked.by_run),
        keep=asked.keep,
        preview=shown,
    )
    return found.render.page(page)
