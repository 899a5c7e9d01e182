"""What a page is told of a run, piece by piece (Law 5)."""

from pathlib import Path

from devui.debugger.events.feed import Batch
from devui.debugger.events.news import RunChanged
from devui.settings import Settings
from devui.web.panels.session.live import LivePage
from devui.web.program import opened
from devui.web.security.access import Access
from tests.faults.zoo import AGENTS
from tests.kit.server import write_app


async def test_no_run_is_said_to_be_over_before_the_page_has_its_last_events(
    tmp_path: Path,
) -> None:
    """As when it ends while what it began with is on its way to the page."""
    write_app(tmp_path / "agents", "fine", AGENTS["fine"])
    settings = Settings(agents=tmp_path / "agents", data_dir=tmp_path / "data", auth=False)
    async with opened(settings, Access(None)) as found:
        session = await found.journal.sessions.create("fine", "u", None, {})
        page = LivePage(found, session, past=False)
        await page.begin(await found.journal.head())
        begun = await found.journal.runs.start("r", session.key)
        over = await found.journal.runs.change("r", "done")
        first = await page.render(Batch(begun.seq, [RunChanged(begun)]))
        assert "run done" not in first
        assert "run done" in await page.render(Batch(over.seq, [RunChanged(over)]))
