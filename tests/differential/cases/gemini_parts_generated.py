"""Generated cases: messages and answers with unusual parts, as sent to Gemini over HTTP.

The same number gives the same case on every machine.
"""

import base64
import random
from functools import partial
from typing import Any

from google.genai import types

from tests.differential.case import Case, add
from tests.differential.cases.gemini import DONE, chunk, other, plan, text
from tests.kit.gemini_server import GeminiServer

MESSAGES = 6
TURNS = 3
TYPES = (
    "image/png",
    "image/svg+xml",
    "application/pdf",
    "text/csv",
    "text/plain",
    "text/markdown; charset=latin-1",
    "application/json",
    "application/xml",
    "application/x-yaml",
    "application/octet-stream",
    "audio/wav",
    "video/mp4",
    "TEXT/HTML",
    "application/vnd.ms-excel",
)
BYTES = (
    b"",
    b"a,b\n1,2",
    b"\x89PNG",
    "grüße".encode(),
    "grüße".encode("latin-1"),
    b"\xef\xbb\xbfbom",
)
NAMES = (None, "f.txt", "ü x.csv")
WORDED = ("[Artifact ", "[Binary artifact: ", "Go on with ", "Continue ", "Do what ", "Handle ")
"""The beginnings of texts worded by the runtime."""


class Parts:
    """Makes parts of messages and of answers."""

    def __init__(self, dice: random.Random) -> None:
        self._dice, self._count = dice, 0

    def message(self) -> list[types.Part]:
        """Return the parts of a user's message."""
        kinds = ["words", "file", "file", "uri", "code", "result", "empty", "film"]
        return [self._part(self._dice.choice(kinds)) for _ in range(self._dice.randrange(1, 4))]

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _blob(self) -> types.Blob:
        return types.Blob(
            data=self._dice.choice(BYTES),
            mime_type=self._dice.choice(TYPES),
            display_name=self._dice.choice(NAMES),
        )

    def _part(self, kind: str) -> types.Part:
        if kind == "file":
            return types.Part(inline_data=self._blob())
        if kind == "film":
            film = types.VideoMetadata(fps=2, start_offset="1s")
            return types.Part(inline_data=self._blob(), video_metadata=film)
        if kind == "uri":
            uri = self._dice.choice(["gs://a/b.png", "https://x.org/f.csv", "file:///f"])
            file = types.FileData(
                file_uri=uri,
                mime_type=self._dice.choice([None, *TYPES]),
                display_name=self._dice.choice(NAMES),
            )
            return types.Part(file_data=file)
        if kind == "code":
            code = types.ExecutableCode(code=f"print({self._next()})", language="PYTHON")
            return types.Part(executable_code=code)
        if kind == "result":
            result = types.CodeExecutionResult(outcome="OUTCOME_OK", output=f"{self._next()}")
            return types.Part(code_execution_result=result)
        return types.Part(text=f"Words {self._next()}." if kind == "words" else "")

    def answer(self) -> list[dict[str, Any]]:
        """Return the chunks of Gemini's answer."""
        chunks = [chunk(*self._answers()) for _ in range(self._dice.randrange(1, 3))]
        chunks.append(chunk(text(f"End {self._next()}."), finish="STOP"))
        return chunks

    def _answers(self) -> list[dict[str, Any]]:
        data = base64.b64encode(self._dice.choice(BYTES)).decode()
        possible: list[dict[str, Any]] = [
            text(f"Words {self._next()}."),
            text(f"Hm {self._next()}.", thought=True),
            text("", thoughtSignature="c2ln"),
            text(f"Signed {self._next()}.", thoughtSignature="c2ln"),
            {"inlineData": {"data": data, "mimeType": self._dice.choice(TYPES)}},
            {"fileData": {"fileUri": "gs://a/b", "mimeType": "image/png"}},
            {"executableCode": {"code": "1 + 1", "language": "PYTHON", "id": "c1"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "no"}},
            {"functionCall": {"name": "plan", "args": {"n": self._next()}}},
            {"functionCall": {"name": "other", "args": {}}, "thoughtSignature": "c2ln"},
        ]
        return [self._dice.choice(possible) for _ in range(self._dice.randrange(1, 4))]


def _sent(body: dict[str, Any]) -> Any:
    """Return a request's contents, with the runtime's texts masked, and without empty texts."""
    for content in body["contents"]:
        parts = content["parts"]
        content["parts"] = [part for part in parts if part != {"text": ""}] or parts
        for part in content["parts"]:
            if part.get("text", "").startswith(WORDED):
                part["text"] = "<worded>"
    return body["contents"]


async def messages(stage: Any, number: int) -> None:
    """Play several turns with parts of any kind."""
    dice = random.Random(f"gemini parts {number}")
    parts = Parts(dice)
    await stage.open(stage.agent("agent", model="gemini-2.5-flash", tools=[plan, other]))
    for _ in range(TURNS):
        with GeminiServer() as server:
            agent = stage.runner.app.root_agent
            agent.model = stage.ns.Gemini(
                model="gemini-2.5-flash", base_url=server.url, client_kwargs={"api_key": "any"}
            )
            server.answer(*parts.answer())
            for _ in range(4):
                server.answer(*DONE)
            say = stage.stream if dice.random() < 0.4 else stage.say
            await say(parts.message())
            stage.note([_sent(request.body) for request in server.received])


for _number in range(MESSAGES):
    add(Case(f"parts of any kind for Gemini {_number}", partial(messages, number=_number)))
