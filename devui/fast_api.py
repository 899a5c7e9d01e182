"""The server as an ASGI application, for a main.py that serves it by uvicorn.

What ADK has as `google.adk.cli.fast_api`. The application is made by Starlette, on which FastAPI
stands; the paths and what they answer are those of `devui` (docs/guide/api.md).
"""

import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import click
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from devui import __version__
from devui.settings import DEFAULT_DATA_DIR, DEFAULT_HOST, DEFAULT_PORT, Settings
from devui.web.program import application, leave, opened
from devui.web.security.access import Access
from devui.web.security.hosts import check_bind

Lifespan = Callable[[Any], AbstractAsyncContextManager[Any]]

_LOCAL = frozenset({"reload_agents", "use_local_storage"})
"""What is so in any case: code that changed is loaded anew, and everything is kept here."""
_TRIGGERS = "let what is triggered call POST /run with the bearer token"
_ELSEWHERE = {
    "a2a": "agents of other servers are not reached by A2A",
    "agent_loader": "agents are loaded by path, in processes of their own",
    "allow_origins": "pages of other origins are not let in; have them call their own server, which"
    " calls this one with the bearer token. For a proxy's name use allowed_hosts=[...]",
    "artifact_service_uri": "artifacts are kept with the sessions",
    "auto_create_session": "make the session first, by POST /apps/{app}/users/{user}/sessions",
    "avatar_config": "there is no live mode",
    "default_llm_model": "give each agent its model",
    "eval_storage_uri": "evaluation is left to test tools",
    "express_mode": "it belongs to Google's cloud",
    "extra_plugins": "give the plugins to the App",
    "gemini_enterprise_app_name": "it belongs to Google's cloud",
    "logo_image_url": "the page has devui's name on it",
    "logo_text": "the page has devui's name on it",
    "max_llm_calls": "a run may ask 500 times; a breakpoint on its budget holds it before that",
    "memory_service_uri": "memory lives as long as the app's process",
    "otel_to_cloud": "nothing is sent to Google's cloud",
    "session_db_kwargs": "sessions are kept in the journal",
    "task_store_uri": "agents of other servers are not reached by A2A",
    "trace_to_cloud": "nothing is sent to Google's cloud",
    "trigger_auth_verifier": _TRIGGERS,
    "trigger_oidc_audience": _TRIGGERS,
    "trigger_oidc_service_accounts": _TRIGGERS,
    "trigger_sources": _TRIGGERS,
    "url_prefix": "mount the application under a path, or let a proxy do it",
}


class Hosted:
    """The ASGI application. Its parts are opened and closed by the server's lifespan events."""

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
        given = os.environ.get("DEVUI_TOKEN")
        access = Access(given)
        async with AsyncExitStack() as stack:
            settings = self._settings
            if self._in_memory:
                folder = stack.enter_context(TemporaryDirectory(prefix="devui-"))
                settings = replace(settings, data_dir=Path(folder))
            services = await stack.enter_async_context(opened(settings, access))
            self._inner = application(services, access, hosts=self._hosts)
            if self._own_lifespan is not None:
                await stack.enter_async_context(self._own_lifespan(app))
            self._announce(access, given)
            yield
            await leave(services)

    def _announce(self, access: Access, given: str | None) -> None:
        where = f"http://{self._settings.host}:{self._settings.port}/"
        link = f"{where}login?code={access.new_code()}" if self._settings.pages else where
        click.echo(f"devui {__version__}  {link}", err=True)
        if not given:
            click.echo(f"scripts send  Authorization: Bearer {access.token}", err=True)


def get_fast_api_app(
    *,
    agents_dir: str | Path,
    web: bool = True,
    session_service_uri: str | None = None,
    host: str = DEFAULT_HOST,
    port: int = DEFAULT_PORT,
    bind_host: str | None = None,
    lifespan: Lifespan | None = None,
    allowed_hosts: Sequence[str] = (),
    **adk: Any,
) -> Hosted:
    """The application to hand to uvicorn.

    Args:
        agents_dir: The folder of the apps, or one app's own folder.
        web: Whether to serve the pages; without them, ADK's REST API and the debugger's.
        session_service_uri: Where sessions are kept: None for `.devui` here, `sqlite:///some/x.db`
            for the folder `some/x.devui`, `memory://` for a folder that is deleted in the end.
        host: The address that uvicorn binds.
        bind_host: The same as `host`, which it goes before.
        port: The port that uvicorn binds; requests for another one are refused.
        lifespan: A lifespan of your own, entered when the server runs.
        allowed_hosts: More names by which the server is reached, such as that of a proxy.
        adk: ADK's other keywords. `reload_agents` and `use_local_storage` hold in any case.

    The sign-in is that of `devui`: a link is printed, and scripts send the bearer token, which
    DEVUI_TOKEN sets. Without it no other machine may reach the server.

    Raises:
        ValueError: there is no such folder, or a keyword asks for what this server does not do;
            the message says what to do.
        TypeError: a keyword is none of ADK's.
    """
    _check(adk)
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
        pages=web,
    )
    in_memory = session_service_uri is not None and session_service_uri.startswith("memory:")
    return Hosted(settings, hosts=allowed_hosts, lifespan=lifespan, in_memory=in_memory)


def _check(given: dict[str, Any]) -> None:
    for name, value in given.items():
        if name not in _ELSEWHERE and name not in _LOCAL:
            raise TypeError(f"get_fast_api_app() takes no keyword {name!r}.")
        if value and name in _ELSEWHERE:
            raise ValueError(f"get_fast_api_app({name}=...) is not supported: {_ELSEWHERE[name]}.")


def _data_dir(uri: str | None) -> Path:
    scheme = urlsplit(uri or "memory:").scheme.partition("+")[0]
    if uri is None or scheme == "memory":
        return DEFAULT_DATA_DIR
    if scheme != "sqlite":
        raise ValueError(
            f"session_service_uri={uri!r} is not supported: devui keeps sessions in a folder of its"
            " own. Leave it away, or name a place as sqlite:///folder/name.db."
        )
    return Path(uri.partition(":///")[2]).with_suffix(".devui")
