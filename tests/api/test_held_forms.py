"""Forms that edit what is held, sent as a browser without JavaScript sends them."""

import html
import json
import re
import uuid

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import running, write_app

BOOK = """
from typing import Literal, Optional

from pydantic import BaseModel

from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm


class Who(BaseModel):
    name: str
    age: int = 30


def book(
    city: str,
    seats: int,
    price: float,
    cabin: Literal["economy", "first"],
    tags: list[str],
    who: Who,
    direct: bool = False,
    note: Optional[str] = None,
) -> dict:
    '''Books a flight.'''
    told = who if isinstance(who, dict) else who.model_dump()
    return {"city": city, "seats": seats, "price": price, "cabin": cabin, "tags": tags,
            "who": told, "direct": direct, "note": note}


ARGS = dict(city="Rome", seats=2, price=99.5, cabin="economy", tags=["a"], who={"name": "Ada"})
root_agent = Agent(
    name="desk",
    instruction="Be kind.",
    model=ScriptedLlm(rules=[Rule(after="book", then=Say("ok")), Rule(then=Call("book", **ARGS))]),
    tools=[book],
)
"""
ROUTES = """
from typing import Literal, Optional

from pydantic import BaseModel

from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm


class Leg(BaseModel):
    origin: str
    mode: Literal["train", "plane"]
    seats: int


class Who(BaseModel):
    name: str


def plan(legs: list[Leg], fee: float, who: Who, note: Optional[str] = None) -> dict:
    return {"distance": 3, "via": []}


ARGS = dict(legs=[dict(origin="Rome", mode="train", seats=1)], fee=2, who={"name": "Ada"}, note="")
rules = [Rule(after="plan", then=Say("ok")), Rule(then=Call("plan", **ARGS))]
root_agent = Agent(name="routes", model=ScriptedLlm(rules=rules), tools=[plan])
"""
COUNTS = """
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event, EventActions


class Counts(BaseAgent):
    async def _run_async_impl(self, ctx):
        yield Event(author=self.name, actions=EventActions(state_delta={"n": 1, "who": "Ada"}))


root_agent = Counts(name="counts")
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forms")
    write_app(folder / "agents", "desk", BOOK)
    write_app(folder / "agents", "routes", ROUTES)
    write_app(folder / "agents", "counts", COUNTS)
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


def at(client, gate: str, app: str = "desk") -> DebuggedRun:
    debugged = DebuggedRun(client, app).start()
    debugged.settled()
    debugged.tell("run_to", like={"gate": gate, "agent": app})
    assert debugged.hold()["gate"] == gate
    return debugged


def field_kinds(debugged: DebuggedRun) -> dict[str, str]:
    """The kind of each form field, by name."""
    page = debugged.client.get(f"/sessions/{debugged.key}", headers={"Accept": "text/html"}).text
    form = page[page.index('class="held-form"') :].partition("</form>")[0]
    fields = re.findall(r'<(input|textarea|select) id="held-[^"]*" name="([^"]+)"([^>]*)', form)
    kinds = {
        name: (re.search(r'type="(\w+)"', rest) or [tag, tag])[1] for tag, name, rest in fields
    }
    return {html.unescape(name): kind for name, kind in kinds.items()}


def labels(debugged: DebuggedRun) -> list[str]:
    """The labels of the form's fields, as a person reads them."""
    page = debugged.client.get(f"/sessions/{debugged.key}", headers={"Accept": "text/html"}).text
    form = page[page.index('class="held-form"') :].partition("</form>")[0]
    texts = re.findall("<label[^>]*>(.*?)</label>", form, re.DOTALL)
    return [" ".join(html.unescape(re.sub("<[^>]+>", "", text)).split()) for text in texts]


def send(debugged: DebuggedRun, server, fields: dict[str, str], *, htmx: bool = False):
    form = {
        **({} if "value" in fields else {"filled": "yes"}),
        "command": "edit",
        "key": uuid.uuid4().hex,
        "position": str(debugged.position["position"]),
        "hold": str(debugged.hold()["id"]),
        **fields,
    }
    headers = {"Origin": server.url, "Sec-Fetch-Site": "same-origin", "Accept": "text/html"}
    headers |= {"HX-Request": "true"} if htmx else {}
    return debugged.client.post(f"/runs/{debugged.run}/commands", data=form, headers=headers)


FILLED = {
    "of.city": "Oslo",
    "of.seats": "3",
    "of.price": "120.25",
    "of.cabin": "first",
    "of.tags": '["x", "y"]',
    "of.who.name": "Bo",
    "of.who.age": "41",
    "of.note": "",
}


def test_fields_are_labeled_with_names_and_types_from_the_code(client):
    debugged = at(client, "before_tool", app="routes")
    assert labels(debugged) == [
        "legs JSON list of {origin, mode: train | plane, seats: int}",
        "fee number",
        "who.name str",
        "note str (empty: null)",
    ]
    debugged.tell("run_to", like={"gate": "after_tool", "agent": "routes"})
    assert labels(debugged) == ["distance number", "via JSON"]


def test_a_tools_arguments_are_fields_of_their_declared_types(client, server):
    debugged = at(client, "before_tool")
    assert field_kinds(debugged) == {
        "of.city": "text",
        "of.seats": "number",
        "of.price": "number",
        "of.cabin": "select",
        "of.tags": "textarea",
        "of.who.name": "text",
        "of.who.age": "number",
        "of.direct": "select",
        "of.note": "text",
    }
    assert send(debugged, server, {**FILLED, "of.direct": "true"}).status_code == 303
    debugged.settled()
    expected = {
        "city": "Oslo",
        "seats": 3,
        "price": 120.25,
        "cabin": "first",
        "tags": ["x", "y"],
        "who": {"name": "Bo", "age": 41},
        "direct": True,
    }
    assert debugged.hold()["edit"]["value"] == expected
    debugged.tell("continue")
    part = debugged.kept()["events"][2]["content"]["parts"][0]["functionResponse"]
    assert part["response"] == {**expected, "note": None}


UNTOUCHED = {
    "of.city": "Rome",
    "of.seats": "2",
    "of.price": "99.5",
    "of.cabin": "economy",
    "of.tags": '["a"]',
    "of.who.name": "Ada",
    "of.who.age": "",
    "of.direct": "",
    "of.note": "",
}


def test_an_unchanged_form_is_refused_with_a_message(client, server):
    debugged = at(client, "before_tool")
    assert "Nothing was changed" in send(debugged, server, UNTOUCHED).text
    message = "nothing was changed"
    as_json = {"value": json.dumps(debugged.hold()["held"]["args"])}
    for fields in (UNTOUCHED, as_json):
        answer = send(debugged, server, fields, htmx=True)
        assert (answer.status_code, answer.text.count(message)) == (422, 1)
        assert answer.text.count('aria-invalid="true"') == 1
    debugged.tell("run_to", like={"gate": "after_tool"})
    result = {n: text for n, text in UNTOUCHED.items() if n not in {"of.direct", "of.who.name"}}
    result |= {"of.who": json.dumps(debugged.hold()["held"]["result"]["who"])}
    assert message in send(debugged, server, result, htmx=True).text
    debugged.tell("run_to", like={"gate": "before_model"})
    text = debugged.hold()["held"]["config"]["systemInstruction"].replace("\n", "\r\n")
    assert message in send(debugged, server, {"of.systemInstruction": text}, htmx=True).text
    debugged.tell("continue")
    assert client.get(f"/api/sessions/{debugged.key}/edits").json()["edits"] == []


def test_omitted_arguments_stay_omitted_and_show_their_defaults(client, server):
    debugged = at(client, "before_tool")
    page = client.get(f"/sessions/{debugged.key}", headers={"Accept": "text/html"}).text
    fields = {**FILLED, "of.who.age": "", "of.direct": ""}
    assert re.search(r'name="of.direct"[^>]*><option selected></option>', page)
    assert 'value="30"' not in page
    assert "(default: false)" in page
    assert "(default: 30)" in page
    assert send(debugged, server, fields).status_code == 303
    debugged.settled()
    value = debugged.hold()["edit"]["value"]
    assert "direct" not in value
    assert value["who"] == {"name": "Bo"}
    debugged.tell("continue")


def difference(debugged: DebuggedRun) -> list[tuple[str, str]]:
    """Class and text of each line in the difference that the page shows."""
    page = debugged.client.get(f"/sessions/{debugged.key}", headers={"Accept": "text/html"}).text
    diff = page[page.index('<pre class="diff"') :].partition("</pre>")[0]
    lines = re.findall(r'<span class="(\w+)">([^<]*)</span>', diff)
    return [(kind, html.unescape(line)) for kind, line in lines]


def test_a_mocked_result_is_shown_before_the_run_continues(client, server):
    debugged = at(client, "before_tool")
    path, headers = f"/sessions/{debugged.key}", {"Accept": "text/html"}
    assert "Replacement for the arguments, as JSON" in client.get(path, headers=headers).text
    debugged.tell("mock", hold=debugged.hold()["id"], value={"seats": 77})
    assert difference(debugged)[1] == ("added", '+  "seats": 77')
    page = client.get(path, headers=headers).text
    mock = html.unescape(page[page.index('<form class="mock-form"') :].partition("</form>")[0])
    assert json.loads(re.search(r"<textarea[^>]*>(.*?)</textarea>", mock, re.DOTALL)[1]) == {
        "seats": 77
    }
    debugged.tell("continue")


def test_omitted_lines_of_a_difference_are_marked(client, server):
    debugged = at(client, "before_tool")
    args = debugged.hold()["held"]["args"]
    debugged.tell("edit", value={**args, "city": "Oslo", "who": {"name": "Bo"}})
    assert difference(debugged) == [
        ("same", " {"),
        ("gone", '-  "city": "Rome",'),
        ("added", '+  "city": "Oslo",'),
        ("same", '   "seats": 2,'),
        ("same", "…"),
        ("same", '   "who": {'),
        ("gone", '-    "name": "Ada"'),
        ("added", '+    "name": "Bo"'),
        ("same", "   }"),
        ("same", "…"),
    ]
    debugged.tell("continue")


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("of.seats", "two", "seats: invalid JSON"),
        ("of.seats", "2.5", "seats: must be a whole number"),
        ("of.price", "true", "price: must be a number"),
        ("of.cabin", "wing", "cabin: choose one of economy, first"),
        ("of.tags", '["x", 1]', "tags: [1] must be text"),
        ("of.who.age", "old", "age: invalid JSON"),
        ("of.seats", "", "seats: required"),
    ],
)
def test_an_invalid_value_is_reported_at_its_field_and_changes_nothing(
    client, server, name, text, problem
):
    debugged = at(client, "before_tool")
    fields = {**FILLED, name: text}
    assert send(debugged, server, fields).status_code == 422
    answer = send(debugged, server, fields, htmx=True)
    assert answer.status_code == 422
    place = re.search(
        rf'name="{re.escape(name)}"[^>]*aria-invalid="true" aria-describedby="([^"]+)"', answer.text
    )
    message = re.search(rf'id="{place[1]}"[^>]*>([^<]*)<', answer.text)[1]
    assert html.unescape(message).lower().startswith(problem.lower())
    assert 'value="Oslo"' in answer.text
    debugged.settled()
    assert debugged.hold()["edit"] is None
    debugged.tell("continue")


def test_a_results_fields_have_the_types_of_its_values(client, server):
    debugged = at(client, "after_tool")
    kinds = field_kinds(debugged)
    assert (kinds["of.city"], kinds["of.seats"], kinds["of.who"]) == ("text", "number", "textarea")
    assert kinds["of.direct"] == "checkbox"
    result = {name: text for name, text in FILLED.items() if "who." not in name}
    result |= {"of.who": '{"name": "Cy"}', "of.note": ""}
    assert send(debugged, server, result).status_code == 303
    debugged.settled()
    assert debugged.hold()["edit"]["value"]["who"] == {"name": "Cy"}
    assert debugged.hold()["edit"]["value"]["direct"] is False
    assert debugged.hold()["edit"]["value"]["note"] is None
    debugged.tell("continue")


def test_state_keys_are_changed_added_and_removed_one_by_one(client, server):
    debugged = at(client, "before_commit", "counts")
    assert list(field_kinds(debugged)) == ["of.n", "of.who", "new.key", "new.value"]
    fields = {"of.n": "5", "of.who": "", "new.key": "user:home", "new.value": '["Oslo"]'}
    assert send(debugged, server, fields).status_code == 303
    debugged.settled()
    debugged.tell("continue")
    assert debugged.kept()["state"] == {"n": 5, "user:home": ["Oslo"]}


def test_a_requests_settings_are_fields(client, server):
    debugged = at(client, "before_model")
    assert "of.systemInstruction" in field_kinds(debugged)
    page = client.get(f"/sessions/{debugged.key}", headers={"Accept": "text/html"}).text
    assert "empty: null" not in page
    fields = {"of.systemInstruction": "Be brief.", "of.temperature": "0.5", "of.topK": ""}
    assert send(debugged, server, fields).status_code == 303
    debugged.settled()
    config, before = debugged.hold()["edit"]["value"]["config"], debugged.hold()["held"]["config"]
    assert [name for name in config if name in before] == list(before)
    assert (config["systemInstruction"], config["temperature"]) == ("Be brief.", 0.5)
    assert "topK" not in config
    assert field_kinds(debugged)["of.systemInstruction"] == "textarea"
    assert config["tools"] == debugged.hold()["held"]["config"]["tools"]
    assert debugged.tell("continue")["status"] == "done"


def test_calls_and_texts_of_a_models_answer_are_fields(client, server):
    debugged = at(client, "after_model")
    assert field_kinds(debugged) == {"of.part0": "textarea"}
    [part] = debugged.hold()["held"]["content"]["parts"]
    args = {**part["functionCall"]["args"], "city": "Oslo"}
    assert send(debugged, server, {"of.part0": json.dumps(args)}).status_code == 303
    debugged.settled()
    debugged.tell("run_to", like={"gate": "after_model"})
    result = debugged.kept()["events"][2]["content"]["parts"][0]["functionResponse"]
    assert result["response"]["city"] == "Oslo"
    assert field_kinds(debugged) == {"of.part0": "text"}
    assert send(debugged, server, {"of.part0": "all right"}).status_code == 303
    debugged.settled()
    debugged.tell("continue")
    assert debugged.texts()[-1] == "all right"


def test_a_form_for_something_no_longer_held_is_refused(client, server):
    debugged = at(client, "before_commit", "counts")
    hold = debugged.hold()
    debugged.tell("continue")
    debugged.position |= {"holds": [hold], "position": 1}
    assert send(debugged, server, {"of.n": "1"}).status_code == 409
