"""The choice of the editor that opens places in code."""

import pytest

from tests.kit.server import SAMPLES

pytestmark = pytest.mark.browser


def test_the_editor_is_chosen_once(visit, server):
    visit.allow("vscode:")  # no installed program handles it
    visit.context.add_cookies([{"name": "editor", "value": "gone", "url": server.url}])
    session = visit.session("faulty")
    session.say("Split the bill", "failed")
    place = session.page.locator(".open-place:visible").first
    place.click()
    choice = session.page.get_by_role("dialog").get_by_role("button", name="VS Code")
    address = f"vscode://file{SAMPLES / 'faulty' / 'bill.py'}:33"
    for button in (choice, place):
        with session.page.expect_response("**/editor") as answer:
            button.click()
        assert answer.value.headers["x-devui-address"] == address
    place.click(modifiers=["Shift"])
    choice.wait_for()
