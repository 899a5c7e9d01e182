"""`/mcp`, the Model Context Protocol over HTTP, and `/llms.txt`, which says that it is there."""

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
"""How the lines of the page begin that need the package `mcp`."""
_NO_MCP: Final = (
    "- MCP: the server lacks the package. After `pip install 'devui[mcp]'` and a restart, tools are"
    " at `/mcp` and in `devui mcp`."
)
_LLMS: Final = Path(__file__).parents[2] / "skill" / "llms.txt"


async def mcp(request: Request) -> Response:
    """Answer a message of the protocol, or end a session of it."""
    return _Answer(services_of(request).mcp)


async def llms(_: Request) -> Response:
    """Say in a page what a coding agent can do here, and how."""
    text = await asyncio.to_thread(_LLMS.read_text, encoding="utf-8")
    return PlainTextResponse(text if find_spec("mcp") else _without_mcp(text))


def _without_mcp(text: str) -> str:
    """The page of a server that lacks the package."""
    lines = [line for line in text.splitlines() if not line.startswith(_OVER_STDIO)]
    lines = [_NO_MCP if line.startswith(_OVER_HTTP) else line for line in lines]
    return "\n".join([*lines, ""])


class _Answer(Response):
    """What the protocol answers, as it comes."""

    def __init__(self, sessions: McpSessions) -> None:
        super().__init__()
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._sessions.answer(scope, receive, send)
