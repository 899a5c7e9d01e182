"""What a form for a question says before anybody fills it in."""

import sys

import pytest

from devui.web.panels.questions.questions import CREDENTIAL, form_of

LOGIN = {"authConfig": {"authScheme": {"type": "oauth2"}}}


def test_a_sign_in_that_cannot_be_completed_says_so_when_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "authlib", None)  # as where it is not installed
    assert "pip install 'devui[oauth]'" in form_of(CREDENTIAL, LOGIN, "reader").hint
    monkeypatch.delitem(sys.modules, "authlib")
    pytest.importorskip("authlib")
    assert "pip install" not in form_of(CREDENTIAL, LOGIN, "reader").hint
