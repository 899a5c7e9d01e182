"""What a question's form shows before it is filled in, and the answer it gives."""

import sys

import pytest

from devui.web.panels.questions.questions import CREDENTIAL, answer_of, form_of

LOGIN = {"authConfig": {"authScheme": {"type": "oauth2"}}}


def test_a_sign_in_form_says_so_if_authlib_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "authlib", None)  # as if it weren't installed
    assert "pip install 'devui[oauth]'" in form_of(CREDENTIAL, LOGIN, "reader").hint
    monkeypatch.delitem(sys.modules, "authlib")
    pytest.importorskip("authlib")
    assert "pip install" not in form_of(CREDENTIAL, LOGIN, "reader").hint


CONFIRMATION = "adk_request_confirmation"


@pytest.mark.parametrize(
    ("payload", "fields"),
    [
        ({"amount": 20, "rate": 0.5, "note": "", "urgent": False}, 4),
        ({"guest": {"name": "Ann", "age": 7}, "tags": ["a"], "gone": None}, 4),
        ({"urgent": False}, 1),
        ({}, 1),
        (["a", 1], 1),
        ("text", 1),
        ({"a.b": 1}, 1),
        ({"deep": {"deep": {"deep": {"deep": {"deep": 1}}}}}, 1),
    ],
)
@pytest.mark.parametrize("choice", ["yes", "no"])
def test_an_unchanged_payload_is_returned_as_it_was(payload, fields, choice) -> None:
    args = {"toolConfirmation": {"payload": payload}}
    form = form_of(CONFIRMATION, args, "clerk")
    assert len(form.fields) == fields
    values = {field.name: field.value for field in form.fields}
    answer = {"confirmed": choice == "yes", "payload": payload}
    assert answer_of(CONFIRMATION, args, {**values, "choice": choice}) == answer
    assert "payload" not in answer_of(CONFIRMATION, args, {"choice": choice})
