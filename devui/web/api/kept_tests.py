"""Sessions kept as tests over HTTP: what may be checked, and the files (docs/guide/testing.md)."""

from typing import Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.bundles.exchange import Wish
from devui.debugger.keeping.checks import Check
from devui.debugger.keeping.keeper import Chosen, Keeper, Offer
from devui.debugger.keeping.testfile import file_name
from devui.debugger.recordings import NotRecorded
from devui.web.api.bodies import Strict, parse
from devui.web.api.bundles import exchange
from devui.web.api.debug import answer
from devui.web.errors import Unprocessable
from devui.web.security.intake import read_json
from devui.web.services import Services, services
from devui.web.views.lookup import session_of

_LIMIT = 1_000_000


class KeepBody(Strict):
    """`POST /api/sessions/{key}/test`."""

    run: str | None = None
    checks: list[str] | None = None
    name: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")
    agent: str | None = Field(default=None, min_length=1, max_length=4000)
    keep_secrets: bool = False


async def show(request: Request) -> Response:
    """The runs that may become tests, with what may be checked of each; of `?run=ID` alone."""
    found, session = await session_of(request)
    keeper = await _keeper(found, keep_secrets=False)
    try:
        offers = await keeper.offers(session, request.query_params.get("run"))
    except NotRecorded as error:
        raise Unprocessable(str(error)) from error
    folder = services(request).apps.path / session.app
    told = {"session": session.key, "app": session.app, "folder": str(folder)}
    told |= {"name": file_name(session.app, session.key)}
    return answer({**told, "runs": [_offer(each) for each in offers]})


async def make(request: Request) -> Response:
    """The test file and its recordings, as texts; nothing is written."""
    found, session = await session_of(request)
    body = parse(KeepBody, await read_json(request, limit=_LIMIT))
    keeper = await _keeper(found, keep_secrets=body.keep_secrets)
    checks = None if body.checks is None else frozenset(body.checks)
    wanted = Chosen(run=body.run, checks=checks, name=body.name, agent=body.agent)
    try:
        files = await keeper.files(session, wanted)
    except NotRecorded as error:
        raise Unprocessable(str(error)) from error
    return answer(
        {
            "test": _file(*files.test),
            "recordings": [_file(*each) for each in files.recordings],
            "redacted": [{"kind": k, "count": n} for k, n in sorted(files.redacted.items())],
        }
    )


async def _keeper(found: Services, *, keep_secrets: bool) -> Keeper:
    redactor = await exchange(found).redactor(Wish(keep_secrets=keep_secrets))
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
