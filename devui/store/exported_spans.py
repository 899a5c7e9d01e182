"""The spans of a session as records of an export, with the pieces of what was sent."""

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from devui.store.database import Snapshot
from devui.store.values import parsed

Record = dict[str, Any]
"""One of an export: a dict with the key `type`."""

_BATCH = 200

# A fork's events were recorded in the sessions that they come from.
_SPANS = """
    WITH RECURSIVE line (session, until) AS (
        SELECT ?1, NULL UNION ALL
        SELECT parent, min(number, coalesce(until, number)) FROM forks JOIN line USING (session)
    )
    SELECT id, run, number, parent, type, name, agent, branch, call, event, began, seconds, first,
           error, sent, result, effects
    FROM line JOIN spans USING (session)
    WHERE id > ?2 AND (until IS NULL OR event <= until) ORDER BY id LIMIT ?3
"""
_PIECES = """
    WITH RECURSIVE line (session) AS (
        SELECT ?1 UNION ALL SELECT parent FROM forks JOIN line USING (session)
    )
    SELECT DISTINCT name, data FROM line JOIN pieces USING (session)
    WHERE name IN (SELECT value FROM json_each(?2))
"""


async def spans(snapshot: Snapshot, session: int) -> AsyncIterator[Record]:
    """Spans, each after those pieces of its request that no span before it has."""
    after, known = 0, set[str]()
    while rows := await snapshot.fetch(_SPANS, session, after, _BATCH):
        for row in rows:
            span = _span(row)
            names = names_in(span["sent"]) if span["kind"] == "model" else ()
            wanted = [name for name in names if name not in known]
            known.update(wanted)
            found = dict(await snapshot.fetch(_PIECES, session, json.dumps(wanted)))
            for name in dict.fromkeys(name for name in wanted if name in found):
                yield {"type": "piece", "name": name, "data": parsed(found[name])}
            yield span
        after = rows[-1][0]


def names_in(sent: object) -> Iterator[str]:
    """The names of pieces in what a model call was sent."""
    told = sent if isinstance(sent, dict) else {}
    for value in (told.get(member) for member in ("system", "config", "tools", "contents")):
        for name in value if isinstance(value, list) else [value]:
            if isinstance(name, str):
                yield name


def _span(row: Sequence[Any]) -> Record:
    names = ("run", "number", "parent", "kind", "name", "agent", "branch", "call", "event")
    times = ("began", "seconds", "first", "error")
    _, *told, sent, result, effects = row
    span = dict(zip((*names, *times), told, strict=True))
    bodies = {"sent": optional(sent), "result": optional(result)}
    bodies |= {"effects": parsed(effects)} if effects is not None else {}
    return {"type": "span", **span, **bodies}


def optional(text: str | None) -> Any:
    """The value of a stored JSON text, if there is one."""
    return None if text is None else parsed(text)
