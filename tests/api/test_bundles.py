"""Sessions as files, over HTTP and in the terminal: exported, imported and continued in a fork."""

import base64
import json
import re

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import SAMPLES, get_session, make_session, run, running
from tests.kit.terminal import devui

BOOK = "Book a flight to London next Tuesday"
JSON = {"content-type": "application/json"}


@pytest.fixture
def booked(client):
    """A session of the travel agent with one turn, a note and a star, as the API lists it."""
    session = make_session(client, "travel")["id"]
    run(client, "travel", session, BOOK)
    query = {"app": "travel", "user": "u", "id": session}
    key = client.get("/api/sessions", params=query).json()["sessions"][0]["key"]
    client.patch(f"/api/sessions/{key}/notes/2", json={"text": "why London?", "starred": True})
    return client.get("/api/sessions", params=query).json()["sessions"][0]


def import_bundle(client, data):
    answer = client.post("/api/sessions/import", content=data, headers=JSON)
    assert answer.status_code == 201, answer.text
    return answer.json()


def contents(client, key):
    """What the API returns for a session, without the journal's own numbers."""
    path = f"/api/sessions/{key}"
    events = [
        {k: v for k, v in e.items() if k not in {"seq", "run"}}
        for e in client.get(path + "/events").json()["events"]
    ]
    spans = [
        {k: v for k, v in s.items() if k not in {"id", "run"}}
        for s in client.get(path + "/spans").json()["spans"]
    ]
    state = [
        {k: v for k, v in w.items() if k != "seq"}
        for w in client.get(path + "/state").json()["values"]
    ]
    return (
        events,
        spans,
        state,
        client.get(path + "/notes").json()["notes"],
        client.get(path + "/usage").json(),
    )


def test_an_exported_session_is_imported_and_continued_in_a_fork(client, booked):
    path = f"/api/sessions/{booked['key']}"
    answer = client.get(path + "/export")
    assert answer.headers["content-disposition"].startswith('attachment; filename="travel-')
    copy = import_bundle(client, answer.content)
    assert contents(client, copy["key"]) == contents(client, booked["key"])
    again = client.get(f"/api/sessions/{copy['key']}/export")
    assert again.content == answer.content
    of_app = client.get("/api/sessions?app=travel").json()["sessions"]
    rows = {each["key"]: each for each in of_app}
    assert rows[copy["key"]]["imported"] is True
    assert rows[booked["key"]]["imported"] is False
    refused = client.post(f"/api/sessions/{copy['key']}/runs", json={"message": "more"})
    assert refused.status_code == 409
    assert "fork it to continue" in refused.json()["detail"]
    body = {"number": copy["events"], "id": "mine"}
    fork = client.post(f"/api/sessions/{copy['key']}/forks", json=body).json()
    run(client, "travel", fork["id"], "Thank you")
    assert len(get_session(client, "travel", "mine")["events"]) > copy["events"]
    alone = client.get(f"/api/sessions/{fork['key']}/export").content
    elsewhere = import_bundle(client, alone.replace(b'"mine"', b'"alone"'))
    page = client.get(f"/sessions/{elsewhere['key']}").text
    assert "of a session that isn&#39;t here" in page  # its parent isn't in the bundle


def test_an_invalid_bundle_is_refused_with_the_reason(client):
    before = client.get("/api/sessions").json()["sessions"]
    for data, status, detail in (
        (b"", 422, "the file is empty"),
        (b'{"format":"devui.session"}', 422, "no records"),
        (b'{"format":"devui.session","version":9,"records":[\n],"count":0}', 422, "update devui"),
    ):
        answer = client.post("/api/sessions/import", content=data, headers=JSON)
        assert (answer.status_code, detail in answer.json()["detail"]) == (status, True)
    text = client.post("/api/sessions/import", content=b"x", headers={"content-type": "text/plain"})
    assert text.status_code == 415
    assert (
        client.post("/api/sessions/import?app=none", content=b"", headers=JSON).status_code == 404
    )
    assert client.get("/api/sessions").json()["sessions"] == before


def test_an_imported_session_without_a_title_gets_the_same_one(client):
    debugged = DebuggedRun(client, "travel").start("Book **London** for `Tuesday`", pause=False)
    debugged.settled()
    bundle = client.get(f"/api/sessions/{debugged.key}/export").json()
    copy = import_bundle(client, json.dumps({**bundle, "title": None}).encode())
    assert copy["title"] == bundle["title"] == "Book London for Tuesday"


MARKERS = '"__class__":"os.system","lc":1,"py/object":"os.x","$type":{"__reduce__":["id"]}'
"""Four members that object decoders look for."""


KEY = "sk-ant-" + "a1B2" * 10


def extended(text):
    """A bundle of a later devui: with unknown members in its head, records, notes and end."""
    first, *others, end = text.splitlines()
    first = first.replace('"records":[', MARKERS + ',"type":"x","records":[')
    others = [f'{each[:-1]},{MARKERS},"on":{n}}}' for n, each in enumerate(others)]
    return "\n".join([first, *others, f'{end[:-1]},"later":"{KEY}"}}', ""])


@pytest.mark.req("R27")
def test_unknown_members_are_exported_again_where_they_were(client, booked):
    client.patch(f"/api/sessions/{booked['key']}/notes/4", json={"text": "and when?"})
    plain = client.get(f"/api/sessions/{booked['key']}/export").text
    assert "unknownMembers" not in import_bundle(client, plain.encode())
    text = extended(plain)
    copy = import_bundle(client, text.encode())
    count = 5 + 5 * (len(text.splitlines()) - 2) + 1
    assert copy["unknownMembers"] == count
    assert contents(client, copy["key"]) == contents(client, booked["key"])
    page = client.get(f"/sessions/{copy['key']}").text
    assert f"{count} unrecognized fields in the file were stored but not used." in page
    path = f"/api/sessions/{copy['key']}"
    assert client.get(path + "/export?secrets=keep").text == text
    clean = text.replace(KEY, "[redacted]").replace('"redacted":0', '"redacted":1')
    assert client.get(path + "/export").text == clean
    [finding] = client.get(path + "/export/preview").json()["findings"]
    assert (finding["hint"][:3], finding["places"]) == ("sk-", ["the session's own data"])
    pretty = json.dumps(json.loads(text), indent=2)  # as an editor may have reformatted it
    again = import_bundle(client, pretty.encode())
    assert client.get(f"/api/sessions/{again['key']}/export?secrets=keep").text == text
    html = client.get(path + "/export?format=html&secrets=keep").text
    assert not any(word in html for word in ("os.system", KEY, "stored but not used"))
    fork = client.post(path + "/forks", json={"number": copy["events"], "id": "own"}).json()
    assert "os.system" not in client.get(f"/api/sessions/{fork['key']}/export").text


@pytest.mark.req("R27")
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_redacting_a_file_in_a_message_keeps_its_base64_valid(client, encode):
    """Replacing characters of the base64 itself would leave data that nothing decodes."""
    data = encode(f"\u00ff\u00fe\u00bf token={KEY}\n".encode()).decode()
    event = {
        "id": "e1",
        "author": "user",
        "content": {
            "role": "user",
            "parts": [{"inlineData": {"mimeType": "text/plain", "data": data}}],
        },
    }
    session = client.post("/apps/travel/users/u/sessions", json={"events": [event]}).json()
    query = {"app": "travel", "user": "u", "id": session["id"]}
    key = client.get("/api/sessions", params=query).json()["sessions"][0]["key"]
    text = client.get(f"/api/sessions/{key}/export").text
    events = [each for each in json.loads(text)["records"] if each["type"] == "event"]
    clean = events[0]["event"]["content"]["parts"][0]["inlineData"]["data"]
    assert "token=[redacted]" in base64.b64decode(clean, altchars=b"-_").decode()
    again = import_bundle(client, text)
    assert client.get(f"/api/sessions/{again['key']}/export").text == text
    assert "</html>" in client.get(f"/api/sessions/{key}/export?format=html").text


def test_unknown_members_of_one_note_do_not_move_to_another(client, booked):
    client.patch(f"/api/sessions/{booked['key']}/notes/4", json={"text": "and when?"})
    text = extended(client.get(f"/api/sessions/{booked['key']}/export").text)
    copy = import_bundle(client, text.encode())
    path = f"/api/sessions/{copy['key']}"
    client.patch(path + "/notes/1", json={"text": "a new one in front"})
    client.patch(path + "/notes/2", json={"text": "another text"})
    before, after = (
        {r["number"]: r.get("on") for r in json.loads(each)["records"] if r["type"] == "note"}
        for each in (text, client.get(path + "/export").text)
    )
    assert after == {1: None, 2: None, 4: before[4]}
    assert before[4] is not None


def test_notes_last_until_emptied_and_stars_filter_sessions(client, booked):
    path = f"/api/sessions/{booked['key']}/notes"
    assert client.patch(path + "/0", json={"starred": True, "actor": "Ada"}).json()["text"] == ""
    client.patch(path + "/0", json={"text": " the first booking "})
    notes = client.get(path).json()["notes"]
    assert [(n["number"], n["text"], n["starred"]) for n in notes] == [
        (0, "the first booking", True),
        (2, "why London?", True),
    ]
    starred = client.get("/api/sessions?app=travel&starred=yes").json()["sessions"]
    assert [(each["key"], each["note"]) for each in starred] == [
        (booked["key"], "the first booking")
    ]
    client.patch(path + "/2", json={"text": "", "starred": False})
    assert [note["number"] for note in client.get(path).json()["notes"]] == [0]
    assert client.patch(path + "/99", json={"text": "x"}).status_code == 404
    assert client.patch(path + "/x", json={"text": "x"}).status_code == 404
    assert client.patch(path + "/1", json={"text": "x" * 20_001}).status_code == 422


@pytest.mark.parametrize("form", ["json", "html", "adk-web", "adk", "eval-set"])
def test_the_export_page_downloads_each_format(client, booked, form):
    page = client.get(f"/sessions/{booked['key']}/export", headers={"Accept": "text/html"}).text
    [path] = re.findall(r'<form class="export"[^>]* action="([^"]+)"', page)
    assert f'<input type="radio" name="format" value="{form}"' in page
    answer = client.get(f"{path}?format={form}")
    assert answer.headers["content-disposition"].startswith("attachment")
    if form.startswith("adk"):
        assert answer.json()["appName"] == "travel"


def test_a_session_with_a_run_under_way_is_exported_as_it_is(client):
    debugged = DebuggedRun(client, "travel").start(BOOK)
    debugged.settled()
    debugged.tell("step_event")
    copy = import_bundle(client, client.get(f"/api/sessions/{debugged.key}/export").content)
    position = client.get(f"/api/sessions/{copy['key']}/run").json()
    assert position["status"] == "interrupted"
    debugged.tell("continue")


def test_the_terminal_exports_and_imports_without_a_server(tmp_path, monkeypatch):
    secret = "hunter2-hunter2"
    monkeypatch.setenv("SERVICE_PASSWORD", secret)
    with running(SAMPLES, tmp_path / "data") as server, server.client() as client:
        session = make_session(client, "travel", state={"pin": f"it is {secret}", "n": 1})["id"]
        run(client, "travel", session, BOOK)
        here = ("--data-dir", str(tmp_path / "data"))
        seen = devui("export", "--preview", *here, cwd=tmp_path)
        assert "left out: the value of a secret variable hun…(15 characters), once" in seen.stdout
        wrote = devui("export", "-o", "it.json", "--redact", "n", *here, cwd=tmp_path)
        assert (wrote.returncode, wrote.stderr) == (0, "")
        result = devui("export", session, "-o", "all.json", "--keep-secrets", *here, cwd=tmp_path)
        assert result.stdout.splitlines()[1] == "nothing left out: secrets are kept"
    assert secret in (tmp_path / "all.json").read_text()
    text = (tmp_path / "it.json").read_text()
    assert secret not in text
    assert json.loads(text)["records"][0]["state"] == {"n": "[redacted]", "pin": "it is [redacted]"}
    (tmp_path / "half.json").write_text(text[: len(text) // 2])
    (tmp_path / "it.json").write_text(text[:-2] + ',"later":[1]}\n')
    elsewhere = ("--data-dir", str(tmp_path / "other"), "--agents", str(SAMPLES))
    read = devui("import", "it.json", *elsewhere, cwd=tmp_path)
    assert (
        "session 1 “Book a flight to London next Tuesday” of travel, 8 events, read-only,"
        " 1 unrecognized field stored" in read.stdout
    )
    assert "http" not in read.stdout, "the address of a server that has ended"
    refused = devui("import", "half.json", *elsewhere, cwd=tmp_path)
    assert (refused.returncode, "line " in refused.stderr) == (2, True)
