"""The chat leaves out the data of large files, whatever an agent writes beside it."""

import base64

import pytest

from devui.web.panels.chat.content import content_parts
from devui.web.panels.chat.file_data import SIZE, without_file_data
from devui.wire.events import Event

DATA = base64.b64encode(bytes(100_000)).decode()


def inline(**members) -> Event:
    part = {"inlineData": {"mimeType": "image/png", **members}}
    return Event.of({"author": "a", "content": {"role": "model", "parts": [part]}})


def size_of(event: Event) -> str:
    [part] = content_parts(event)
    return part.size


def test_a_large_file_keeps_its_size_and_loses_its_data():
    event = inline(data=DATA, displayName="map.png")
    small = without_file_data(event)
    assert len(small.text) < 9_000 < len(event.text)
    assert size_of(small) == size_of(event)


def test_a_small_file_and_a_text_that_looks_like_one_stay():
    for event in (inline(data="aGk="), Event.of({"author": "a", "text": f'"inlineData":"{DATA}"'})):
        assert without_file_data(event).text == event.text


@pytest.mark.parametrize("size", ["many", None, [], 1.5])
def test_a_size_from_an_agent_does_not_break_the_page(size):
    assert size_of(inline(data="aGk=", **{SIZE: size})) == size_of(inline(data="aGk="))
