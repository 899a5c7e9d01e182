"""What a person changed in an event or a result, as its row shows it."""

import pytest

from devui.debugger.events.changed_fields import changed_at

WEATHER = {"city": "Rome", "temperature": 22, "days": [{"rain": 0}, {"rain": 3}]}


def response(result: object, call: str | None = None) -> dict[str, object]:
    return {"name": "weather", "response": result} | ({"id": call} if call else {})


def event(*responses: dict[str, object]) -> dict[str, object]:
    return {"content": {"parts": [{"functionResponse": each} for each in responses]}}


@pytest.mark.parametrize(
    ("after", "line"),
    [
        (WEATHER | {"temperature": 72}, "temperature 22 → 72"),
        (WEATHER | {"days": [{"rain": 0}, {"rain": 9}]}, "days[1].rain 3 → 9"),
        (WEATHER | {"unit": "F", "city": "Bern"}, 'city "Rome" → "Bern", unit "F" added'),
        ({"city": "Rome", "temperature": 22}, "days removed"),
        (WEATHER | {"a": 1, "b": 2, "c": 3}, "a 1 added, b 2 added"),
        (WEATHER | {"city": "R" * 99}, f'city "Rome" → "{"R" * 22}…'),
        ("sunny", ""),
    ],
)
def test_the_first_changed_fields_of_a_result_are_shown(after: object, line: str) -> None:
    held = {"tool": "weather", "args": {}, "result": WEATHER}
    assert changed_at("after_tool", held, after) == line


@pytest.mark.parametrize("gate", ["before_commit", "after_model"])
def test_changed_arguments_and_texts_of_an_event_are_shown(gate: str) -> None:
    def said(text: str, amount: float) -> dict[str, object]:
        call = {"id": "c1", "name": "charge", "args": {"amount": amount, "currency": "EUR"}}
        return {"content": {"parts": [{"text": text}, {"functionCall": call}]}}

    before = said("One moment.", 199.5)
    assert changed_at(gate, before, said("One moment.", 12.5)) == "amount 199.5 → 12.5"
    assert changed_at(gate, before, said("Now.", 199.5)) == 'was "One moment."'
    assert changed_at(gate, before, before) == ""


@pytest.mark.parametrize("gate", ["before_tool", "before_model"])
def test_changed_arguments_and_requests_of_calls_are_not_described(gate: str) -> None:
    held = {"args": {"city": "Rome"}, "result": {"a": 1}}
    assert changed_at(gate, held, {"city": "Bern"}) == ""


def test_results_of_one_event_are_compared_by_their_calls() -> None:
    rome, oslo = response(WEATHER, "c1"), response(WEATHER | {"temperature": 3}, "c2")
    warmer = response(WEATHER | {"temperature": 9}, "c2")
    before = event(rome, oslo)
    assert changed_at("before_commit", before, event(oslo, rome)) == ""
    assert changed_at("before_commit", before, event(oslo)) == ""
    assert changed_at("before_commit", before, event(warmer)) == "temperature 3 → 9"
    assert changed_at("before_commit", before, event(warmer, rome)) == "temperature 3 → 9"
    assert changed_at("before_commit", before, event(response({"city": "Bern"}, "c3"))) == ""


def test_results_of_calls_without_ids_are_compared_by_position() -> None:
    before = event(response({"n": 1}), response({"n": 2}))
    after = event(response({"n": 1}), response({"n": 5}), response({"n": 7}))
    assert changed_at("before_commit", before, after) == "n 2 → 5"
