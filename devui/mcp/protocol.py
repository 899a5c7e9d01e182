"""A server of the Model Context Protocol for the catalogue, built on the package `mcp`.

This module is loaded only when a coding agent connects, since importing `mcp` takes half a second
and the package may be missing.
"""

import json
import os
import re
import signal
import sys
import traceback
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from functools import partial
from io import TextIOWrapper
from typing import Any, Final, NoReturn, cast

import anyio
import anyio.to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)
from mcp.types import Tool as ToolEntry

from devui import __version__
from devui.client import Client
from devui.failures import DevuiError
from devui.mcp.catalogue import (
    CAUSE,
    CAUSE_ABOUT,
    EVENT,
    INSTRUCTIONS,
    LOCAL_TOOLS,
    SESSION,
    TOOLS,
    cause,
    resource,
)
from devui.mcp.checking import stop_tests
from devui.mcp.tool import Tool

Context = ServerRequestContext[Any, Any]
Page = PaginatedRequestParams | None
ClientOf = Callable[[Context], Client]
"""Returns the client for a request. Raises DevuiError if there is no server."""

_CALLS: Final = 16
"""The maximum number of concurrent calls; each blocks a thread, possibly until a run ends."""
_SESSIONS: Final = 30
"""The maximum number of sessions listed as resources."""
_NAME: Final = 80
_BODY: Final = 1_000_000
_OPEN: Final = 128
"""The maximum number of open MCP sessions; idle ones are closed after a while."""
_PLAIN: Final = "text/plain"
_JSON: Final = "application/json"


def entries(tools: Sequence[type[Tool]]) -> list[ToolEntry]:
    """Return the tools as the protocol lists them."""
    return [
        ToolEntry(
            name=each.tool_name(),
            description=each.about(),
            input_schema=each.schema_of_arguments(),
            annotations=ToolAnnotations(read_only_hint=True) if each.reads else None,
        )
        for each in tools
    ]


def actor(context: Context) -> str:
    """Return the name that others see beside what this coding agent does: `mcp:claude-code`."""
    client = context.session.client_params
    name = client.client_info.name if client else ""
    return f"mcp:{name[:_NAME]}" if name else "mcp"


class _Handlers:
    """The handlers of the protocol's requests."""

    def __init__(self, client_of: ClientOf, tools: Sequence[type[Tool]]) -> None:
        self._client_of = client_of
        self._tools = {each.tool_name(): each for each in tools}
        self._threads = anyio.CapacityLimiter(_CALLS)

    async def list_tools(self, context: Context, page: Page) -> ListToolsResult:
        return ListToolsResult(tools=entries(list(self._tools.values())))

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        """Return the tool's answer, or a sentence that says what went wrong and what to do."""
        try:
            call = self._tool(params.name).read(params.arguments or {})
            text, failed = await self._run(context, call.answer), False
        except DevuiError as error:
            text, failed = error.message, True
        return CallToolResult(content=[TextContent(text=text)], is_error=failed)

    def _tool(self, name: str) -> type[Tool]:
        if (tool := self._tools.get(name)) is None:
            raise DevuiError(f"unknown tool {name}; available: {', '.join(self._tools)}")
        return tool

    async def list_resources(self, context: Context, page: Page) -> ListResourcesResult:
        rows = await self._ask(context, lambda client: client.sessions()["sessions"])
        resources = [
            Resource(
                uri=SESSION.format(session=row["key"]),
                name=f"session {row['key']}",
                description=f"{row['app']}: {row['title']}",
                mime_type=_PLAIN,
            )
            for row in rows[:_SESSIONS]
        ]
        return ListResourcesResult(resources=resources)

    async def list_templates(self, context: Context, page: Page) -> ListResourceTemplatesResult:
        about = {SESSION: ("session", _PLAIN), EVENT: ("event", _JSON)}
        templates = [
            ResourceTemplate(uri_template=address, name=name, mime_type=kind)
            for address, (name, kind) in about.items()
        ]
        return ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(
        self, context: Context, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        address = str(params.uri)
        text = await self._ask(context, partial(resource, address=address))
        kind = _JSON if "/events/" in address else _PLAIN
        contents = TextResourceContents(uri=address, mime_type=kind, text=text)
        return ReadResourceResult(contents=[contents])

    async def list_prompts(self, context: Context, page: Page) -> ListPromptsResult:
        arguments = [
            PromptArgument(
                name="session", description="Its number; default: the most recently active"
            ),
            PromptArgument(name="question", description="What is wrong, in the user's words"),
        ]
        return ListPromptsResult(
            prompts=[Prompt(name=CAUSE, title=CAUSE_ABOUT, arguments=arguments)]
        )

    async def get_prompt(self, context: Context, params: GetPromptRequestParams) -> GetPromptResult:
        if params.name != CAUSE:
            raise MCPError(INVALID_PARAMS, f"unknown prompt {params.name}; available: {CAUSE}")
        values = params.arguments or {}
        text = cause(values.get("session", ""), values.get("question", ""))
        message = PromptMessage(role="user", content=TextContent(text=text))
        return GetPromptResult(description=CAUSE_ABOUT, messages=[message])

    async def _ask(self, context: Context, action: Callable[[Client], Any]) -> Any:
        """Run an action, and turn its DevuiError into an error of the protocol (MCPError)."""
        try:
            return await self._run(context, action)
        except DevuiError as error:
            raise MCPError(INVALID_PARAMS, error.message) from error

    async def _run(self, context: Context, action: Callable[[Client], Any]) -> Any:
        """Run an action in a thread, which is abandoned if the coding agent disconnects."""

        def run() -> Any:
            return action(self._client_of(context))

        return await anyio.to_thread.run_sync(run, limiter=self._threads, abandon_on_cancel=True)


def server(client_of: ClientOf, tools: Sequence[type[Tool]]) -> Server[Any]:
    """Return a server of the protocol with these tools."""
    handlers = _Handlers(client_of, tools)
    return Server(
        "devui",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


def serve_stdio(connect: Callable[[], Client], *, has_actor: bool) -> None:
    """Serve the protocol on standard input and output until the input ends.

    `connect` looks for the server on each call, so that it may start later or be restarted. With
    `has_actor`, the client's own actor is used instead of the coding agent's name.

    Never returns: the process ends immediately, without waiting for its threads. One of them reads
    the input, and others may be waiting for runs, which aren't affected.
    """

    def client_of(context: Context) -> Client:
        client = connect()
        return client if has_actor else replace(client, actor=actor(context))

    async def run() -> None:
        mcp = server(client_of, LOCAL_TOOLS)
        async with stdio_server(cast("anyio.AsyncFile[str]", _lines())) as (incoming, outgoing):
            await mcp.run(incoming, outgoing, mcp.create_initialization_options())

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: _leave(128 + number))
    try:
        anyio.run(run)
    finally:
        if error := sys.exception():
            traceback.print_exception(error)
        _leave(1 if error else 0)


async def _lines() -> AsyncIterator[str]:
    """Yield the messages on standard input, fixed so that each gets an answer."""
    wrapped = TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace")
    async for line in anyio.wrap_file(wrapped):
        yield answerable(line)


_HALF: Final = re.compile("[\ud800-\udfff]")


def answerable(line: str) -> str:
    """Fix a message that `mcp` would drop silently, leaving its sender without an answer.

    Replaces lone surrogates, and parameters that aren't an object by an empty one, which the method
    then refuses.
    """
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return line
    if not isinstance(message, dict):
        return line
    if isinstance(message.get("params", {}), dict) and "\\u" not in line:
        return line
    params = message.get("params", {})
    message["params"] = params if isinstance(params, dict) else {}
    return _HALF.sub("\N{REPLACEMENT CHARACTER}", json.dumps(message, ensure_ascii=False))


def _leave(status: int) -> NoReturn:
    """End this process, and kill the tests that it is running."""
    stop_tests()
    os._exit(status)


def http_manager(url: str) -> StreamableHTTPSessionManager:
    """Return the handler of `/mcp` for the server at `url`; it uses each request's own token."""

    def client_of(context: Context) -> Client:
        header = context.request.headers.get("authorization", "") if context.request else ""
        return Client(url, header.partition(" ")[2].strip(), actor(context))

    return StreamableHTTPSessionManager(
        server(client_of, TOOLS),
        json_response=True,
        max_request_body_size=_BODY,
        max_sessions=_OPEN,
    )
