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

# Following `$ref` within an OpenAPI description (adk-runtime 8.9).


logger = logging.getLogger(__name__)

_LOCAL = "#/"
_NEEDED = ("paths", "requestBody")
"""Without them a tool would be another: it would be missing, or send less than it should."""


def resolve(spec: dict[str, Any]) -> dict[str, Any]:
    """A copy of the description in which what is referred to stands in the reference's place.

    A reference back into itself becomes `{}`, which allows anything, and so does one that leads
    nowhere, of which a warning tells: many a description has some in what no tool needs. Raises
    ValueError if the paths or a request's body lead nowhere, and for a reference that leads out
    of the description.
    """
    resolver = _Resolver(spec)
    copy = resolver.resolve(spec)
    if resolver.missing:
        logger.warning(
            "The OpenAPI description refers to what it does not hold, and anything is allowed"
            " there: %s.",
            ", ".join(resolver.missing),
        )
    assert isinstance(copy, dict)  # noqa: S101  a dict without $ref stays one
    return copy


class _Resolver:
    """Follows references. What is found for one may stand in several places."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._spec = spec
        self.missing: dict[str, None] = {}
        """The references that lead nowhere, in the order in which they were met."""
        self._whole: dict[str, Any] = {}
        """What stands for references that are in no other."""
        self._parts: dict[str, Any] = {}
        """What stands for those in the one that is followed: made once, for where all refer to all
        there are more ways through them than anybody could go."""
        self._within: list[str] = []

    def resolve(self, node: Any, *, is_needed: bool = False) -> Any:
        """What stands in the node's place; ValueError if it `is_needed` and leads nowhere."""
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
        # What leads nowhere stands as `{}`, which is too little for what is needed.
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
    """What a reference leads to; KeyError if that is nowhere."""
    if not reference.startswith(_LOCAL):
        raise ValueError(
            f"The OpenAPI description refers to {reference!r}, outside of itself. Put it into one"
            " document first."
        )
    node: Any = spec
    for step in reference.removeprefix(_LOCAL).split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(node, dict):
            raise KeyError(key)
        node = node[key]
    return node


# Names of operations and parameters as a model writes them (adk-runtime 8.9).


MAX_NAME = 60
"""Models refuse longer names of tools."""


def snake_case(name: str) -> str:
    """`getPetById`, `get-pet-by-id` and `GET /pet` in lower case with underscores."""
    words = re.sub(r"[^0-9A-Za-z]+", "_", name)
    words = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", words)
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", words)
    return re.sub(r"_+", "_", words).strip("_").lower()


def argument_name(name: str) -> str:
    """The name of an argument: no keyword of Python, and not empty."""
    result = snake_case(name) or "value"
    return f"param_{result}" if keyword.iskeyword(result) else result


def unique(names: list[str]) -> list[str]:
    """The names with `_0`, `_1`, … after those that came before."""
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
"""For a parameter that is described by a `content`, which is written as JSON as a whole."""
_scheme: TypeAdapter[AuthScheme] = TypeAdapter(AuthScheme)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument and where in the request it goes."""

    name: str
    """As the service knows it; empty if it is the whole body."""
    argument: str
    """As the model knows it."""
    where: str
    """path, query, header, cookie or body."""
    schema: Json
    required: bool = False
    style: str = "form"
    """How the request holds lists and objects: OpenAPI's name for it, or JSON_STYLE."""
    explode: bool = True
    """Whether each item stands by itself, in a query with a name of its own."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that a service can do."""

    name: str
    description: str
    method: str
    base_url: str
    path: str
    parameters: tuple[Parameter, ...]
    media_type: str | None
    """Of the request's body; None if it has none."""
    auth_scheme: AuthScheme | None

    def parameters_schema(self) -> Json:
        """The arguments as a JSON schema."""
        return {
            "type": "object",
            "title": f"{self.name}_arguments",
            "properties": {one.argument: one.schema for one in self.parameters},
            "required": [one.argument for one in self.parameters if one.required],
        }


def operations(spec: Json, *, preserve_property_names: bool = False) -> list[Operation]:
    """All operations of a description in OpenAPI 3, in its order.

    Raises:
        ValueError: it is no such description, its paths or a body refer to what it does not hold,
            or a parameter has no name.
    """
    if not str(spec.get("openapi", "")).startswith("3"):
        raise ValueError(
            "This is no OpenAPI 3 description: it has no `openapi: 3.…`. Descriptions in Swagger 2"
            " need to be converted first."
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
        """The first scheme that the operation, or else the description as a whole, demands."""
        demanded = definition.get("security", self.spec.get("security")) or []
        schemes = (self.spec.get("components") or {}).get("securitySchemes") or {}
        for name in [name for one in demanded for name in one]:
            if name in schemes:
                return _scheme.validate_python(schemes[name])
        return None


def _outer(item: Json, definition: Json) -> Iterator[Parameter]:
    """Parameters outside the body: those of the operation, and those of its path not replaced.

    The first of two with one name has it for models, too.
    """
    # One that is empty was referred to and is not there.
    own = [one for one in definition.get("parameters") or [] if one]
    common = [one for one in item.get("parameters") or [] if one]
    for one in [*own, *common]:
        if not {"name", "in"} <= one.keys():
            raise ValueError(
                "A parameter of the OpenAPI description needs `name` and `in`, but is"
                f" {brief(one)}."
            )
    own_keys = {(one["name"], one["in"]) for one in own}
    more = [one for one in common if (one["name"], one["in"]) not in own_keys]
    for one in [*own, *more]:
        schema = dict(one.get("schema") or next(iter(_schemas(one.get("content"))), {}))
        if one.get("description"):
            schema["description"] = one["description"]
        required = bool(one.get("required")) or one["in"] == "path"
        # Cookies, too, though OpenAPI has `form` for them: as one text, as in google-adk.
        style = one.get("style") or ("form" if one["in"] == "query" else "simple")
        if "schema" not in one and one.get("content"):
            style = JSON_STYLE
        explode = bool(one.get("explode", style == "form"))
        yield Parameter(one["name"], "", one["in"], schema, required, style, explode)


def _undeclared(path: str, parameters: list[Parameter]) -> Iterator[Parameter]:
    """What a path has a place for, and the description forgets to describe.

    Nothing could be called without it: an address with braces in it leads nowhere.
    """
    path_names = {one.name for one in parameters if one.where == "path"}
    for name in dict.fromkeys(_PLACE.findall(path)):
        if name not in path_names:
            yield Parameter(name, "", "path", {"type": "string"}, True, "simple", False)


def _body(definition: Json) -> tuple[str | None, list[Parameter]]:
    """The body's media type and its parameters: an object's properties, or the whole."""
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
    """The fields of an object, its own and those of `allOf`; and which of them `required` names."""
    fields, required = {**(schema.get("properties") or {})}, {*(schema.get("required") or ())}
    for base in schema.get("allOf") or ():
        more, demanded = _fields(base) if isinstance(base, dict) else ({}, set())
        fields = {**fields, **{name: one for name, one in more.items() if name not in fields}}
        required |= demanded
    return fields, required


def _one_type(media_range: str) -> str:
    """The type to send where a range of them, such as `*/*`, is named: no body is a range."""
    if "*" not in media_range:
        return media_range
    return "text/plain" if media_range.startswith("text/") else _JSON


def _schemas(content: Json | None) -> Iterator[Json]:
    return (one.get("schema") or {} for one in (content or {}).values())


def _base_url(definition: Json, item: Json, spec: Json) -> str:
    """The first server's address, its variables at their defaults."""
    servers = definition.get("servers") or item.get("servers") or spec.get("servers") or []
    if not servers:
        return ""
    url = str(servers[0].get("url", ""))
    for name, variable in (servers[0].get("variables") or {}).items():
        url = url.replace(f"{{{name}}}", str(variable.get("default", "")))
    return url.rstrip("/")
