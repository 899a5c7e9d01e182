"""Reads event streams as their clients do."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Frame:
    id: str
    event: str
    data: str


def frames(lines: Iterable[str]) -> Iterator[Any]:
    """Yield the JSON of each `data:` line, as ADK's page reads them."""
    for line in lines:
        if line.startswith("data:"):
            yield json.loads(line.removeprefix("data:"))


def messages(lines: Iterable[str]) -> Iterator[Frame]:
    """Yield the complete messages of a page's stream."""
    fields: dict[str, str] = {}
    for line in lines:
        if not line:
            if "data" in fields:
                yield Frame(fields.get("id", ""), fields.get("event", ""), fields["data"])
            fields = {"id": fields["id"]} if "id" in fields else {}
        elif not line.startswith(":"):
            name, _, value = line.partition(": ")
            old = fields.get(name)
            fields[name] = f"{old}\n{value}" if name == "data" and old is not None else value
