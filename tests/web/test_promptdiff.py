"""Where the second of two model requests leaves the prefix that a provider may have cached."""

from dataclasses import replace

from devui.web.panels.request.prompt_diff import prompt_diff
from tests.web.request_samples import AFTER, BEFORE, SPAN, piece

WITHOUT_ARGUMENTS = piece([{"functionDeclarations": [{"name": "now", "description": "The time."}]}])


def test_changed_tools_break_the_prefix_at_the_first_difference():
    diff = prompt_diff(SPAN, BEFORE, replace(BEFORE, tools=WITHOUT_ARGUMENTS))
    assert diff.verdict == "The tools differ, which breaks the cache prefix."
    assert [(each.kind, each.label, each.breaks_cache) for each in diff.tools] == [
        ("removed", "weather", True),
        ("added", "now", False),
    ]
    assert diff.tools[1].pieces == (("added", "The time."),)
    assert not any(each.breaks_cache for each in diff.blocks)


def test_a_changed_instruction_breaks_the_prefix_and_settings_do_not():
    diff = prompt_diff(SPAN, BEFORE, AFTER)
    assert [each.breaks_cache for each in diff.blocks] == [True, False, False]
    assert not any(each.breaks_cache for each in (*diff.tools, *diff.config))
