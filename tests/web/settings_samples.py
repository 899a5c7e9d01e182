"""The form with settings of runs: empty, filled in, and invalid."""

from devui.web.panels.settings.panel import settings_form
from devui.wire.messages import AgentInfo
from devui.wire.settings import RunSettings

AGENTS = [
    AgentInfo(
        name="TravelAgent",
        type="LlmAgent",
        model="gemini-2.5-flash",
        settings=RunSettings(temperature=0.7),
    )
]
EMPTY = settings_form(AGENTS, {})
FILLED = settings_form(
    AGENTS, {"model": "gemini-2.5-pro", "temperature": "0.2", "instruction": "Be brief."}
)
WRONG = settings_form(
    AGENTS, {"temperature": "hot"}, {"temperature": "Enter a number from 0 to 2."}
)
ALL = (EMPTY, FILLED, WRONG)
