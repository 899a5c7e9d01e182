"""`/mcp`, the Model Context Protocol over HTTP, and `/llms.txt`, which tells agents about it."""

import asyncio
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from devui.web.coding_agents.sessions import McpSessions
from devui.web.services import services_of

_OVER_HTTP: Final = "- [MCP over HTTP]"
_OVER_STDIO: Final = "- MCP over standard input"
"""The beginnings of the lines that apply only if the package `mcp` is installed."""
_NO_MCP: Final = (
    "- MCP: the server lacks the package. After `pip install 'devui[mcp]'` and a restart, tools are"
    " at `/mcp` and in `devui mcp`."
)
_LLMS: Final = Path(__file__).parents[2] / "skill" / "llms.txt"


async def mcp(request: Request) -> Response:
    """Answer a protocol message, or end a session."""
    return _Answer(services_of(request).mcp)


async def llms(_: Request) -> Response:
    """Return a page that tells coding agents what they can do here, and how."""
    text = await asyncio.to_thread(_LLMS.read_text, encoding="utf-8")
    return PlainTextResponse(text if find_spec("mcp") else _without_mcp(text))


def _without_mcp(text: str) -> str:
    """Return the page for a server without the package."""
    lines = [line for line in text.splitlines() if not line.startswith(_OVER_STDIO)]
    lines = [_NO_MCP if line.startswith(_OVER_HTTP) else line for line in lines]
    return "\n".join([*lines, ""])


class _Answer(Response):
    """The protocol's response, passed on as it comes."""

    def __init__(self, sessions: McpSessions) -> None:
        super().__init__()
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._sessions.answer(scope, receive, send)
