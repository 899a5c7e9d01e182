"""What tokens cost: model names, long prompts, caches, users' own prices, and unknown models."""

import json
import re
from pathlib import Path

import pytest

from devui.debugger.events.prices import Prices, WrongPrices
from devui.debugger.events.usage import usage_of
from devui.store.rows import UsageSum
from devui.store.summaries import Usage
from devui.wire.events import Event

BUILT_IN = Prices.load(Path("nowhere"))


def table(folder: Path, *models: dict) -> Prices:
    """Return the built-in prices with these of the user's own."""
    (folder / "prices.json").write_text(json.dumps({"models": models}))
    return Prices.load(folder)


def make_usage(model: str, prompt: int = 1_000_000, cached: int = 0, output: int = 0) -> Usage:
    return Usage(model, prompt, cached, output, 0)


def test_the_price_table_has_a_date_its_sources_and_the_known_families() -> None:
    table = json.loads((Path(__file__).parents[2] / "devui" / "prices.json").read_text())
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", table["date"])
    assert BUILT_IN.date == table["date"]
    assert len(table["sources"]) == 3
    names = [model["name"] for model in table["models"]]
    assert len(names) == len(set(names))
    for family in ("gemini-2.5-flash", "gpt-4o", "claude-sonnet-4-5"):
        assert family in names


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gemini-2.5-flash", "gemini-2.5-flash"),
        ("gemini-2.5-flash-lite", "gemini-2.5-flash-lite"),
        ("gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash"),
        ("gemini-2.5-flash-lite-001", "gemini-2.5-flash-lite"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("projects/p/locations/l/publishers/google/models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("openai/gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("claude-sonnet-4-20250514", "claude-sonnet-4"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5-latest", "claude-sonnet-4-5"),
        ("gemini-2.5-flash-image", None),
        ("gpt-4o-audio-preview", None),
        ("gpt-4", None),
        ("my-model", None),
        ("", None),
    ],
)
def test_a_model_is_never_priced_by_the_name_of_another(model, name) -> None:
    price = BUILT_IN.find(model)
    assert (price.name if price else None) == name


def test_cached_tokens_and_output_have_their_own_prices(tmp_path) -> None:
    prices = table(tmp_path, {"name": "m", "input": 2, "cached": 0.5, "output": 8})
    usage = make_usage("m", prompt=1_000_000, cached=400_000, output=500_000)
    assert prices.cost(usage) == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 0.5 * 8)


def test_a_prompt_above_the_limit_costs_more_from_its_first_token(tmp_path) -> None:
    long = {"above": 1000, "input": 4, "output": 16}
    prices = table(tmp_path, {"name": "m", "input": 2, "output": 8, "long": long})
    assert prices.limits[0] == 1000
    at, over = make_usage("m", prompt=1000, output=10), make_usage("m", prompt=1001, output=10)
    assert prices.cost(at) == pytest.approx((1000 * 2 + 10 * 8) / 1e6)
    assert prices.cost(over) == pytest.approx((1001 * 4 + 10 * 16) / 1e6)


def test_the_users_prices_override_the_built_in_table(tmp_path) -> None:
    prices = table(tmp_path, {"name": "gpt-4o", "input": 1, "output": 1})
    assert prices.cost(make_usage("gpt-4o")) == 1
    assert prices.find("gpt-4o").source == str(tmp_path / "prices.json")
    assert prices.cost(make_usage("gpt-4o-mini")) == BUILT_IN.cost(make_usage("gpt-4o-mini"))


def test_usage_without_a_known_price_is_counted_as_unpriced(tmp_path) -> None:
    prices = table(tmp_path, {"name": "free", "input": 0, "output": 0})
    assert prices.cost(make_usage("who")) is None
    assert prices.cost(make_usage("free")) == 0
    unknown, free = UsageSum("a", 0, 3, make_usage("who")), UsageSum("a", 0, 1, make_usage("free"))
    assert (prices.total([unknown]).cost, prices.total([unknown]).unpriced) == (None, 3)
    assert (prices.total([unknown, free]).cost, prices.total([unknown, free]).unpriced) == (0, 3)
    assert prices.total([]).cost is None


def test_an_unknown_price_for_cached_tokens_gives_no_cost(tmp_path) -> None:
    prices = table(tmp_path, {"name": "m", "input": 2, "cached": None, "output": 8})
    assert prices.cost(make_usage("m", prompt=1_000_000)) == 2
    assert prices.cost(make_usage("m", cached=10)) is None
    both = [UsageSum("a", 0, 2, make_usage("m", cached=10)), UsageSum("b", 0, 1, make_usage("m"))]
    assert (prices.total(both).cost, prices.total(both).unpriced) == (2, 2)
    assert BUILT_IN.cost(make_usage("gemini-2.0-flash-lite", cached=10)) is None
    prices_json = json.loads((Path(__file__).parents[2] / "devui" / "prices.json").read_text())
    for model in prices_json["models"]:
        assert "cached" in model, "named, or null: nothing is left to be guessed"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "Expecting"),
        ("[]", "list indices"),
        ('{"prices": []}', "'models' is missing"),
        ('{"models": [{"name": "m", "input": 1}]}', "'output' is missing"),
        ('{"models": [{"name": "m", "input": "1", "output": 1}]}', "'1' of m is not a valid price"),
        ('{"models": [{"name": "m", "input": -1, "output": 1}]}', "-1 of m is not a valid price"),
        ('{"models": [{"name": "m", "input": NaN, "output": 1}]}', "nan of m is not a valid price"),
        (
            '{"models": [{"name": "m", "input": true, "output": 1}]}',
            "True of m is not a valid price",
        ),
        ('{"models": [{"name": "", "input": 1, "output": 1}]}', "not a valid model name"),
    ],
)
def test_an_invalid_price_table_is_refused_with_its_path(tmp_path, text, said) -> None:
    (tmp_path / "prices.json").write_text(text)
    with pytest.raises(WrongPrices) as refusal:
        Prices.load(tmp_path)
    assert str(tmp_path / "prices.json") in str(refusal.value)
    assert said in str(refusal.value)


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        (
            # Thoughts are counted in addition to the answer, as Gemini does.
            {
                "promptTokenCount": 100,
                "cachedContentTokenCount": 40,
                "candidatesTokenCount": 20,
                "thoughtsTokenCount": 30,
                "totalTokenCount": 150,
            },
            Usage("m", 100, 40, 50, 30),
        ),
        (
            # Thoughts are counted as part of the answer, as OpenAI does.
            {
                "promptTokenCount": 100,
                "candidatesTokenCount": 50,
                "thoughtsTokenCount": 30,
                "totalTokenCount": 150,
            },
            Usage("m", 100, 0, 50, 30),
        ),
        ({"promptTokenCount": 7, "candidatesTokenCount": 2}, Usage("m", 7, 0, 2, 0)),
        (
            {"promptTokenCount": 7, "toolUsePromptTokenCount": 3, "totalTokenCount": 11},
            Usage("m", 10, 0, 1, 0),
        ),
        ({"promptTokenCount": 7, "totalTokenCount": 5}, Usage("m", 7, 0, 0, 0)),
        ({"promptTokenCount": "7", "totalTokenCount": None}, None),
        ({"promptTokenCount": 2**80}, Usage("m", 2**40, 0, 0, 0)),
        ({}, None),
        ("many", None),
    ],
)
def test_the_tokens_of_an_event_are_read_as_providers_count_them(counts, usage) -> None:
    assert usage_of(Event.of({"usageMetadata": counts, "modelVersion": "m"})) == usage
