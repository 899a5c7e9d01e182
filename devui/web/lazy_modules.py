"""Modules that are imported when one of their functions is first called.

The start page needs a third of the server's modules. The modules for sessions and the APIs are
imported on a thread at their first request, so that the start page is ready sooner and the event
loop never waits for an import. Module names come from tables in our source, never from data.
"""

import asyncio
from collections.abc import Awaitable, Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

Endpoint = Callable[[Request], Awaitable[Response]]


ENDPOINTS: dict[Endpoint, tuple["LazyModule", str]] = {}
"""The module and function that each endpoint of a `LazyModule` stands for."""


def handler(endpoint: Endpoint) -> Endpoint:
    """Return the function that an endpoint stands for, importing its module if necessary."""
    lazy_module, name = ENDPOINTS[endpoint]
    function: Endpoint = vars(lazy_module.load())[name]
    return function


class LazyModule:
    """A placeholder for a module; each attribute is an endpoint that imports the module when
    called."""

    def __init__(self, module: str) -> None:
        self._name = module
        self._module: ModuleType | None = None

    def __getattr__(self, name: str) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            module = self._module or await asyncio.to_thread(self.load)
            view: Endpoint = getattr(module, name)
            return await view(request)

        ENDPOINTS[endpoint] = (self, name)
        return endpoint

    def load(self) -> ModuleType:
        """Return the module, importing it if necessary."""
        self._module = self._module or import_module(self._name)
        return self._module

    def call(self, name: str) -> Callable[..., Any]:
        """Return a plain function that imports its module, synchronously, when it is called."""

        def function(*values: Any, **keywords: Any) -> Any:
            return getattr(self.load(), name)(*values, **keywords)

        return function
