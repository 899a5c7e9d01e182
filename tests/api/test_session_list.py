"""The list of an app's sessions over HTTP; exporting and deleting several together."""

import io
import re
import zipfile

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import make_session, run


def list_ids(client, query):
    answer = client.get(f"/api/sessions?app=summary&q=list-&{query}").json()
    return [each["id"] for each in answer["sessions"]], answer["total"]


def post(client, action, fields):
    """Send a form as the app's page does."""
    path = f"/apps/summary/sessions/{action}"
    return client.post(path, data=fields, headers=origin(client))


def origin(client):
    return {"Origin": str(client.base_url).rstrip("/")}


def test_every_list_of_sessions_starts_with_the_latest_activity(client):
    events = {
        "order-a": [{"author": "user", "timestamp": 3e9}],
        "order-b": [{"author": "user", "timestamp": 1e9}],
        "order-c": [],
    }
    for name, each in events.items():
        make_session(client, "summary", sessionId=name, events=each)
    sessions = client.get("/api/sessions?app=summary&q=order-").json()["sessions"]
    keys = {each["id"]: each["key"] for each in sessions}
    for key in keys.values():
        client.patch(f"/api/sessions/{key}/notes/0", json={"starred": True})
    title = {"title": "order-b"}
    client.post(f"/sessions/{keys['order-b']}/title", data=title, headers=origin(client))
    expected = ["order-a", "order-c", "order-b"]
    queries = (
        "",
        "app=summary",
        "app=summary&user=u",
        "starred=yes",
        "app=summary&page=1&q=order-",
    )
    for query in queries:
        rows = client.get(f"/api/sessions?{query}").json()["sessions"]
        assert [each["id"] for each in rows if each["id"] in keys] == expected, query
    make_session(client, "travel", sessionId="order-b")
    rows = client.get("/api/sessions?id=order-b").json()["sessions"]
    assert [each["app"] for each in rows] == ["travel", "summary"]


def test_selected_sessions_are_exported_and_deleted_together(client):
    for name in ("list-a", "list-b"):
        make_session(client, "summary", sessionId=name)
    run(client, "summary", "list-a", "Shorter, please: one sentence")
    position = DebuggedRun(client, "summary", sessionId="list-c").start("Shorter, please").settled()
    assert position["status"] == "held"
    assert list_ids(client, "sort=events") == (["list-a", "list-c", "list-b"], 3)
    assert list_ids(client, "order=asc") == (["list-b", "list-a", "list-c"], 3)
    keys = client.get("/api/sessions?app=summary&q=list-b").json()["sessions"]
    client.post(
        f"/sessions/{keys[0]['key']}/title", data={"title": "list-b"}, headers=origin(client)
    )
    assert list_ids(client, "order=desc")[0] == ["list-c", "list-a", "list-b"]  # titles don't count
    assert list_ids(client, "status=held") == (["list-c"], 1)
    assert list_ids(client, "status=done") == (["list-a"], 1)
    assert list_ids(client, "page=9") == ([], 3)
    long = f"app=summary&q={30_000 * '_'}"
    for wrong in ("app=summary&sort=age", "sort=title", "app=summary&user=u&sort=title", long):
        assert client.get(f"/api/sessions?{wrong}").status_code == 400

    sessions = client.get("/api/sessions?app=summary&q=list-").json()["sessions"]
    keys = {each["id"]: each["key"] for each in sessions}
    elsewhere = make_session(client, "travel")["id"]
    [other] = client.get(f"/api/sessions?app=travel&id={elsewhere}").json()["sessions"]
    selection = {"session": [keys["list-a"], keys["list-b"], other["key"]]}
    answer = post(client, "export", selection)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    single = [
        client.get(f"/api/sessions/{keys[name]}/export").content for name in ("list-a", "list-b")
    ]
    assert sorted(files.values()) == sorted(single)

    selection = {"session": list(keys.values())}
    dialog = post(client, "delete", selection)
    assert "Delete 2 sessions?" in dialog.text
    assert "A run is in progress" in dialog.text
    assert list_ids(client, "page=1")[1] == 3
    done = post(client, "delete?sort=title", {**selection, "confirm": "yes"})
    assert (done.status_code, done.headers["location"]) == (
        303,
        "/apps/summary?sort=title&deleted=2#sessions",
    )
    assert list_ids(client, "page=1") == (["list-c"], 1)
    selection = {"session": [keys["list-a"], keys["list-b"]]}
    assert post(client, "delete", {**selection, "confirm": "yes"}).status_code == 303  # sent twice
    again = post(client, "export", selection)
    assert (again.status_code, "no longer exist" in again.text) == (422, True)


def test_all_sessions_of_a_filtered_list_are_tagged_exported_and_deleted(client):
    names = [f"whole-{number}" for number in range(120)]
    for name in names:
        make_session(client, "summary", sessionId=name)
    make_session(client, "summary", sessionId="other")
    chosen = {"all": "yes", "session": "1"}
    post(client, "tags?q=whole-&page=2", {**chosen, "tags": "whole", "do": "add"})
    assert client.get("/api/sessions?app=summary&q=tag:whole").json()["total"] == 120
    with zipfile.ZipFile(io.BytesIO(post(client, "export?q=whole-", chosen).content)) as archive:
        assert len(archive.namelist()) == 120
    page = post(client, "delete?q=whole-", chosen).text
    assert page.count("<li>") == 100
    assert "20 more" in page
    [keys] = re.findall(r'name="session" value="([\d,]+)"', page)
    make_session(client, "summary", sessionId="whole-new")
    done = post(client, "delete?q=whole-", {"session": keys, "confirm": "yes"})
    assert "Deleted 120 sessions." in client.get(done.headers["location"]).text
    left = client.get("/api/sessions?app=summary&q=whole-").json()["sessions"]
    assert [each["id"] for each in left] == ["whole-new"]


@pytest.mark.parametrize("chosen", [{}, {"session": "0"}, {"session": ["x", "9" * 30]}])
def test_an_empty_selection_is_refused(client, chosen):
    for action in ("export", "delete"):
        answer = post(client, action, chosen)
        assert (answer.status_code, "no session is selected" in answer.text) == (422, True)
