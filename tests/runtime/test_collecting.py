"""The garbage collector pauses while many objects are created, and only then."""

import gc
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from devui.runtime.collecting import collector_paused
from tests.kit.patience import PATIENCE


def collections_of(objects: int) -> int:
    """Return how many collections happen while `objects` objects are created and kept."""
    generations: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            generations.append(info["generation"])

    gc.callbacks.append(note)
    try:
        lists = [[number] for number in range(objects)]
    finally:
        gc.callbacks.remove(note)
    assert len(lists) == objects
    return len(generations)


def test_nothing_is_collected_during_the_pause():
    assert collections_of(100_000) > 0
    with collector_paused():
        assert collections_of(100_000) == 0
    assert collections_of(100_000) > 0


def test_the_collector_resumes_after_an_error():
    with pytest.raises(RuntimeError), collector_paused():
        raise RuntimeError
    assert gc.isenabled()


def test_the_collector_resumes_when_the_last_of_several_threads_is_done():
    both = Barrier(2, timeout=PATIENCE)

    def pause() -> bool:
        with collector_paused():
            both.wait()
            return gc.isenabled()

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(lambda _: pause(), range(2))) == [False, False]
    assert gc.isenabled()


def test_a_disabled_collector_stays_disabled():
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_objects_created_during_the_pause_move_to_the_oldest_generation():
    gc.unfreeze()  # with anything frozen, the pause moves nothing
    try:
        gc.collect()
        with collector_paused():
            lists = [[number] for number in range(100_000)]
        assert any(each is lists for each in gc.get_objects(generation=2))
    finally:
        gc.freeze()


def test_frozen_objects_stay_frozen():
    gc.freeze()
    try:
        with collector_paused():
            lists = [[number] for number in range(100_000)]
        assert gc.get_freeze_count() > 0
        assert lists
    finally:
        gc.unfreeze()
