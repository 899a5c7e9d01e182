"""Tests made from sessions, over HTTP: their possible checks, and files (docs/guide/testing.md)."""

import asyncio
import logging
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from devui.debugger.background.jobs import UNWATCHED, Progress
from devui.debugger.bundles.exchange import ExportOptions
from devui.debugger.replays.recordings import NotRecorded
from devui.debugger.saved_tests.checks import Check
from devui.debugger.saved_tests.keeper import Keeper, KeepOptions, Offer, TestFiles
from devui.debugger.saved_tests.places import (
    InvalidTestPath,
    TestFileExists,
    place_below,
    way_to,
    write_all,
)
from devui.debugger.saved_tests.testfile import file_name
from devui.store.rows import SessionRow
from devui.web.adk.bodies import parse
from devui.web.adk.contents import Strict
from devui.web.errors import Conflict, Unprocessable
from devui.web.json_answers import answer, large_answer
from devui.web.lookup import session_of
from devui.web.operation import Query, Refusal, operation
from devui.web.panels.bundles.api import exchange
from devui.web.panels.jobs.api import wanted_id
from devui.web.security.intake import read_json
from devui.web.services import Services, services_of

_log = logging.getLogger(__name__)
_LIMIT = 1_000_000


class KeepBody(Strict):
    """`POST /api/sessions/{key}/test`."""

    run: str | None = None
    checks: list[str] | None = None
    """Ids or kinds of checks, for all runs; by default those that are `on`."""
    by_run: dict[str, list[str]] | None = None
    """Instead of `checks`: the runs to keep, with the checks of each."""
    name: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")
    agent: str | None = Field(default=None, min_length=1, max_length=4000)
    """The path from the folder of the test to that of the app; by default `../APP`."""
    keep_secrets: bool = False
    file: str | None = Field(default=None, min_length=1, max_length=1000)
    """Write the files: a path such as `tests/test_trip.py`, below the server's folder."""
    overwrite: bool = False
    """Replace existing files."""


class TestCheckJson(TypedDict):
    """One possible assertion of a test."""

    id: str
    """`error`, `agents`, `tools`, `text`, `state:KEY` or `recorded`."""
    label: str
    code: str
    """The statement, indented."""
    on: bool
    """Selected by default."""


class TestRunJson(TypedDict):
    """A run that can become a test function."""

    run: str
    first: int
    """The number of its first event."""
    test: str
    """The function's name."""
    checks: list[TestCheckJson]


class TestOfferJson(TypedDict):
    """The possible checks of a session."""

    session: int
    app: str
    folder: str
    """The app's folder on the server's machine."""
    name: str
    """The default file name, without its extension."""
    runs: list[TestRunJson]


class TestFileJson(TypedDict):
    """A file as text."""

    path: str
    """The path from the folder of the test."""
    text: str


class RedactionJson(TypedDict):
    """Secrets that were left out."""

    kind: str
    count: int


class SavedTestJson(TypedDict):
    """A test with its recordings."""

    test: TestFileJson
    recordings: list[TestFileJson]
    redacted: list[RedactionJson]
    files: list[str]
    """Paths of the written files, with the test first."""


@operation(
    TestOfferJson,
    query={"run": Query(str, "A run's id; by default all that can be replayed")},
)
async def show(request: Request) -> Response:
    """List the checks a test of the session can make."""
    services, session = await session_of(request)
    try:
        offers = await (await keeper(services, session, keep_secrets=False)).offers(
            session, request.query_params.get("run")
        )
    except NotRecorded as error:
        raise Unprocessable(str(error)) from error
    folder = services_of(request).apps.place(session.app)
    members = {"session": session.key, "app": session.app, "folder": str(folder)}
    members |= {"name": file_name(session.app, session.key)}
    return answer({**members, "runs": [_offer(each) for each in offers]})


@operation(
    SavedTestJson, body=KeepBody, refusals=(Refusal(409, "The file exists; set `overwrite`"),)
)
async def make(request: Request) -> Response:
    """Make a test file with recordings; it is only written if a file is named.

    The session becomes [a test](testing.md). The guide explains [the members](#tests).
    """
    services, session = await session_of(request)
    body = parse(KeepBody, await read_json(request, limit=_LIMIT))
    name = session.title or session.id
    with services.jobs.begin("test", name, session=session.key, job_id=wanted_id(request)) as job:
        test = await make_test(services, session, body, job)
    files = test.files
    return await large_answer(
        lambda: {
            "test": _file(*files.test),
            "recordings": [_file(*each) for each in files.recordings],
            "redacted": [{"kind": k, "count": n} for k, n in sorted(files.redacted.items())],
            "files": test.paths,
        }
    )


@dataclass(frozen=True, slots=True)
class NewTest:
    """A test made from a session."""

    offers: list[Offer]
    """The runs that it could be made from."""
    files: TestFiles
    paths: list[str]
    """The paths of the written files, with the test first."""


async def make_test(
    services: Services, session: SessionRow, body: KeepBody, progress: Progress
) -> NewTest:
    """Make a test, and write it if the body names a file.

    Raises Unprocessable, JobStopped, and Conflict if a file exists that must not be overwritten.
    """
    choice, place = wanted_of(services, session, body)
    try:
        keeps = await keeper(services, session, keep_secrets=body.keep_secrets, progress=progress)
        offers = await keeps.offers(session, choice.run)
        files = await keeps.files(session, offers, choice)
        if place is None:
            return NewTest(offers, files, [])
        texts = {place.parent / path: text for path, text in (*files.recordings, files.test)}
        await asyncio.to_thread(write_all, texts, overwrite=body.overwrite)
    except NotRecorded as error:
        raise Unprocessable(str(error)) from error
    except TestFileExists as error:
        message = f"{display_path(error.path)} already exists: set overwrite to replace it"
        raise Conflict(message) from error
    except OSError as error:
        raise Unprocessable(f"the test can't be written: {error}") from error
    paths = [display_path(path) for path in (place, *(path for path in texts if path != place))]
    return NewTest(offers, files, paths)


def wanted_of(
    services: Services, session: SessionRow, body: KeepBody
) -> tuple[KeepOptions, Path | None]:
    """Return the body's options, and the file to write. Raises Unprocessable."""
    place, name, agent = None, body.name, body.agent
    if body.file is not None:
        try:
            place = place_below(Path.cwd(), body.file, agents=services.apps.path)
        except (InvalidTestPath, OSError, ValueError) as error:
            raise Unprocessable(str(error)) from error
        name = place.stem
        agent = way_to(services.apps.place(session.app), place.parent, session.app)
    by_run: dict[str, frozenset[str]] | None = None
    if body.by_run is not None:
        by_run = {run: frozenset(ids) for run, ids in body.by_run.items()}
    checks = None if body.checks is None else frozenset(body.checks)
    choice = KeepOptions(run=body.run, checks=checks, by_run=by_run, name=name, agent=agent)
    return choice, place


def display_path(path: Path) -> str:
    """Return a path relative to the folder that the server was started in."""
    base = Path.cwd()
    return (path.relative_to(base) if path.is_relative_to(base) else path).as_posix()


async def keeper(
    services: Services, session: SessionRow, *, keep_secrets: bool, progress: Progress = UNWATCHED
) -> Keeper:
    """Return the maker of tests, which redacts secrets unless `keep_secrets`."""
    if keep_secrets:
        _log.warning("a test is written or shown with its session's secrets unredacted")
    redactor = await exchange(services).redactor_of(
        session.key, ExportOptions(keep_secrets=keep_secrets)
    )
    return Keeper(services.journal, redactor, progress)


def _offer(offer: Offer) -> TestRunJson:
    return {
        "run": offer.run,
        "first": offer.recording.first,
        "test": offer.name,
        "checks": [_check(each) for each in offer.checks],
    }


def _check(check: Check) -> TestCheckJson:
    return {"id": check.id, "label": check.label, "code": check.code, "on": check.on}


def _file(path: str, text: str) -> TestFileJson:
    return {"path": path, "text": text}
