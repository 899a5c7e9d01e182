"""Modules that are loaded when one of their functions is first called.

The start page needs a third of the server's modules. What sessions and the APIs need comes with
their first request, on another thread, so that the page is there sooner and nobody waits for it on
the event loop. The names come from tables in our source, never from data.
"""

import asyncio
from collections.abc import Awaitable, Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

Endpoint = Callable[[Request], Awaitable[Response]]


ENDPOINTS: dict[Endpoint, tuple["Later", str]] = {}
"""The module and the function that each endpoint of a `Later` stands for."""


def handler(endpoint: Endpoint) -> Endpoint:
    """The function that an endpoint stands for; its module is loaded for that."""
    later, name = ENDPOINTS[endpoint]
    function: Endpoint = vars(later.load())[name]
    return function


class Later:
    """Stands for a module; its attributes are the endpoints that the module will have."""

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
        """Load the module if that has not been done, and return it."""
        self._module = self._module or import_module(self._name)
        return self._module

    def call(self, name: str) -> Callable[..., Any]:
        """A function that is no endpoint; it loads its module where it is called."""

        def function(*values: Any, **keywords: Any) -> Any:
            return getattr(self.load(), name)(*values, **keywords)

        return function
