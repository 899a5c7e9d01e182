"""Pictures and files in the results of tools."""

from functools import partial
from typing import Any

from google.genai import types

from tests.differential.case import Case, add
from tests.differential.script import call


def _picture(data: bytes = b"\x00\xfb\xff") -> types.Part:
    return types.Part(inline_data=types.Blob(data=data, mime_type="image/png"))


def _file() -> types.Part:
    return types.Part(file_data=types.FileData(file_uri="gs://a/b.png", mime_type="image/png"))


MEDIA: dict[str, Any] = {
    "a picture": _picture,
    "a file": _file,
    "a text part": lambda: types.Part(text="words"),
    "a picture in a list": lambda: [_picture(), "text", _picture(b"2")],
    "pictures only": lambda: [_picture(), _picture(b"2")],
    "a picture in a dict": lambda: {"it": _picture(), "name": "cat"},
    "pictures in a list in a dict": lambda: {"them": [_picture(), _file()], "n": 2, "rest": [1]},
    "a picture too deep": lambda: {"them": {"deeper": [_file(), 1]}},
    "a response of its own": lambda: types.FunctionResponse(
        response={"a": 1}, scheduling=types.FunctionResponseScheduling.SILENT
    ),
}


async def _media(stage, make_media):
    def look() -> Any:
        """Looks."""
        return make_media()

    await stage.open(stage.agent("agent", call("look"), "Done.", tools=[look]))
    await stage.say()


for _name, _made in MEDIA.items():
    add(Case(f"a tool returns media: {_name}", partial(_media, make_media=_made)))
