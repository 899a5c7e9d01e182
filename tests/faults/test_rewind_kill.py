"""A server is killed between a rewind and the message that follows it, which isn't lost (R35)."""

import pytest

from tests.kit.cutoff import Clerk
from tests.kit.debugged_run import DebuggedRun
from tests.kit.killable_servers import KillPlan, ServerForker

ANEW = "look again"


@pytest.fixture(scope="module")
def forker():
    with ServerForker() as forker:
        yield forker


@pytest.mark.req("R35")
@pytest.mark.parametrize(
    "plan",
    [
        KillPlan("before", "UPDATE runs SET status"),  # the rewind's run is ending
        KillPlan("before", "INSERT INTO runs", 2),  # the message's run is starting
    ],
    ids=lambda plan: f"{plan.place} {plan.statement}",
)
def test_the_message_after_a_rewind_can_be_sent_again_after_a_kill(forker, tmp_path, plan):
    clerk, data = Clerk(tmp_path / "agents"), tmp_path / "data"
    clerk.will_finish()
    forked = forker.serve(tmp_path / "agents", data)
    with forked.client() as client:
        debugged = DebuggedRun(client, "clerk").start("look", pause=False)
        debugged.settled()
        invocation = debugged.position["invocationId"]
    forked.kill()
    forked = forker.serve(tmp_path / "agents", data, plan)
    with forked.client() as client:
        body = {"invocationId": invocation, "message": ANEW}
        client.post(f"/api/sessions/{debugged.key}/rewind", json=body)
    forked.ended()
    forked = forker.serve(tmp_path / "agents", data)
    with forked.client() as client:
        debugged.client = client
        stands = client.get(f"/api/sessions/{debugged.key}/cutoff").json()
        assert stands["unsentMessage"]["parts"] == [{"text": ANEW}]
        page = client.get(f"/sessions/{debugged.key}", headers={"Accept": "text/html"}).text
        assert "Send again" in page
        assert f'value="{ANEW}"' in page
        debugged.start(stands["unsentMessage"], pause=False)
        assert debugged.settled()["status"] == "done"
        assert debugged.texts()[-1] == "seen: look here done"
        stands = client.get(f"/api/sessions/{debugged.key}/cutoff").json()
        assert (stands["status"], stands["unsentMessage"]) == ("idle", None)
    forked.kill()
