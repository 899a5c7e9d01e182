"""Routes that match the path as it was sent, and decode each parameter afterwards.

ASGI servers decode a path before it is routed, so an id with `%2F` in it becomes two steps of the
path. Here the path stays encoded, in one canonical form, until a route has matched.
"""

from typing import Any
from urllib.parse import quote, unquote

from starlette.routing import Match
from starlette.routing import Route as _Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from devui.web.security.redaction import UNTOUCHED


class EncodedPaths:
    """An application whose routes see the encoded path. Every character that may be encoded is, so
    that each URL has only one form."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            root = quote(scope.get("root_path", ""), safe="/")
            scope = {**scope, "path": _encode_path(scope), "root_path": root}
        await self._app(scope, receive, send)


class Route(_Route):
    """A route below `EncodedPaths`; its endpoint gets decoded path parameters."""

    def __init__(self, path: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(path, *args, **kwargs)
        self._start = path.partition("{")[0]

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match the encoded path."""
        # This rules out most routes without trying their regular expressions.
        if not scope.get("root_path") and not scope["path"].startswith(self._start):
            return Match.NONE, {}
        match, inner = super().matches(scope)
        if match is not Match.NONE:
            names: dict[str, Any] = inner["path_params"]
            inner["path_params"] = {name: unquote(value) for name, value in names.items()}
        return match, inner


class AdkRoute(Route):
    """A route of ADK's REST API, whose responses are the agent's data and are never redacted.

    Its callers have the token, and programs need the actual values (docs/decisions/0016).
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and mark the response so that it is left unchanged."""

        async def pass_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), (UNTOUCHED, b"")]}
            await send(message)

        await super().handle(scope, receive, pass_on)


def _encode_path(scope: Scope) -> str:
    """Return the path as it was sent, in canonical form; if a middleware has changed the decoded
    path, encode that."""
    path: str = scope["path"]
    raw = scope.get("raw_path", b"").decode("ascii", "replace")
    if unquote(raw) != path:
        return quote(path, safe="/")
    return "/".join(quote(unquote(step), safe="") for step in raw.split("/"))
