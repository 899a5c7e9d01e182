"""The page's forms for breakpoints, sent as a browser without JavaScript sends them."""

import json
import re

import pytest

HTML = {"Accept": "text/html"}
APP = "field_state"


@pytest.fixture
def form(client, server):
    """Sends a form as a page of this server does."""
    headers = {**HTML, "Origin": server.url, "Sec-Fetch-Site": "same-origin"}
    return lambda path, **fields: client.post(path, data=fields, headers=headers)


@pytest.fixture
def page(client, form):
    """The address of a new session's page; the app's breakpoints are gone afterwards."""
    made = form(f"/apps/{APP}/sessions", title="t")
    assert made.status_code == 303, made.text
    yield made.headers["location"]
    for each in known(client):
        client.delete(f"/api/apps/{APP}/breakpoints/{each['id']}")


@pytest.fixture
def post(form, page):
    return lambda path, **fields: form(page + path, **fields)


def known(client) -> list[dict]:
    return client.get(f"/api/apps/{APP}/breakpoints").json()


def test_a_form_makes_the_breakpoint_that_it_says_and_leads_back_to_the_tab(client, page, post):
    fields = {"when": "after", "name": "plan", "agent": "", "hit": ">= 2", "log": "{new}"}
    answer = post("/breakpoints", on="state", condition="new > 1", **fields)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{page}?tab=breaks")
    (made,) = known(client)
    told = {name: made[name] for name in ("on", "condition", "agent", *fields)}
    assert told == {"on": "state", "condition": "new > 1", **fields, "agent": "*"}


def test_the_same_offer_twice_is_one_breakpoint_that_is_on(client, post):
    draft = json.dumps({"on": "tool", "name": "save"})
    post("/breakpoints", draft=draft)
    (made,) = known(client)
    post(f"/breakpoints/{made['id']}", version=made["version"], enabled="no")
    assert [each["enabled"] for each in known(client)] == [False]
    post("/breakpoints", draft=draft)
    assert [(each["id"], each["enabled"]) for each in known(client)] == [(made["id"], True)]


def test_a_switch_of_a_page_that_is_behind_is_refused(client, post):
    post("/breakpoints", on="final")
    (made,) = known(client)
    path, version = f"/breakpoints/{made['id']}", made["version"]
    assert post(path, version=version, enabled="no").status_code == 303
    assert post(path, version=version, enabled="yes").status_code == 409
    assert post(path, enabled="yes").status_code == 400
    assert [each["enabled"] for each in known(client)] == [False]


def test_what_is_not_there_is_told(client, page, post):
    assert post("/breakpoints/999", version=1, enabled="no").status_code == 404
    assert post("/breakpoints/999/delete").status_code == 303
    assert post("/breakpoints", event="").status_code == 422
    assert post("/breakpoints", event="7").status_code == 404
    assert post("/breakpoints", draft="{oops").status_code == 400
    assert post("/breakpoints", draft="[]").status_code == 422
    missing = client.get(f"{page}?tab=breaks&hits=999", headers=HTML)
    assert missing.status_code == 404
    assert known(client) == []


def test_a_refused_form_comes_back_with_what_was_typed_and_the_place_of_the_mistake(post):
    answer = post("/breakpoints", on="budget", condition="run.tokens >< 3", log="<b>{</b>")
    assert answer.status_code == 422
    assert 'value="run.tokens &gt;&lt; 3"' in answer.text
    assert 'value="&lt;b&gt;{&lt;/b&gt;"' in answer.text
    assert re.search(r"run\.tokens &gt;<mark>&lt;</mark> 3", answer.text)
