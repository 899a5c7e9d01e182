"""The page's breakpoint forms, sent as a browser without JavaScript sends them."""

import json
import re

import pytest

HTML = {"Accept": "text/html"}
APP = "field_state"


@pytest.fixture
def form(client, server):
    """Sends a form the way a page of this server does."""
    headers = {**HTML, "Origin": server.url, "Sec-Fetch-Site": "same-origin"}
    return lambda path, **fields: client.post(path, data=fields, headers=headers)


@pytest.fixture
def page(client, form):
    """The address of a new session's page; deletes the app's breakpoints afterwards."""
    answer = form(f"/apps/{APP}/sessions", title="t")
    assert answer.status_code == 303, answer.text
    yield answer.headers["location"]
    for each in breakpoints(client):
        client.delete(f"/api/apps/{APP}/breakpoints/{each['id']}")


@pytest.fixture
def post(form, page):
    def send(path, **fields):
        return form(page + path, **fields)

    send.page = page
    return send


def breakpoints(client) -> list[dict]:
    return client.get(f"/api/apps/{APP}/breakpoints").json()["breakpoints"]


def test_the_form_adds_a_breakpoint_and_returns_to_the_tab(client, page, post):
    fields = {"when": "after", "name": "plan", "agent": "", "hit": ">= 2", "log": "{new}"}
    answer = post("/breakpoints", on="state", condition="new > 1", **fields)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{page}?tab=breaks")
    (point,) = breakpoints(client)
    values = {name: point[name] for name in ("on", "condition", "agent", *fields)}
    assert values == {"on": "state", "condition": "new > 1", **fields, "agent": "*"}


@pytest.mark.parametrize(("name", "label"), [("", "transfer"), ("clerk", "transfer to clerk")])
def test_a_transfer_breakpoint_names_its_target_if_it_has_one(client, page, post, name, label):
    post("/breakpoints", on="transfer", name=name)
    assert f">{label}<" in client.get(f"{page}?tab=breaks").text


def test_accepting_an_offer_twice_enables_one_breakpoint(client, post):
    draft = json.dumps({"on": "tool", "name": "save"})
    post("/breakpoints", draft=draft)
    (point,) = breakpoints(client)
    post(f"/breakpoints/{point['id']}", version=point["version"], enabled="no")
    assert [each["users"] for each in breakpoints(client)] == [{"user": False}]
    post("/breakpoints", draft=draft)
    assert [(each["id"], each["users"]) for each in breakpoints(client)] == [
        (point["id"], {"user": True})
    ]


def test_a_switch_on_an_outdated_page_is_refused(client, post):
    post("/breakpoints", on="final")
    (point,) = breakpoints(client)
    path, version = f"/breakpoints/{point['id']}", point["version"]
    assert post(path, version=version, enabled="no").status_code == 303
    client.patch(f"/api/apps/{APP}{path}", json={"version": version, "condition": "run.events > 3"})
    assert post(path, version=version, enabled="yes").status_code == 409
    assert post(path, enabled="yes").status_code == 400
    assert [each["users"] for each in breakpoints(client)] == [{"user": False}]


def test_a_switch_applies_to_the_sessions_user_only(client, form, post):
    post("/breakpoints", on="final")
    (point,) = breakpoints(client)
    post(f"/breakpoints/{point['id']}", version=point["version"], enabled="no")
    (now,) = breakpoints(client)
    assert (now["enabled"], now["users"], now["version"]) == (True, {"user": False}, 1)
    other = form(f"/apps/{APP}/sessions", user="ada").headers["location"]
    switch = re.compile(r'role="switch" aria-checked="(\w+)"')
    pages = [client.get(f"{page}?tab=breaks", headers=HTML).text for page in (post.page, other)]
    assert [switch.search(page)[1] for page in pages] == ["false", "true"]
    assert "turned on or off per user" in pages[1]


def test_editing_a_breakpoint_leaves_its_switch_alone(client, page, post):
    post("/breakpoints", on="state", name="plan", condition="new > 1", log="{new}")
    (point,) = breakpoints(client)
    path = f"/breakpoints/{point['id']}"
    post(path, version=1, enabled="no")
    html = client.get(f"{page}?tab=breaks", headers=HTML).text
    here = f'id="b-{point["id"]}-condition" name="condition" value="new &gt; 1"'
    assert here in html
    fields = {"on": "state", "name": "plan_*", "condition": "new > 2", "hit": "% 2", "log": ""}
    answer = post(f"{path}/edit", version=1, **fields)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{page}?tab=breaks")
    (now,) = breakpoints(client)
    assert {name: now[name] for name in fields} == fields
    assert (now["id"], now["version"], now["users"]) == (point["id"], 2, {"user": False})


def test_a_refused_or_outdated_edit_keeps_the_users_input(client, post):
    post("/breakpoints", on="tool", name="save")
    (point,) = breakpoints(client)
    path = f"/breakpoints/{point['id']}/edit"
    wrong = post(path, version=1, on="tool", name="sa*", condition="args.n >")
    assert wrong.status_code == 422
    assert re.search(r'<details class="break-edit" id="b-\d+-edit" open>', wrong.text)
    assert 'value="args.n &gt;" ' in wrong.text
    assert re.search(r'id="b-\d+-condition-error".*column 9', wrong.text)
    assert 'id="break-condition" name="condition" value=""' in wrong.text
    client.patch(f"/api/apps/{APP}{path[:-5]}", json={"version": 1, "condition": "args.n == 7"})
    late = post(path, version=1, on="tool", name="sa*", condition="args.n > 3")
    assert late.status_code == 409
    assert "It is now <b hx-ignore>tool save if args.n == 7</b>" in late.text
    assert 'value="args.n &gt; 3" ' in late.text
    assert '<input type="hidden" name="version" value="2">' in late.text
    assert breakpoints(client)[0]["condition"] == "args.n == 7"
    assert post(path, version=2, on="tool", condition="args.n > 3").status_code == 303
    assert breakpoints(client)[0]["condition"] == "args.n > 3"
    assert post("/breakpoints/999/edit", version=1, on="tool").status_code == 404
    assert post(path, on="tool").status_code == 400


def test_requests_for_missing_breakpoints_and_events_add_nothing(client, page, post):
    assert post("/breakpoints/999", version=1, enabled="no").status_code == 404
    assert post("/breakpoints/999/delete").status_code == 303
    assert post("/breakpoints", event="").status_code == 422
    assert post("/breakpoints", event="7").status_code == 404
    assert post("/breakpoints", draft="{oops").status_code == 400
    assert post("/breakpoints", draft="[]").status_code == 422
    missing = client.get(f"{page}?tab=breaks&hits=999", headers=HTML)
    assert missing.status_code == 404
    assert breakpoints(client) == []


def test_a_refused_form_keeps_the_users_input_and_marks_the_mistake(post):
    answer = post("/breakpoints", on="budget", condition="run.tokens >< 3", log="<b>{</b>")
    assert answer.status_code == 422
    assert 'value="run.tokens &gt;&lt; 3"' in answer.text
    assert 'value="&lt;b&gt;{&lt;/b&gt;"' in answer.text
    assert re.search(r"run\.tokens &gt;<mark>&lt;</mark> 3", answer.text)


# --- the gutter ------------------------------------------------------------------------------


@pytest.fixture
def events(client, page):
    """The events of the session after one run: #2 is the reader's answer, with its state change."""
    key = page.rpartition("/")[2]
    debugged = client.post(f"/api/sessions/{key}/runs", json={"message": "go"}).json()
    path = f"/api/runs/{debugged['run']}"
    while (now := client.get(path).json())["status"] in {"running", "stopping"}:
        client.get(path, params={"after": now["position"]})
    return client.get(f"/api/sessions/{key}/events").json()["events"]


def marks(client, page) -> dict[int, tuple[str, str]]:
    """The classes and labels of the gutter's marks, by event number."""
    text = client.get(page, headers=HTML).text
    matches = re.findall(
        r'id="g-(\d+)">\s*<a [^>]*class="stop-here(?: at-)?([^"]*)"[^>]* aria-label="([^"]*)"', text
    )
    return {int(number): (shape, words) for number, shape, words in matches if shape}


def test_the_gutter_marks_matching_events_by_kind_of_breakpoint(client, page, post, events):
    assert marks(client, page) == {}
    post("/breakpoints", on="event", name="user", log="{text}")
    post("/breakpoints", on="final", condition="run.events > 99")
    post("/breakpoints", on="event", agent=events[-1]["author"])
    final = events[-1]["number"]
    shapes = {number: shape for number, (shape, _) in marks(client, page).items()}
    assert (shapes[1], shapes[final]) == ("log", "break")
    for each in breakpoints(client):
        path = f"/breakpoints/{each['id']}"
        post(path, version=each["version"], enabled="no" if each["on"] != "final" else "yes")
    by_number = marks(client, page)
    assert by_number[final][0] == "conditional"
    assert "Breakpoint" in by_number[final][1]
    assert ", if run.events &gt; 99; Breakpoint" in by_number[final][1]
    number = breakpoints(client)[0]["id"]
    assert by_number[1] == (
        "log off",
        f"Logpoint {number}: user event, off. Break on events like #1",
    )


@pytest.mark.parametrize(
    ("take", "more", "expected"),
    [
        (["kind", "agent"], {}, {"on": "event", "name": "user", "agent": "user"}),
        (
            ["kind"],
            {"condition": "run.events > 1"},
            {"on": "event", "name": "user", "condition": "run.events > 1"},
        ),
        ([], {}, {"on": "event", "name": "*", "agent": "*"}),
        (["agent"], {"do": "log", "log": ""}, {"agent": "user", "log": "{agent}: {text}"}),
        (["agent"], {"do": "log", "log": "hi {text}"}, {"agent": "user", "log": "hi {text}"}),
    ],
)
def test_facts_taken_from_an_event_make_a_breakpoint(client, post, events, take, more, expected):
    fields = {"do": "break", "log": "not meant", "condition": "", **more}
    assert post("/breakpoints", like=1, take=take, **fields).status_code == 303
    (point,) = breakpoints(client)
    assert {name: point[name] for name in expected} == expected
    assert bool(point["log"]) == (fields["do"] == "log")


def test_an_invalid_breakpoint_from_an_event_is_refused(client, post, events):
    assert post("/breakpoints", like=1, take="kind", condition="text >").status_code == 422
    assert post("/breakpoints", like=99, take="kind").status_code == 404
    assert post("/breakpoints", like="", take="kind").status_code == 422
    assert breakpoints(client) == []


def test_the_hit_links_visit_the_hits_of_enabled_breakpoints(client, page, post, events):
    def go(direction, **query):
        answer = client.get(f"{page}/hits/{direction}", params=query, headers=HTML)
        assert answer.status_code == 303
        return answer.headers["location"].removeprefix(page)

    assert go("previous") == ""
    post("/breakpoints", on="event", name="user")
    post("/breakpoints", on="final", log="{text}")
    (_, logs) = breakpoints(client)
    last = go("previous", tab="raw")
    assert last.endswith("&tab=raw")
    assert last != "?event=1&tab=raw"
    number = re.search(r"event=(\d+)", last)[1]
    assert go("previous", event=number) == "?event=1"
    assert go("previous", event=1) == "?event=1"
    assert go("next", event=1) == f"?event={number}"
    assert go("next", event=number) == f"?event={number}"
    post(f"/breakpoints/{logs['id']}", version=logs["version"], enabled="no")
    assert go("previous") == "?event=1"
    assert client.get(f"{page}/hits/previous?event=99", headers=HTML).status_code == 404
