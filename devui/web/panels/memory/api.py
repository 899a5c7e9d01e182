"""The memory of an app as JSON."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from devui.web.json_answers import answer
from devui.web.operation import Query, Refusal, operation
from devui.web.panels.memory.panel import search_memory
from devui.web.services import services_of


class MemoryJson(TypedDict):
    """An app's memories of a user."""

    service: str
    """The class of the app's memory service."""
    listed: bool
    """False if the service can only be searched, and no words were given."""
    memories: list[dict[str, Any]]
    """MemoryEntry objects, at most 100."""


@operation(
    MemoryJson,
    query={
        "user": Query(str, "The user whose memories to search; `user` by default"),
        "q": Query(str, "Words to search for; without them the newest memories"),
    },
    refusals=(Refusal(409, "The app failed to load, or its memory service failed"),),
)
async def recall(request: Request) -> Response:
    """List or search an app's memory.

    devui.runtime's services can be listed and searched, google-adk's only searched. Loads the app.
    """
    services, app, query = services_of(request), request.path_params["app"], request.query_params
    services.apps.require(app)
    user, words = query.get("user", "").strip() or "user", query.get("q", "").strip()
    return answer(await search_memory(services, app, user, words))
