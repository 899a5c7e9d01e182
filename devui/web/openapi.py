"""The whole API as an OpenAPI document, for programs and as a page.

It is generated from the served routes, the docstrings of their handlers, and the models that
`operation` attaches to them. All of this is loaded only when the document is requested.
"""

import ast
import asyncio
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, ClassVar, Final

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from typing_extensions import get_original_bases

from devui import __version__
from devui.web.basic_parts import Theme
from devui.web.lazy_modules import handler
from devui.web.lookup import theme_of
from devui.web.operation import OPERATIONS, Operation, Query, Refusal, operation
from devui.web.routes import adk, debugger, development, telemetry
from devui.web.services import services_of

Json = dict[str, Any]

ADK: Final = "ADK's REST API"
DEVELOPMENT: Final = "ADK's development routes"
DEBUGGER: Final = "Debugger"
TELEMETRY: Final = "OpenTelemetry"
_FAMILIES: Final[Mapping[str, list[Route]]] = {
    ADK: [*adk],
    DEVELOPMENT: [*development],
    DEBUGGER: [*debugger],
    TELEMETRY: [*telemetry],
}
_NAMES: Final = {
    "sessions/{key}": Query(int, "The session's number in the journal"),
    "events/{number}": Query(int, "The event's number in the session"),
    "notes/{number}": Query(int, "The event's number; 0 for the session"),
    "breakpoints/{number}": Query(int, "The breakpoint's number"),
    "spans/{span}": Query(int, "The span's id"),
}
"""The path parameters that aren't plain texts, each with the preceding step of its path."""
_STATUSES: Final = {
    200: "Success",
    201: "Created",
    400: "Malformed request",
    404: "Not found",
    409: "Not possible in the current state",
    422: "Invalid values",
}
_REFUSED: Final = {"default": {"description": "Refused"}}
_REFERENCE: Final = "#/components/schemas/"
_LINK: Final = re.compile(r"\[([^\]]+)\]\([^)\s]+\)")


@operation(dict[str, Any])
async def show(_: Request) -> Response:
    """Get this API as an OpenAPI document."""
    return JSONResponse(await asyncio.to_thread(document))


@operation()
async def page(request: Request) -> Response:
    """Read this API as a page."""
    spec = await asyncio.to_thread(document)
    groups: dict[str, list[OperationRow]] = {}
    for path, methods in spec["paths"].items():
        for method, entry in methods.items():
            [family] = entry["tags"]
            groups.setdefault(family, []).append(_row(method, path, entry, spec))
    families = tuple(Group(name, tuple(rows)) for name, rows in groups.items())
    return services_of(request).render.page(ReferencePage(theme_of(request), families))


@dataclass(frozen=True, slots=True)
class Parameter:
    """A query parameter."""

    name: str
    description: str


@dataclass(frozen=True, slots=True)
class OperationRow:
    """One method on one path."""

    method: str
    path: str
    summary: str
    description: str
    query: tuple[Parameter, ...]
    body: tuple[str, ...]
    """The names of the members of its JSON body."""
    answer: tuple[str, ...]
    """The names of the members of its response."""


@dataclass(frozen=True, slots=True)
class Group:
    """The operations of one family."""

    name: str
    operations: tuple[OperationRow, ...]


@dataclass(frozen=True, slots=True)
class ReferencePage:
    """`/docs`: every operation of the API."""

    template: ClassVar[str] = "pages/reference.html"

    theme: Theme
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of one route, with its description."""

    family: str
    method: str
    path: str
    operation: Operation
    summary: str
    description: str
    """In Markdown, with links as in docs/guide/api.md."""

    @property
    def id(self) -> str:
        """The operation's name in generated clients."""
        return "_".join(re.findall(r"\w+", f"{self.method} {self.path}".replace("-", "")))

    @property
    def names(self) -> Iterator[tuple[str, Query]]:
        """The parameters in its path, each with its type."""
        for step, name in re.findall(r"([\w-]*)/?\{(\w+)\}", self.path):
            yield name, _NAMES.get(f"{step}/{{{name}}}", Query(str))

    @property
    def refusals(self) -> Iterator[Refusal]:
        """The errors it declares, and the usual ones of routes with a path parameter or a body."""
        usual = [404] if "{" in self.path and self.operation.status is not None else []
        usual += [400, 422] if self.operation.body else []
        refusals = [
            Refusal(each, _STATUSES[each]) if isinstance(each, int) else each
            for each in self.operation.refusals
        ]
        statuses = {each.status for each in refusals}
        refusals += [Refusal(each, _STATUSES[each]) for each in usual if each not in statuses]
        yield from sorted(refusals, key=lambda each: each.status)


def endpoints() -> Iterator[Endpoint]:
    """Yield every endpoint of the APIs, importing their modules."""
    for family, routes in _FAMILIES.items():
        for route in routes:
            function = handler(route.endpoint)
            operation = OPERATIONS.get(function)
            if operation is None:
                raise LookupError(
                    f"{function.__module__}.{function.__name__} doesn't declare what it answers: "
                    "add @operation (devui/web/operation.py)"
                )
            summary, _, rest = inspect.cleandoc(function.__doc__ or "").partition("\n")
            for method in sorted((route.methods or set()) - {"HEAD"}):
                yield Endpoint(
                    family=family,
                    method=method.lower(),
                    path=route.path_format,
                    operation=operation,
                    summary=summary.rstrip("."),
                    description=_unwrap(rest.strip()),
                )


def without_links(text: str) -> str:
    """Return Markdown with each link replaced by its text."""
    return _LINK.sub(r"\1", text)


@cache
def document() -> Json:
    """Return the OpenAPI document of all routes for programs."""
    all_endpoints = list(endpoints())
    schemas = _Schemas(all_endpoints)
    paths: Json = {}
    for each in all_endpoints:
        paths.setdefault(each.path, {})[each.method] = _operation_json(each, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "devui", "version": __version__, "description": "See docs/guide/api.md."},
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas.definitions,
        },
    }


def _operation_json(endpoint: Endpoint, schemas: "_Schemas") -> Json:
    operation = endpoint.operation
    entry: Json = {"summary": endpoint.summary}
    if endpoint.description:
        entry["description"] = without_links(endpoint.description)
    entry |= {
        "operationId": endpoint.id,
        "tags": [endpoint.family],
        "parameters": [
            *(_parameter(name, "path", each, schemas) for name, each in endpoint.names),
            *(_parameter(name, "query", each, schemas) for name, each in operation.query.items()),
        ],
        "responses": _responses(endpoint, schemas),
    }
    if operation.body is not None:
        content = {"application/json": {"schema": schemas[operation.body]}}
        # ADK's server accepts an empty body if all of its members are optional.
        empty = endpoint.family == ADK and not any(
            each.is_required() for each in operation.body.model_fields.values()
        )
        entry["requestBody"] = {**({} if empty else {"required": True}), "content": content}
    return entry


def _parameter(name: str, place: str, query: Query, schemas: "_Schemas") -> Json:
    entry: Json = {"name": name, "in": place, "required": query.required or place == "path"}
    entry["schema"] = schemas[query.type]
    return entry | ({"description": query.description} if query.description else {})


def _responses(endpoint: Endpoint, schemas: "_Schemas") -> Json:
    operation = endpoint.operation
    refusals = {
        str(each.status): {
            "description": each.description,
            "content": {"application/json": {"schema": schemas[each.answer]}},
        }
        for each in endpoint.refusals
    }
    if operation.status is None:
        return refusals
    answer = {str(operation.status): _answer(operation, operation.status, schemas)}
    return answer | (refusals if operation.answer is not None else _REFUSED)


def _answer(operation: Operation, status: int, schemas: "_Schemas") -> Json:
    entry: Json = {"description": _STATUSES[status]}
    if operation.answer is not None:
        entry["content"] = {operation.media: {"schema": schemas[operation.answer]}}
    return entry


class _Schemas:
    """The JSON schemas of all types that the endpoints use."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self._types: list[Any] = []
        for each in endpoints:
            operation = each.operation
            bodies = (
                operation.answer,
                operation.body,
                *(refusal.answer for refusal in each.refusals),
            )
            queries = (*operation.query.values(), *(query for _, query in each.names))
            for type_ in (*bodies, *(query.type for query in queries)):
                if type_ is not None and type_ not in self._types:
                    self._types.append(type_)
        mode: JsonSchemaMode = "validation"
        by_place, document = TypeAdapter.json_schemas(
            [(place, mode, TypeAdapter(type_)) for place, type_ in enumerate(self._types)],
            schema_generator=_Generator,
            ref_template=_REFERENCE + "{model}",
        )
        self._schemas = [by_place[place, mode] for place in range(len(self._types))]
        self.definitions: Json = document["$defs"]

    def __getitem__(self, type_: Any) -> Json:
        return self._schemas[self._types.index(type_)]


class _Generator(GenerateJsonSchema):
    """Generates schemas with the docstrings below the members as descriptions, and without titles,
    which only repeat the names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Always return False: titles only repeat names."""
        return False

    def normalize_name(self, name: str) -> str:
        """Return `Position` for `PositionJson`."""
        return super().normalize_name(name).removesuffix("Json")

    def typed_dict_schema(self, schema: Any) -> Json:
        """Add the descriptions to the schema of a `TypedDict`."""
        return _explain(super().typed_dict_schema(schema), schema["cls"])

    def model_schema(self, schema: Any) -> Json:
        """Add the descriptions to the schema of a model."""
        return _explain(super().model_schema(schema), schema["cls"])

    def dataclass_schema(self, schema: Any) -> Json:
        """Add the descriptions to the schema of a dataclass."""
        return _explain(super().dataclass_schema(schema), schema["cls"])


def _explain(schema: Json, of: type) -> Json:
    """Add the docstrings of a class's members to its schema, and return it."""
    schema.pop("title", None)
    if "description" in schema:
        schema["description"] = _unwrap(schema["description"])
    fields = of.model_fields if issubclass(of, BaseModel) else {}
    for name, text in member_texts(of).items():
        member = schema["properties"].get(fields[name].alias if name in fields else name)
        if member is not None:
            member.setdefault("description", text)
    return schema


def _unwrap(text: str) -> str:
    """Return a docstring with each paragraph on one line."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text)


def member_texts(of: type) -> dict[str, str]:
    """Return the docstrings of a class's members, inherited ones included."""
    texts: dict[str, str] = {}
    for base in get_original_bases(of):
        if isinstance(base, type) and base.__module__.startswith("devui."):
            texts |= member_texts(base)
    return texts | _texts_in(of.__module__).get(of.__name__, {})


@cache
def _texts_in(module: str) -> dict[str, dict[str, str]]:
    """Return the docstrings of the members of all classes in a module."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {
        each.name: {
            member.target.id: " ".join(text.value.value.split())
            for member, text in pairwise(each.body)
            if isinstance(member, ast.AnnAssign)
            and isinstance(member.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
            and isinstance(text.value.value, str)
        }
        for each in tree.body
        if isinstance(each, ast.ClassDef)
    }


def _row(method: str, path: str, operation: Json, spec: Json) -> OperationRow:
    schemas = spec["components"]["schemas"]
    good: Json = next((each for code, each in operation["responses"].items() if code[0] == "2"), {})
    return OperationRow(
        method=method.upper(),
        path=path,
        summary=operation["summary"].replace("`", ""),
        description=operation.get("description", "").replace("`", ""),
        query=tuple(
            Parameter(each["name"], each.get("description", "").replace("`", ""))
            for each in operation["parameters"]
            if each["in"] == "query"
        ),
        body=tuple(_members(operation.get("requestBody", {}), schemas)),
        answer=tuple(_members(good, schemas)),
    )


def _members(holder: Json, schemas: Json) -> Iterator[str]:
    """Yield the names of the members of a JSON body."""
    schema = holder.get("content", {}).get("application/json", {}).get("schema", {})
    if "$ref" in schema:
        schema = schemas[schema["$ref"].removeprefix(_REFERENCE)]
    yield from schema.get("properties", {})
