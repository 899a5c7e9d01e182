"""Sessions kept as tests over HTTP: what may be checked, and the files (docs/guide/testing.md)."""

import asyncio
import logging
from pathlib import Path
from typing import Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.bundles.exchange import Wish
from devui.debugger.keeping.checks import Check
from devui.debugger.keeping.keeper import Chosen, Keeper, KeptFiles, Offer
from devui.debugger.keeping.placing import IsThere, Misplaced, place_below, way_to, write_all
from devui.debugger.keeping.testfile import file_name
from devui.debugger.recordings import NotRecorded
from devui.store.rows import SessionRow
from devui.web.api.bodies import Strict, parse
from devui.web.api.bundles import exchange
from devui.web.api.debug import answer
from devui.web.errors import Conflict, Unprocessable
from devui.web.security.intake import read_json
from devui.web.services import Services, services
from devui.web.views.lookup import session_of

_log = logging.getLogger(__name__)
_LIMIT = 1_000_000


class KeepBody(Strict):
    """`POST /api/sessions/{key}/test`."""

    run: str | None = None
    checks: list[str] | None = None
    by_run: dict[str, list[str]] | None = None
    name: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")
    agent: str | None = Field(default=None, min_length=1, max_length=4000)
    keep_secrets: bool = False
    file: str | None = Field(default=None, min_length=1, max_length=1000)
    overwrite: bool = False


async def show(request: Request) -> Response:
    """The runs that may become tests, with what may be checked of each; of `?run=ID` alone."""
    found, session = await session_of(request)
    try:
        offers = await (await keeper(found, session, keep_secrets=False)).offers(
            session, request.query_params.get("run")
        )
    except NotRecorded as error:
        raise Unprocessable(str(error)) from error
    folder = services(request).apps.path / session.app
    told = {"session": session.key, "app": session.app, "folder": str(folder)}
    told |= {"name": file_name(session.app, session.key)}
    return answer({**told, "runs": [_offer(each) for each in offers]})


async def make(request: Request) -> Response:
    """The test file and its recordings, as texts; written only if a file is named."""
    found, session = await session_of(request)
    files, written = await kept(
        found, session, parse(KeepBody, await read_json(request, limit=_LIMIT))
    )
    return answer(
        {
            "test": _file(*files.test),
            "recordings": [_file(*each) for each in files.recordings],
            "redacted": [{"kind": k, "count": n} for k, n in sorted(files.redacted.items())],
            "written": written,
        }
    )


async def kept(found: Services, session: SessionRow, body: KeepBody) -> tuple[KeptFiles, list[str]]:
    """What is made, and the paths of what is written of it, the test first.

    Raises Unprocessable, and Conflict if a file is there that is not to be written over.
    """
    wanted, place = wanted_of(found, session, body)
    try:
        files = await (await keeper(found, session, keep_secrets=body.keep_secrets)).files(
            session, wanted
        )
        if place is None:
            return files, []
        texts = {place.parent / path: text for path, text in (*files.recordings, files.test)}
        await asyncio.to_thread(write_all, texts, overwrite=body.overwrite)
    except NotRecorded as error:
        raise Unprocessable(str(error)) from error
    except IsThere as error:
        told = f"{shown(error.path)} is there already: say that it is to be written over"
        raise Conflict(told) from error
    except OSError as error:
        raise Unprocessable(f"the test cannot be written: {error}") from error
    return files, [shown(path) for path in (place, *(path for path in texts if path != place))]


def wanted_of(found: Services, session: SessionRow, body: KeepBody) -> tuple[Chosen, Path | None]:
    """What the body asks for, and the file that it is to be written to. Raises Unprocessable."""
    place, name, agent = None, body.name, body.agent
    if body.file is not None:
        try:
            place = place_below(Path.cwd(), body.file, agents=found.apps.path)
        except (Misplaced, OSError, ValueError) as error:
            raise Unprocessable(str(error)) from error
        name = place.stem
        agent = way_to(found.apps.path / session.app, place.parent, session.app)
    by_run: dict[str, frozenset[str]] | None = None
    if body.by_run is not None:
        by_run = {run: frozenset(ids) for run, ids in body.by_run.items()}
    checks = None if body.checks is None else frozenset(body.checks)
    wanted = Chosen(run=body.run, checks=checks, by_run=by_run, name=name, agent=agent)
    return wanted, place


def shown(path: Path) -> str:
    """A path as from the folder that the server was started in."""
    base = Path.cwd()
    return (path.relative_to(base) if path.is_relative_to(base) else path).as_posix()


async def keeper(found: Services, session: SessionRow, *, keep_secrets: bool) -> Keeper:
    """What takes secrets out of tests, or leaves them in."""
    if keep_secrets:
        _log.warning("a test is written or shown with the secrets of its session")
    redactor = await exchange(found).redactor_of(session.key, Wish(keep_secrets=keep_secrets))
    return Keeper(found.journal, redactor)


def _offer(offer: Offer) -> dict[str, Any]:
    return {
        "run": offer.run,
        "first": offer.recording.first,
        "test": offer.name,
        "checks": [_check(each) for each in offer.checks],
    }


def _check(check: Check) -> dict[str, Any]:
    return {"id": check.id, "label": check.label, "code": check.code, "on": check.on}


def _file(path: str, text: str) -> dict[str, str]:
    return {"path": path, "text": text}
