"""The catalogue as a server of the Model Context Protocol, on the package `mcp`.

It is loaded when a coding agent asks for it: `mcp` takes half a second, and may be missing.
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
"""The client that does what a request asks for. Raises DevuiError if there is no server."""

_CALLS: Final = 16
"""Calls at once: each waits in a thread of its own, for a run perhaps."""
_SESSIONS: Final = 30
"""Listed as resources."""
_NAME: Final = 80
_BODY: Final = 1_000_000
_OPEN: Final = 128
"""Sessions at once, in the worst case: the server ends idle ones before."""
_PLAIN: Final = "text/plain"
_JSON: Final = "application/json"


def entries(tools: Sequence[type[Tool]]) -> list[ToolEntry]:
    """The tools as the protocol lists them."""
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
    """The name that others see beside what this coding agent does: `mcp:claude-code`."""
    client = context.session.client_params
    name = client.client_info.name if client else ""
    return f"mcp:{name[:_NAME]}" if name else "mcp"


class _Handlers:
    """What the requests of the protocol do."""

    def __init__(self, client_of: ClientOf, tools: Sequence[type[Tool]]) -> None:
        self._client_of = client_of
        self._tools = {each.tool_name(): each for each in tools}
        self._threads = anyio.CapacityLimiter(_CALLS)

    async def list_tools(self, context: Context, page: Page) -> ListToolsResult:
        return ListToolsResult(tools=entries(list(self._tools.values())))

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        """The answer, or the sentence that says what went wrong and what to do."""
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
            PromptArgument(name="session", description="Its number; default: the newest"),
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
        """The same for what answers with an error of the protocol. Raises MCPError."""
        try:
            return await self._run(context, action)
        except DevuiError as error:
            raise MCPError(INVALID_PARAMS, error.message) from error

    async def _run(self, context: Context, action: Callable[[Client], Any]) -> Any:
        """Do something in a thread; a coding agent that leaves doesn't wait for its end."""

        def run() -> Any:
            return action(self._client_of(context))

        return await anyio.to_thread.run_sync(run, limiter=self._threads, abandon_on_cancel=True)


def server(client_of: ClientOf, tools: Sequence[type[Tool]]) -> Server[Any]:
    """A server of the protocol with these tools."""
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
    """Speak over standard input and output until the input ends.

    `connect` finds the server anew for each call, so it may start later or again. With `has_actor`
    its actor stands before the coding agent's name.

    It doesn't return: the process ends at once, and what waits in its threads with it. One of them
    reads the input, and others may wait for runs, which go on.
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
    """The messages on standard input, each in a form that gets an answer."""
    wrapped = TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace")
    async for line in anyio.wrap_file(wrapped):
        yield answerable(line)


_HALF: Final = re.compile("[\ud800-\udfff]")


def answerable(line: str) -> str:
    """The message without what the package drops in silence, for which its sender would wait.

    Lone surrogates are replaced; parameters that aren't an object are empty ones, which the method
    refuses.
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
    """End this process and the tests that it runs."""
    stop_tests()
    os._exit(status)


def http_manager(url: str) -> StreamableHTTPSessionManager:
    """Answers the requests to `/mcp` of the server at `url`, each with the token it came with."""

    def client_of(context: Context) -> Client:
        header = context.request.headers.get("authorization", "") if context.request else ""
        return Client(url, header.partition(" ")[2].strip(), actor(context))

    return StreamableHTTPSessionManager(
        server(client_of, TOOLS),
        json_response=True,
        max_request_body_size=_BODY,
        max_sessions=_OPEN,
    )
