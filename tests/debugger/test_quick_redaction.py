"""A value whose JSON has no secret is cleared as a whole, with the same result as text by text."""

import json
import random

import pytest

from devui.debugger.background.slices import PIECE, encode
from devui.debugger.secrets.redaction import Redactor, Secret
from tests.kit.rounds import rounds

SECRETS = [
    "hunter22-and-more",
    "aB3'x\\y9Zq\"",
    "pässwört-🔑-längst",
    "秘密の言葉です長い",
    "https://ada:lovelace1815@host.example/",
    "sk-ant-0123456789abcdefGHIJ",
    "Bearer abcdefghijklmnopqrstuvwxyz012345",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n-----END PRIVATE KEY-----",
    "hunter22-a…",
    json.dumps({"preview": "AIzaSyA1234567890abcdefg…"}),
    json.dumps("sk-proj-0123456789abcdef…"),
]
KNOWN = Redactor([Secret(text, "a value") for text in SECRETS[:4]])
HARMLESS = [
    "plain",
    "a…",
    "https://x.example/a",
    "xox",
    "task-sk-1",
    'q"\\\n',
    "",
    "é🎈",
    7,
    None,
    0.5,
]


def by_each_text(value):
    if isinstance(value, str):
        return KNOWN.text(value)
    if isinstance(value, list):
        return [by_each_text(each) for each in value]
    if isinstance(value, dict):
        return {KNOWN.text(key): by_each_text(each) for key, each in value.items()}
    return value


def grown(dice, depth, secrets):
    if depth == 0 or dice.random() < 0.2:
        text = dice.choice(secrets if secrets and dice.random() < 0.1 else HARMLESS)
        return f"a{text}b" if isinstance(text, str) and dice.random() < 0.5 else text
    if dice.random() < 0.5:
        return [grown(dice, depth - 1, secrets) for _ in range(dice.randint(0, 6))]
    return {
        f"{n}{dice.choice(secrets) if secrets and dice.random() < 0.05 else ''}": grown(
            dice, depth - 1, secrets
        )
        for n in range(dice.randint(0, 6))
    }


@pytest.mark.req("R64")
@pytest.mark.parametrize("seed", range(rounds(30, 100)))
def test_a_value_is_redacted_like_each_of_its_texts(seed):
    dice = random.Random(seed)
    value = grown(dice, 4, SECRETS if seed % 2 else [])
    before = json.dumps(value)
    assert KNOWN.value(value) == by_each_text(value)
    assert json.dumps(value) == before


@pytest.mark.slow
@pytest.mark.req("R64")
def test_a_secret_is_redacted_anywhere_in_a_large_value():
    rows = [{"name": f"row {n}", "tags": ["a", "b"]} for n in range(60_000)]
    for place in (0, 29_999, 30_000, 59_999):
        value = {"deep": [{"rows": [*rows]}]}
        value["deep"][0]["rows"][place] = {SECRETS[0]: [SECRETS[5]]}
        clean = KNOWN.value(value)["deep"][0]["rows"]
        assert clean[place] == {"[redacted]": ["[redacted]"]}
        assert clean[:place] == rows[:place]
        assert clean[place + 1 :] == rows[place + 1 :]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_large_value_encodes_the_same_in_pieces(seed):
    dice = random.Random(seed)
    small = [grown(dice, 3, []) for _ in range(50)]
    rows = [dice.choice(small) for _ in range(30_000)]
    value = {"a": 1, "deep": [[{"rows": rows, "empty": {}}]], "map": dict(enumerate(rows))}
    value["map"] = {str(key): each for key, each in value["map"].items()}
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
    assert encode(value, encoder) == encoder.encode(value)


def test_a_value_without_secrets_is_not_searched_text_by_text():
    looks = []

    class Counting(Redactor):
        def text(self, text, told=None):
            looks.append(text)
            return super().text(text, told)

    rows = [{"name": f"row {n}", "tags": ["xox", "https://x.example"]} for n in range(40_000)]
    assert len(json.dumps(rows)) > PIECE
    assert Counting().value({"rows": rows}) == {"rows": rows}
    assert len(looks) < 100
