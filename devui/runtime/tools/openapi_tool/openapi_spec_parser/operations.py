"""The operations of an OpenAPI description (adk-runtime 8.9)."""

import keyword
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from pydantic import TypeAdapter

from devui.runtime.auth.auth_schemes import AuthScheme
from devui.runtime.mistakes import brief

# Follows `$ref` within an OpenAPI description (adk-runtime 8.9).


logger = logging.getLogger(__name__)

_LOCAL = "#/"
_NEEDED = ("paths", "requestBody")
"""Keys without which a tool would be wrong: it would be missing, or send less than it should."""


def resolve(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of the description with references replaced by what they refer to.

    A reference back into itself becomes `{}`, which allows anything. So does one that leads
    nowhere, with a warning: many descriptions have some in parts that no tool needs. Raises
    ValueError if the paths or a request's body lead nowhere, or a reference leads out of the
    description.
    """
    resolver = _Resolver(spec)
    copy = resolver.resolve(spec)
    if resolver.missing:
        logger.warning(
            "The OpenAPI description refers to definitions that it doesn't contain; any value is"
            " allowed there: %s.",
            ", ".join(resolver.missing),
        )
    assert isinstance(copy, dict)  # noqa: S101  a dict without $ref stays one
    return copy


class _Resolver:
    """Follows references; the target of one may be used in several places."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._spec = spec
        self.missing: dict[str, None] = {}
        """The references that lead nowhere, in the order in which they were found."""
        self._whole: dict[str, Any] = {}
        """The targets of references outside of any other reference."""
        self._parts: dict[str, Any] = {}
        """The targets of references inside the one that is being followed. They are resolved only
        once: if all refer to all, there are too many paths to follow each."""
        self._within: list[str] = []

    def resolve(self, node: Any, *, is_needed: bool = False) -> Any:
        """Return the node, references resolved; raise ValueError if it `is_needed` but missing."""
        if isinstance(node, list):
            return [self.resolve(item) for item in node]
        if not isinstance(node, dict):
            return node
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return {key: self.resolve(node[key], is_needed=key in _NEEDED) for key in node}
        if reference in self._within:
            return {}
        return self._referent(reference, is_needed=is_needed)

    def _referent(self, reference: str, *, is_needed: bool) -> Any:
        cache = self._parts if self._within else self._whole
        # A missing target is `{}`, which isn't enough if it is needed.
        if reference not in cache or (is_needed and not cache[reference]):
            target = self._aim(reference, is_needed=is_needed)
            self._within.append(reference)
            value = self.resolve(target, is_needed=is_needed)
            self._within.pop()
            cache[reference] = value
            if not self._within:
                self._parts.clear()
        return cache[reference]

    def _aim(self, reference: str, *, is_needed: bool) -> Any:
        try:
            return _target(reference, self._spec)
        except KeyError as error:
            if is_needed:
                raise ValueError(
                    f"The OpenAPI description refers to {reference!r}, which is missing."
                ) from error
            self.missing[reference] = None
            return {}


def _target(reference: str, spec: dict[str, Any]) -> Any:
    """Return the target of a reference; raise KeyError if it leads nowhere."""
    if not reference.startswith(_LOCAL):
        raise ValueError(
            f"The OpenAPI description refers to {reference!r}, which is outside the document."
            " Bundle everything into one document first."
        )
    node: Any = spec
    for step in reference.removeprefix(_LOCAL).split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(node, dict):
            raise KeyError(key)
        node = node[key]
    return node


# Names of operations and parameters as models write them (adk-runtime 8.9).


MAX_NAME = 60
"""Models reject longer names of tools."""


def snake_case(name: str) -> str:
    """Return `getPetById`, `get-pet-by-id` or `GET /pet` in lower case with underscores."""
    words = re.sub(r"[^0-9A-Za-z]+", "_", name)
    words = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", words)
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", words)
    return re.sub(r"_+", "_", words).strip("_").lower()


def argument_name(name: str) -> str:
    """Return the name of an argument, which is neither a Python keyword nor empty."""
    result = snake_case(name) or "value"
    return f"param_{result}" if keyword.iskeyword(result) else result


def unique(names: list[str]) -> list[str]:
    """Return the names with `_0`, `_1`, … appended to those that occurred before."""
    seen: dict[str, int] = {}
    unique_names = []
    for name in names:
        count = seen.get(name, 0)
        seen[name] = count + 1
        unique_names.append(f"{name}_{count - 1}" if count else name)
    return unique_names


Json = dict[str, Any]

_METHODS = ("get", "post", "put", "delete", "patch", "head", "options", "trace")
_BODY = "body"
_JSON = "application/json"
_PLACE = re.compile(r"\{([^{}]+)\}")
JSON_STYLE = "json"
"""The style of a parameter described by a `content`, which is written as JSON as a whole."""
_scheme: TypeAdapter[AuthScheme] = TypeAdapter(AuthScheme)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument, and its place in the request."""

    name: str
    """The name for the service; empty if it is the whole body."""
    argument: str
    """The name for the model."""
    where: str
    """path, query, header, cookie or body."""
    schema: Json
    required: bool = False
    style: str = "form"
    """How the request writes lists and objects: OpenAPI's name for it, or JSON_STYLE."""
    explode: bool = True
    """Whether each item is written separately, in a query under its own name."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a service."""

    name: str
    description: str
    method: str
    base_url: str
    path: str
    parameters: tuple[Parameter, ...]
    media_type: str | None
    """The media type of the request's body; None if it has none."""
    auth_scheme: AuthScheme | None

    def parameters_schema(self) -> Json:
        """Return the arguments as a JSON schema."""
        return {
            "type": "object",
            "title": f"{self.name}_arguments",
            "properties": {one.argument: one.schema for one in self.parameters},
            "required": [one.argument for one in self.parameters if one.required],
        }


def operations(spec: Json, *, preserve_property_names: bool = False) -> list[Operation]:
    """Return all operations of an OpenAPI 3 description, in its order.

    Raises:
        ValueError: it isn't such a description, a path or body refers to what it doesn't contain,
            or a parameter has no name.
    """
    if not str(spec.get("openapi", "")).startswith("3"):
        raise ValueError(
            "Not an OpenAPI 3 description: it has no `openapi: 3.…`. Convert Swagger 2 descriptions"
            " first."
        )
    whole = resolve(spec)
    reader = _Reader(whole, preserve_property_names)
    return [
        reader.operation(path, item, method)
        for path, item in (whole.get("paths") or {}).items()
        for method in _METHODS
        if isinstance(item.get(method), dict)
    ]


@dataclass(frozen=True, slots=True)
class _Reader:
    spec: Json
    preserve_property_names: bool

    def operation(self, path: str, item: Json, method: str) -> Operation:
        definition = item[method]
        media_type, body = _body(definition.get("requestBody") or {})
        outer = [*_outer(item, definition)]
        parameters = [*outer, *_undeclared(path, outer), *body]
        names = unique([self._argument(one) for one in parameters])
        name = snake_case(definition.get("operationId") or f"{path}_{method}")[:MAX_NAME]
        return Operation(
            name=name.strip("_"),
            description=definition.get("description") or definition.get("summary") or "",
            method=method.upper(),
            base_url=_base_url(definition, item, self.spec),
            path=path,
            parameters=tuple(
                replace(one, argument=name) for one, name in zip(parameters, names, strict=True)
            ),
            media_type=media_type,
            auth_scheme=self._auth_scheme(definition),
        )

    def _argument(self, parameter: Parameter) -> str:
        if not parameter.name:
            return parameter.argument
        return parameter.name if self.preserve_property_names else argument_name(parameter.name)

    def _auth_scheme(self, definition: Json) -> AuthScheme | None:
        """Return the first scheme that the operation, or else the whole description, requires."""
        demanded = definition.get("security", self.spec.get("security")) or []
        schemes = (self.spec.get("components") or {}).get("securitySchemes") or {}
        for name in [name for one in demanded for name in one]:
            if name in schemes:
                return _scheme.validate_python(schemes[name])
        return None


def _outer(item: Json, definition: Json) -> Iterator[Parameter]:
    """Yield the parameters outside the body: the operation's, and its path's unless replaced.

    If two have the same name, the first keeps it for models.
    """
    # An empty one is a reference that leads nowhere.
    own = [one for one in definition.get("parameters") or [] if one]
    common = [one for one in item.get("parameters") or [] if one]
    for one in [*own, *common]:
        if not {"name", "in"} <= one.keys():
            raise ValueError(
                f"A parameter of the OpenAPI description needs `name` and `in`, got {brief(one)}."
            )
    own_keys = {(one["name"], one["in"]) for one in own}
    more = [one for one in common if (one["name"], one["in"]) not in own_keys]
    for one in [*own, *more]:
        schema = dict(one.get("schema") or next(iter(_schemas(one.get("content"))), {}))
        if one.get("description"):
            schema["description"] = one["description"]
        required = bool(one.get("required")) or one["in"] == "path"
        # Also for cookies, although OpenAPI uses `form` for them: one text, as in google-adk.
        style = one.get("style") or ("form" if one["in"] == "query" else "simple")
        if "schema" not in one and one.get("content"):
            style = JSON_STYLE
        explode = bool(one.get("explode", style == "form"))
        yield Parameter(one["name"], "", one["in"], schema, required, style, explode)


def _undeclared(path: str, parameters: list[Parameter]) -> Iterator[Parameter]:
    """Yield the parameters in a path that the description forgot.

    Without them, the operation couldn't be called: an address with braces leads nowhere.
    """
    path_names = {one.name for one in parameters if one.where == "path"}
    for name in dict.fromkeys(_PLACE.findall(path)):
        if name not in path_names:
            yield Parameter(name, "", "path", {"type": "string"}, True, "simple", False)


def _body(definition: Json) -> tuple[str | None, list[Parameter]]:
    """Return the body's media type and parameters: an object's properties, or the whole body."""
    content = definition.get("content") or {}
    if not content:
        return None, []
    media_range = _JSON if _JSON in content else next(iter(content))
    schema = content[media_range].get("schema") or {}
    media_type = _one_type(media_range)
    if schema.get("properties"):
        fields, required = _fields(schema)
        return media_type, [
            Parameter(name, "", _BODY, one, name in required and not _is_read_only(one))
            for name, one in fields.items()
        ]
    name = "array" if schema.get("type") == "array" else _BODY
    return media_type, [Parameter("", name, _BODY, schema, bool(definition.get("required")))]


def _is_read_only(schema: Any) -> bool:
    return isinstance(schema, dict) and bool(schema.get("readOnly"))  # True allows anything


def _fields(schema: Json) -> tuple[Json, set[str]]:
    """Return the fields of an object and its `allOf`, and the names of the required ones."""
    fields, required = {**(schema.get("properties") or {})}, {*(schema.get("required") or ())}
    for base in schema.get("allOf") or ():
        more, demanded = _fields(base) if isinstance(base, dict) else ({}, set())
        fields = {**fields, **{name: one for name, one in more.items() if name not in fields}}
        required |= demanded
    return fields, required


def _one_type(media_range: str) -> str:
    """Return the type to send for a range such as `*/*`: a body has a single type."""
    if "*" not in media_range:
        return media_range
    return "text/plain" if media_range.startswith("text/") else _JSON


def _schemas(content: Json | None) -> Iterator[Json]:
    return (one.get("schema") or {} for one in (content or {}).values())


def _base_url(definition: Json, item: Json, spec: Json) -> str:
    """Return the first server's address, with its variables at their defaults."""
    servers = definition.get("servers") or item.get("servers") or spec.get("servers") or []
    if not servers:
        return ""
    url = str(servers[0].get("url", ""))
    for name, variable in (servers[0].get("variables") or {}).items():
        url = url.replace(f"{{{name}}}", str(variable.get("default", "")))
    return url.rstrip("/")
