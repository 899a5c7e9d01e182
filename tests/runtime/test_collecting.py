"""The collector pauses while many objects are made, and only then."""

import gc
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from devui.runtime.collecting import collector_paused


def collections_of(objects: int) -> int:
    """How many collections making so many objects, all of which stay, has caused."""
    begun: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            begun.append(info["generation"])

    gc.callbacks.append(note)
    try:
        kept = [[number] for number in range(objects)]
    finally:
        gc.callbacks.remove(note)
    assert len(kept) == objects
    return len(begun)


def test_nothing_is_collected_while_objects_are_made():
    assert collections_of(100_000) > 10
    with collector_paused():
        assert collections_of(100_000) == 0
    assert collections_of(100_000) > 10


def test_the_collector_goes_on_after_an_error():
    with pytest.raises(RuntimeError), collector_paused():
        raise RuntimeError
    assert gc.isenabled()


def test_it_goes_on_when_the_last_of_several_threads_is_done():
    both = Barrier(2, timeout=10)

    def pause() -> bool:
        with collector_paused():
            both.wait()
            return gc.isenabled()

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(lambda _: pause(), range(2))) == [False, False]
    assert gc.isenabled()


def test_one_that_was_off_stays_off():
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
