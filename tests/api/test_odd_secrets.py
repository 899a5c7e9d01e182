"""Random secrets are redacted from every answer, in every spelling (R64).

Each goes through texts, reprs, JSON inside JSON, URLs, base64, names of keys, output, errors, and
streams that are cut anywhere.
"""

import base64
import html
import random
import re
from urllib.parse import unquote, unquote_plus

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.rounds import rounds
from tests.kit.server import running, write_app

pytestmark = pytest.mark.req("R64")

ODD = "aB3x9Zq'\"'\"\\\\&<>;#/ éüßå̊€😀👩‍🚀你*`~%+{}$"
SECRETS = 6
ROUNDS = rounds(1, 2)
AGENT = """
import base64
import json
import os
import random
from urllib.parse import quote, quote_plus
from google.genai import types
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event, EventActions

KNOWN = [value for name, value in sorted(os.environ.items()) if name.startswith("ODD_")]
WAYS = [str, repr, ascii, json.dumps, quote, quote_plus, lambda t: json.dumps(json.dumps([t])),
        lambda t: repr({"k": json.dumps(t)}), lambda t: f"https://example.com/?q={quote(t)}#x",
        lambda t: f"```python\\nkey = {t!r}\\n```", lambda t: f"**{t}**"]


def said(text, partial=None, delta=None):
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return Event(author="odd", content=content, partial=partial,
                 actions=EventActions(state_delta=delta or {}))


class Odd(BaseAgent):
    async def _run_async_impl(self, ctx):
        dice = random.Random(int(ctx.user_content.parts[0].text))
        for secret in KNOWN:
            for way in WAYS:
                text = f"It is {way(secret)} here"
                print("knows", text)
                yield said(text, delta={"value": {"deep": [text]}, f"of {secret}": 1})
            data = b"x" * dice.randrange(4) + secret.encode()
            coded = said(f"coded {base64.b64encode(data).decode()}")
            blob = types.Blob(data=data, mime_type="text/plain")
            coded.content.parts.append(types.Part(inline_data=blob))
            coded.content.parts.append(types.Part.from_function_call(name="f", args={"a": secret}))
            yield coded
            whole, at = f"Streamed {secret} here", 0
            while at < len(whole):
                step = dice.randrange(1, 6)
                yield said(whole[at:at + step], partial=True)
                at += step
            yield said(whole)
        raise ValueError(repr(KNOWN))


root_agent = Odd(name="odd")
"""


def plain(text: str) -> str:
    """The text without anything that escapes, markup and URLs add."""
    for _ in range(4):
        text = html.unescape(text)
        text = re.sub(r"\\+u([dD][89abAB]..)\\+u([dD][c-fC-F]..)", _pair, text)
        text = re.sub(r"\\+(?:u(?=[0-9a-f]{4})|x(?=[0-9a-f]{2})|U(?=[0-9a-f]{8}))", r"\\u", text)
        text = re.sub(r"\\u(0000[0-9a-f]{4}|000[0-9a-f]{5}|[0-9a-f]{4}|[0-9a-f]{2})", _point, text)
        text = unquote(text)
    return re.sub(r"</?[a-z][^<>]*>|[^\w😀👩🚀€]|(?<=\\)[nrt]", "", text)


def _pair(match: re.Match) -> str:
    return (bytes.fromhex(match[1]) + bytes.fromhex(match[2])).decode("utf-16-be", "replace")


def _point(match: re.Match) -> str:
    return chr(int(match[1], 16)) if int(match[1], 16) < 0x110000 else match[0]


def decode(text: str) -> str:
    """The decoded text of each piece of base64 in a text, at every offset."""
    texts = []
    for piece in re.findall(r"[0-9A-Za-z+/_-]{10,}", text):
        standard = piece.replace("-", "+").replace("_", "/")
        for begin in range(4):
            whole = standard[begin : begin + (len(standard) - begin) // 4 * 4]
            texts.append(base64.b64decode(whole).decode(errors="replace"))
    return "\n".join(texts)


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_random_secrets_are_redacted_in_every_spelling(tmp_path, monkeypatch, seed):
    dice = random.Random(seed)
    secrets = [
        f"q{n}{seed}w" + "".join(dice.choices(ODD, k=dice.randrange(7, 20))) + "7Zk"
        for n in range(SECRETS)
    ]
    for n, secret in enumerate(secrets):
        monkeypatch.setenv(f"ODD_{n}_SECRET", secret)
    write_app(tmp_path / "agents", "odd", AGENT)
    needles = [plain(secret) for secret in secrets]
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        debugged = DebuggedRun(client, "odd")
        page = f"/sessions/{debugged.key}"
        with client.stream("GET", f"{page}/stream") as live:
            debugged.start(str(seed), pause=False)
            streamed = []
            for line in live.iter_lines():
                streamed.append(line)
                if re.search(r"\b\w+Error\b", line):  # the agent ends with one
                    break
        assert debugged.settled()["error"]["type"] == "ValueError"
        events = client.get(f"/api{page}/events?last=200").json()["events"]
        paths = [f"{page}?event={n}&tab={tab}" for n in range(2, 16) for tab in ("event", "raw")]
        paths += [f"{page}?tab={tab}" for tab in ("state", "log", "run")]
        paths.append(f"{page}?view=trace")
        paths += [
            f"{page}?at={len(events)}",
            f"/runs/{debugged.run}/log",
            f"/api/runs/{debugged.run}",
        ]
        paths += [
            f"/api{page}/{what}" for what in ("events?last=200", "state", "export", "recording")
        ]
        paths.append(f"/api{page}/export?format=html")
        answers = {"the stream": "\n".join(streamed)}
        for path in paths:
            answer = client.get(path, headers={"Accept": "text/html"})
            assert answer.status_code == 200, path
            answers[path] = answer.text
    marks = 0
    for path, text in answers.items():
        marks += text.count("[redacted]")
        for spelled in (plain(text), plain(unquote_plus(text)), plain(decode(text))):
            leaks = [
                (secret, needle)
                for secret, needle in zip(secrets, needles, strict=True)
                if needle in spelled
            ]
            assert leaks == [], path
    assert marks > 200  # there were secrets to redact
