"""Declares what an endpoint accepts and returns, as data beside its handler.

Requests are answered without it; `devui.web.openapi` describes the API with it.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

Handler = Callable[[Request], Awaitable[Response]]


class ErrorJson(TypedDict):
    """What is wrong and what to do; a list for an invalid body."""

    detail: str | list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Query:
    """A query parameter."""

    type: Any
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error status with its own reason or body."""

    status: int
    description: str
    answer: Any = ErrorJson


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What one handler accepts and returns; types are models, `TypedDict`s or plain types."""

    answer: Any = None
    """The type of the response; None if it isn't JSON, such as a file or a page."""
    status: int | None = 200
    """None if every request is refused."""
    media: str = "application/json"
    body: Any = None
    query: Mapping[str, Query] = field(default_factory=dict)
    refusals: tuple[int | Refusal, ...] = ()
    """In addition to the usual ones: 404 with a parameter in the path, 400 and 422 with a body."""


OPERATIONS: Final[dict[Handler, Operation]] = {}


def operation(
    answer: Any = None,
    *,
    status: int | None = 200,
    media: str = "application/json",
    body: Any = None,
    query: Mapping[str, Query] | None = None,
    refusals: tuple[int | Refusal, ...] = (),
) -> Callable[[Handler], Handler]:
    """Describe a handler.

    The first line of its docstring is the summary, the rest the description, in Markdown with links
    as in docs/guide/api.md.
    """
    entry = Operation(
        answer=answer,
        status=status,
        media=media,
        body=body,
        query=query or {},
        refusals=refusals,
    )

    def register(handler: Handler) -> Handler:
        OPERATIONS[handler] = entry
        return handler

    return register
