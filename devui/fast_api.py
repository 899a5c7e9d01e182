"""The server as an ASGI application, for a main.py that serves it with uvicorn.

The counterpart of ADK's `google.adk.cli.fast_api`. The application is built with Starlette, which
FastAPI is based on; its routes are those of `devui` (docs/guide/api.md).
"""

import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from devui import __version__
from devui.adk_options import INSTEAD, folder_beside, is_in_memory
from devui.settings import DEFAULT_DATA_DIR, DEFAULT_HOST, DEFAULT_PORT, Settings
from devui.web.program import application, leave, open_services
from devui.web.security.access import Access
from devui.web.security.hosts import Origins, check_bind

Lifespan = Callable[[Any], AbstractAsyncContextManager[Any]]

_LOCAL = frozenset({"reload_agents", "use_local_storage"})
"""Keywords that change nothing: code is always reloaded, and everything is always stored here."""
_ELSEWHERE = {
    **INSTEAD,
    "agent_loader": "agents are loaded by path, in processes of their own",
    "session_db_kwargs": "sessions are kept in the journal",
    "task_store_uri": INSTEAD["a2a"],
    "trigger_auth_verifier": INSTEAD["trigger_sources"],
    "url_prefix": "mount the application under a path, or let a proxy do it",
}


class Hosted:
    """The ASGI application. The server's lifespan events open and close its parts."""

    def __init__(
        self,
        settings: Settings,
        *,
        hosts: Sequence[str],
        lifespan: Lifespan | None,
        in_memory: bool,
    ) -> None:
        self._settings = settings
        self._in_memory = in_memory
        self._hosts = hosts
        self._own_lifespan = lifespan
        self._events = Starlette(lifespan=self._lifespan)
        self._inner: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection of the ASGI server."""
        if scope["type"] == "lifespan":
            await self._events(scope, receive, send)
        elif self._inner is None:
            raise RuntimeError(
                "devui is not running: serve it with lifespan events (uvicorn's default), and"
                " mount it in an application that passes them on."
            )
        else:
            await self._inner(scope, receive, send)

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        token = os.environ.get("DEVUI_TOKEN")
        access = Access(token)
        async with AsyncExitStack() as stack:
            settings = self._settings
            if self._in_memory:
                folder = stack.enter_context(TemporaryDirectory(prefix="devui-"))
                settings = replace(settings, data_dir=Path(folder))
            services = await stack.enter_async_context(open_services(settings, access))
            self._inner = application(services, access, hosts=self._hosts)
            if self._own_lifespan is not None:
                await stack.enter_async_context(self._own_lifespan(app))
            self._announce(access, token)
            yield
            await leave(services)

    def _announce(self, access: Access, token: str | None) -> None:
        where = f"http://{self._settings.host}:{self._settings.port}/"
        link = f"{where}login?code={access.new_code()}" if self._settings.pages else where
        click.echo(f"devui {__version__}  {link}", err=True)
        if not token:
            click.echo(f"scripts send  Authorization: Bearer {access.token}", err=True)


def get_fast_api_app(  # noqa: PLR0913 - the keywords are ADK's
    *,
    agents_dir: str | Path,
    web: bool = True,
    session_service_uri: str | None = None,
    memory_service_uri: str | None = None,
    extra_plugins: Sequence[str] | None = None,
    default_llm_model: str | None = None,
    max_llm_calls: int | None = None,
    auto_create_session: bool = False,
    host: str = DEFAULT_HOST,
    port: int = DEFAULT_PORT,
    bind_host: str | None = None,
    lifespan: Lifespan | None = None,
    allowed_hosts: Sequence[str] = (),
    allow_origins: Sequence[str] | None = None,
    **adk: Any,
) -> Hosted:
    """Return the application to pass to uvicorn.

    Args:
        agents_dir: The folder of the apps, or the folder of one app.
        web: Whether to serve the pages; ADK's REST API and the debugger's are always served.
        session_service_uri: Where to store sessions: None for `.devui` here, `sqlite:///some/x.db`
            for the folder `some/x.devui`, `memory://` for a folder that is deleted on shutdown.
        memory_service_uri: The memory service of the apps: a scheme that google-adk knows, or one
            that a `services.yaml` or `services.py` in `agents_dir` registers.
        extra_plugins: Dotted paths of plugins to add to every app, classes or objects.
        default_llm_model: The model of agents that don't set one.
        max_llm_calls: The maximum number of model calls per run.
        auto_create_session: Whether `/run` and `/run_sse` create the session if it doesn't exist.
        host: The address that uvicorn binds.
        bind_host: Overrides `host`.
        port: The port that uvicorn binds; requests for another one are refused.
        lifespan: Your own lifespan, entered when the server is running.
        allowed_hosts: More host names of the server, such as that of a proxy.
        allow_origins: Origins whose pages may call the server with the bearer token, such as
            `http://localhost:3000`; `regex:` with a pattern for many, `*` for all.
        adk: ADK's other keywords. `reload_agents` and `use_local_storage` are always on.

    The sign-in is that of `devui`: the application prints a link, and scripts send the bearer token
    from DEVUI_TOKEN. Without DEVUI_TOKEN, only loopback addresses are allowed.

    Raises:
        ValueError: the folder doesn't exist, or a keyword asks for something that this server
            doesn't support; the message says what to do.
        TypeError: a keyword isn't one of ADK's.
    """
    _check(adk)
    Origins.read(allow_origins or ())
    agents = Path(agents_dir).resolve()
    if not agents.is_dir():
        raise ValueError(
            f"agents_dir={str(agents_dir)!r} names no folder: {agents}."
            " Give the folder of your apps."
        )
    token = os.environ.get("DEVUI_TOKEN")
    settings = Settings(
        agents=Path(agents_dir),
        data_dir=_data_dir(session_service_uri),
        host=check_bind(bind_host or host, token_given=bool(token), allow_remote=True),
        port=port,
        allow_origins=tuple(allow_origins or ()),
        pages=web,
        create_sessions=auto_create_session,
        environment={
            "DEVUI_MEMORY_SERVICE_URI": memory_service_uri or "",
            "DEVUI_EXTRA_PLUGINS": ",".join(extra_plugins or ()),
            "DEVUI_DEFAULT_MODEL": default_llm_model or "",
            "ADK_MAX_LLM_CALLS": "" if max_llm_calls is None else str(max_llm_calls),
        },
    )
    in_memory = session_service_uri is not None and is_in_memory(session_service_uri)
    return Hosted(settings, hosts=allowed_hosts, lifespan=lifespan, in_memory=in_memory)


def _check(options: dict[str, Any]) -> None:
    for name, value in options.items():
        if name not in _ELSEWHERE and name not in _LOCAL:
            raise TypeError(f"get_fast_api_app() takes no keyword {name!r}.")
        if value and name in _ELSEWHERE:
            raise ValueError(f"get_fast_api_app({name}=...) is not supported: {_ELSEWHERE[name]}.")


def _data_dir(uri: str | None) -> Path:
    if uri is None or is_in_memory(uri):
        return DEFAULT_DATA_DIR
    folder = folder_beside(uri)
    if folder is None:
        raise ValueError(
            f"session_service_uri={uri!r} is not supported: devui keeps sessions in a folder of its"
            " own. Leave it away, or name a place as sqlite:///folder/name.db."
        )
    return folder
