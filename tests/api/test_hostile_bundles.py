"""Randomly changed bundles are refused as a whole with the place, or imported intact."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.kit.journal_checks import look_through
from tests.kit.rounds import rounds
from tests.kit.server import SAMPLES, make_session, run, running

JSON = {"content-type": "application/json"}
PLACE = re.compile(r"line \d+|the file|the beginning|the end|record \d+|the start record")
"""How a refusal names the place."""

VALUE = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        7,
        2**63,
        10**40,
        1.5e308,
        "",
        "x",
        "a\0b",
        "\ud800",
        "r9",
        "p9",
        [],
        [1],
        {},
        {"\0": 1},
        {"a": {"\udfff": "x"}},
    ]
)
CHANGE = st.one_of(
    st.tuples(st.sampled_from(["drop", "repeat"]), st.integers(0, 99)),
    st.tuples(st.just("swap"), st.integers(0, 99), st.integers(0, 99)),
    st.tuples(st.just("set"), st.integers(0, 99), st.integers(0, 99), VALUE),
    st.tuples(st.just("remove"), st.integers(0, 99), st.integers(0, 99)),
)


def members(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every member of a JSON value, as its container and its name there."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for name, each in list(pairs):
        yield value, name
        if isinstance(each, dict | list):
            yield from members(each)


def changed(text: str, changes: list[Any]) -> bytes:
    """The bundle after the changes, with a correct count."""
    whole = json.loads(text)
    records = whole["records"]
    for what, place, *rest in changes:
        place %= len(records) + 1
        if place == len(records):
            target = {name: value for name, value in whole.items() if name != "records"}
        else:
            target = records[place]
        if what in {"set", "remove"}:
            choices = list(members(target))
            holder, name = choices[rest[0] % len(choices)]
            if what == "set":
                holder[name] = rest[1]
            else:
                del holder[name]
            whole |= target if place == len(records) else {}
        elif place < len(records) > 1:
            if what == "drop":
                del records[place]
            elif what == "repeat":
                records.insert(place, json.loads(json.dumps(target)))
            else:
                other = rest[0] % len(records)
                records[place], records[other] = records[other], records[place]
    head = {name: value for name, value in whole.items() if name not in {"records", "redacted"}}
    head.pop("count")
    end = {"count": len(records), "redacted": whole["redacted"]}
    lines = ",\n".join(json.dumps(record) for record in records)
    return f'{json.dumps(head)[:-1]},"records":[\n{lines}\n],{json.dumps(end)[1:]}\n'.encode()


class Served(NamedTuple):
    """A server, and the bundles of a session and of a fork of it."""

    client: Any
    folder: Path
    bundles: list[str]

    def __repr__(self) -> str:
        return "served"


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[Served]:
    data = tmp_path_factory.mktemp("hostile") / "data"
    with running(SAMPLES, data) as server, server.client() as client:
        session = make_session(client, "travel", state={"user:name": "Ada", "n": 1})["id"]
        run(client, "travel", session, "Book a flight to London next Tuesday")
        [row] = client.get("/api/sessions?app=travel").json()["sessions"]
        client.patch(f"/api/sessions/{row['key']}/notes/2", json={"text": "why?"})
        body = {"number": row["events"] - 1, "id": "fork"}
        fork = client.post(f"/api/sessions/{row['key']}/forks", json=body).json()
        run(client, "travel", "fork", "Thank you")
        keys = (row["key"], fork["key"])
        yield Served(client, data, [client.get(f"/api/sessions/{key}/export").text for key in keys])


def import_bundle(client: Any, data: bytes) -> Any:
    return client.post("/api/sessions/import", content=data, headers=JSON)


@pytest.mark.req("R27")
@settings(
    max_examples=rounds(30, 80),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(which=st.integers(0, 1), changes=st.lists(CHANGE, min_size=1, max_size=3))
def test_a_changed_bundle_is_refused_with_the_place_or_imported(served, which, changes) -> None:
    client, folder, bundles = served
    before = client.get("/api/sessions").json()["sessions"]
    answer = import_bundle(client, changed(bundles[which], changes))
    if answer.status_code != 201:
        assert answer.status_code == 422, answer.text
        assert PLACE.match(answer.json()["detail"]), answer.text
        assert client.get("/api/sessions").json()["sessions"] == before
        return
    look_through(folder)
    key, last = answer.json()["key"], answer.json()["events"]
    page, api = f"/sessions/{key}", f"/api/sessions/{key}"
    paths = [f"{page}?tab={tab}" for tab in ("state", "request", "run", "artifacts")]
    paths.append(f"{page}?view=trace")
    paths += [page, f"{page}/events/{last}", f"{page}/export", "/"] if last else [page]
    paths += [f"{api}/{part}" for part in ("events", "spans", "state", "usage", "notes", "run")]
    for path in paths:
        view = client.get(path)
        assert view.status_code == 200, (path, view.text)
    export = client.get(f"{api}/export")
    again = import_bundle(client, export.content)
    assert again.status_code == 201, again.text
    for each in (key, again.json()["key"]):
        client.delete(f"{api.replace(str(key), str(each))}")


@pytest.mark.req("R27")
@pytest.mark.parametrize(
    ("kind", "change", "sentence"),
    [
        ("span", {"run": "r99"}, "run r99 wasn't recorded before"),
        ("event", {"run": "r99"}, "the record of run r99 is missing"),
        ("span", {"parent": 999}, "is missing before it"),
        ("note", {"number": 999}, "there is no event #999"),
        ("note", {"text": "\ud800"}, "lone surrogate"),
        ("note", {"text": "a\0b"}, "NUL"),
        ("run", {"message": {"parts": [{"text": "\udfff"}]}}, "lone surrogate"),
    ],
)
def test_an_invalid_record_is_refused_with_its_line(served, kind, change, sentence) -> None:
    client, _, bundles = served
    lines = bundles[0].splitlines()
    place = [n for n, line in enumerate(lines) if f'"type":"{kind}"' in line][-1]
    comma = "," if lines[place].startswith(",") else ""
    lines[place] = comma + json.dumps(json.loads(lines[place].lstrip(",")) | change)
    answer = import_bundle(client, "\n".join(lines).encode())
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(f"line {place + 1}: ")
    assert sentence in answer.json()["detail"]
