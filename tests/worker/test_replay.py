"""A recorded run replays identically without a server, whatever its agents do."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devui.wire.recordings import Recording
from devui.worker.replay.headless import replay_headless
from devui.worker.replay.refresh import refresh_headless
from tests.kit.grown_app import root_agent
from tests.kit.patience import PATIENCE
from tests.kit.rounds import rounds

LEAVES = st.one_of(
    st.just(["tell"]),
    st.tuples(st.sampled_from(["ask", "ask", "ask", "fail"]), st.integers(0, 2)).map(list),
)
TREES = st.recursive(
    LEAVES,
    lambda below: st.tuples(
        st.sampled_from(["all", "all", "each", "loop"]), st.lists(below, min_size=1, max_size=3)
    ).map(lambda made: [made[0], *made[1]]),
    max_leaves=5,
)


def asked(tree: Any) -> Recording:
    """Return a recording with the user's message only."""
    message = {"role": "user", "parts": [{"text": json.dumps(tree)}]}
    return Recording(app="grown", user="u", session="s", message=message)


async def check(tree: Any) -> None:
    async with asyncio.timeout(PATIENCE):
        recorded = (await refresh_headless(root_agent, asked(tree))).recording
        verdict = (await replay_headless(root_agent, recorded)).verdict
        assert (verdict.identical, verdict.divergence) == (True, None)
        assert verdict.events == len(recorded.events)
        if not any(call.open for call in recorded.calls):
            again = await refresh_headless(root_agent, recorded)
            assert again.live == []
            # Parallel calls begin in any order.
            assert replace(again.recording, calls=[]) == replace(recorded, calls=[])


@pytest.mark.slow
@settings(max_examples=rounds(10, 25), deadline=None)
@given(tree=TREES)
def test_a_replay_of_any_run_and_a_new_recording_are_identical(tree: Any) -> None:
    asyncio.run(check(tree))
