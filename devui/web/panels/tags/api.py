"""Tags over HTTP."""

from typing import Final

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from devui.store.errors import SessionNotFound
from devui.web.adk.bodies import parse
from devui.web.adk.contents import Strict
from devui.web.json_answers import answer
from devui.web.lookup import session_of
from devui.web.operation import Query, operation
from devui.web.panels.tags.changes import change_tags
from devui.web.security.intake import read_json
from devui.web.services import services_of

_MOST: Final = 100
"""The maximum number of tags to remove at once."""


class TagCountJson(TypedDict):
    """A tag."""

    name: str
    sessions: int
    """How many sessions have it."""


class TagCountsJson(TypedDict):
    """Tags in alphabetical order."""

    tags: list[TagCountJson]


class TagsBody(Strict):
    """`PATCH /api/sessions/{key}/tags`."""

    add: list[str] = Field(default_factory=list, max_length=_MOST)
    remove: list[str] = Field(default_factory=list, max_length=_MOST)


class TagsJson(TypedDict):
    """The tags of a session, in alphabetical order."""

    tags: list[str]


@operation(TagCountsJson, query={"app": Query(str, "Only tags of this app's sessions")})
async def every(request: Request) -> Response:
    """List the tags that sessions have."""
    tags = services_of(request).journal.tags
    counts = await tags.counts(request.query_params.get("app"))
    return answer({"tags": [{"name": each.name, "sessions": each.sessions} for each in counts]})


@operation(TagsJson, body=TagsBody)
async def change(request: Request) -> Response:
    """Add tags to a session, and remove others.

    Case doesn't matter. Tags to remove that the session doesn't have are ignored. See
    [tags](#notes-and-files-of-sessions) for what a tag can be.
    """
    services, session = await session_of(request)
    body = parse(TagsBody, await read_json(request))
    tags = await change_tags(services, [session.key], add=body.add, remove=body.remove)
    if session.key not in tags:
        raise SessionNotFound(f"session {session.key} was deleted")
    return answer({"tags": tags[session.key]})
