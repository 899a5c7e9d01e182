"""Numbers and times for people."""

import time
from collections.abc import Iterator

import pytest

from devui.web.text.formats import clock, day, duration, group_digits, held_for, iso, size


@pytest.fixture
def in_new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_new_york")
def test_times_are_utc_for_machines_and_local_for_people() -> None:
    assert iso(1_700_000_000.25) == "2023-11-14T22:13:20.250Z"
    assert clock(1_700_000_000.25) == "17:13:20.250"
    assert day(1_700_000_000.25) == "2023-11-14 17:13"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        *((0, "0 ms"), (-1, "0 ms"), (0.0124, "12 ms"), (0.9994, "999 ms"), (0.9996, "1.0 s")),
        *((3.44, "3.4 s"), (59.94, "59.9 s"), (59.96, "1 min 00 s"), (65, "1 min 05 s")),
        *((3599.4, "59 min 59 s"), (3599.6, "1 h 00 min"), (7380, "2 h 03 min")),
    ],
)
def test_a_duration_has_a_suitable_unit(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, ""), (0.2, "0.20 s"), (12.3, "12.3 s"), (195, "3 min 15 s")]
)
def test_the_time_that_a_run_was_paused_has_a_suitable_unit(seconds: float, text: str) -> None:
    assert held_for(seconds) == (text and f"not counting {text} paused")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        *((0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1234, "1.2 kB"), (35_400, "35 kB")),
        *((999_499, "999 kB"), (999_600, "1.0 MB"), (5_000_000_000, "5.0 GB")),
        (10**16, "10000 TB"),
    ],
)
def test_a_size_has_a_suitable_unit(number: int, text: str) -> None:
    assert size(number) == text


def test_long_numbers_are_grouped() -> None:
    assert group_digits(12) == "12"
    assert group_digits(1_234_567) == "1\u202f234\u202f567"
