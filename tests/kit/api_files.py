"""The files about the HTTP API that `scripts/describe` generates from its routes.

docs/guide/openapi.json is what the server returns at /openapi.json; in docs/guide/api.md, the
tables of endpoints are generated.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from devui.web.openapi import Endpoint, document, endpoints
from tests.source import ROOT

DOCUMENT = ROOT / "docs" / "guide" / "openapi.json"
PAGE = ROOT / "docs" / "guide" / "api.md"
TABLE = re.compile(r"(<!-- scripts/describe writes this table: (.+?) -->\n).*?\n(?=\n)", re.DOTALL)
"""The first line names the families of endpoints in the table."""
COMMON = frozenset({400, 404, 422})
"""Statuses that the page explains once, for all endpoints."""
LISTS = 3
"""The most lists in one answer for which the table names the members of their items."""
EXPLAINED = {
    "Position": "the run's position, see below",
    "AdkEvent": "an event",
    "AdkPart": "",
}
"""The wording for common answers; "" if the endpoints' summaries cover them."""
PLAIN = {"string": '"…"', "integer": "0"}
"""What stands for the items of lists that have no members."""


def files() -> dict[Path, str]:
    """Return the intended content of each file."""
    page = PAGE.read_text(encoding="utf-8")
    return {
        DOCUMENT: json.dumps(document(), indent=1, ensure_ascii=False) + "\n",
        PAGE: TABLE.sub(lambda match: match[1] + table(match[2].split(", ")), page),
    }


def table(families: list[str]) -> str:
    """Return the endpoints of some families as a Markdown table."""
    rows = [row(each) for each in endpoints() if each.family in families]
    assert rows, families
    return "\n".join(["| request | what |", "|---|---|", *rows, ""])


def row(endpoint: Endpoint) -> str:
    """Return the table row of an endpoint: what it does, what it takes, what it answers."""
    description = " ".join(endpoint.description.split())
    parts = [f"{endpoint.summary}.", description, *details(endpoint)]
    request = f"`{endpoint.method.upper()} {endpoint.path}`"
    return f"| {request} | {' '.join(part for part in parts if part)} |"


def details(endpoint: Endpoint) -> Iterator[str]:
    operation = document()["paths"][endpoint.path][endpoint.method]
    queries = [
        f"`{name}`" + (f" ({uncapitalized(each.description)})" if each.description else "")
        for name, each in endpoint.operation.query.items()
    ]
    if queries:
        yield f"Query: {', '.join(queries)}."
    if body := operation.get("requestBody"):
        yield f"Body: {shape(body['content'])}."
    status = endpoint.operation.status
    if status is None:  # The summary says why it is refused.
        return
    content = operation["responses"][str(status)].get("content")
    if content and (answer := shape(content)):
        yield f"Answer{'' if status == 200 else f' ({status})'}: {answer}."
    for each in endpoint.refusals:
        if each.status not in COMMON:
            yield f"{each.status}: {each.description}."


def uncapitalized(text: str) -> str:
    return text[0].lower() + text[1:]


def shape(content: dict[str, Any]) -> str:
    """Describe a body; "" if the summary says it all."""
    [media] = content.values()
    schema = media["schema"]
    if "discriminator" in schema:
        return "one of the messages below"
    return " or ".join(filter(None, map(form, schema.get("anyOf", [schema]))))


def form(schema: dict[str, Any]) -> str:
    """Describe one of the types of a body."""
    name = schema_name(schema)
    if name in EXPLAINED:
        return EXPLAINED[name]
    text = outline(schema)
    return f"`{text}`" if text else str(schema.get("description", "")).rstrip(".")


def outline(schema: dict[str, Any]) -> str:
    """List the members of an object, or of the items in a list or object."""
    if schema_name(schema) in EXPLAINED:
        return ""
    schema = resolved(schema)
    if "properties" in schema:
        return f"{{{', '.join(members(schema, is_outer=True))}}}"
    each = schema.get("items", schema.get("additionalProperties"))
    inner = (outline(each) or PLAIN.get(each.get("type"))) if isinstance(each, dict) else ""
    if not inner:
        return ""
    return f"[{inner}]" if "items" in schema else f'{{"…": {inner}}}'


def members(schema: dict[str, Any], *, is_outer: bool) -> Iterator[str]:
    """Yield the names of an object's members, and those of list items if few members are lists."""
    lists = {
        name: items
        for name, each in schema["properties"].items()
        if "properties" in (items := resolved(each.get("items", {})))
        and schema_name(each["items"]) not in EXPLAINED
    }
    for name in schema["properties"]:
        if is_outer and name in lists and len(lists) <= LISTS:
            yield f'"{name}": [{{{", ".join(members(lists[name], is_outer=False))}}}]'
        else:
            yield f'"{name}"'


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    name = schema_name(schema)
    return document()["components"]["schemas"][name] if name else schema


def schema_name(schema: dict[str, Any]) -> str:
    return str(schema.get("$ref", "").rpartition("/")[2])


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
