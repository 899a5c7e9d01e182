"""The settings of runs, in words and as fields."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from devui.debugger.runs.options import NAMES, last_settings
from devui.debugger.workers.workers import AppStatus
from devui.store.rows import SessionRow
from devui.web.panels.settings.parts import RunSettingsForm, Setting
from devui.web.services import Services
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import clipped
from devui.wire.messages import AgentInfo
from devui.wire.settings import RunSettings

_FIELDS: Final = (
    Setting("model", "Model"),
    Setting("temperature", "Temperature", "decimal"),
    Setting("topP", "Top-p", "decimal"),
    Setting("maxOutputTokens", "Max output tokens", "whole"),
    Setting("instruction", "Append to system instruction", "long"),
)


async def run_settings(
    services: Services, session: SessionRow, app: AppStatus | None
) -> RunSettingsForm:
    """Return the form for the session's next run, filled in as for its last one."""
    last = await last_settings(services.journal, session.key)
    return settings_form(agents_of(app), values_of(last))


def agents_of(app: AppStatus | None) -> list[AgentInfo]:
    """Return the app's agents; none until it is loaded."""
    return app.info.agents if app and app.info else []


def settings_form(
    agents: list[AgentInfo], values: Mapping[str, str], errors: Mapping[str, str] | None = None
) -> RunSettingsForm:
    """Return the form with these values and errors, both by the names of the fields."""
    wrong = errors or {}
    own = values_of(agents[0].settings) if agents else {}
    if agents and agents[0].model:
        own["model"] = agents[0].model
    models = tuple(dict.fromkeys(visible(each.model) for each in agents if each.model))
    fields = tuple(
        replace(
            each,
            value=values.get(each.name, ""),
            own=visible(own.get(each.name, "")),
            options=models if each.name == "model" else (),
            error=wrong.get(each.name, ""),
        )
        for each in _FIELDS
    )
    return RunSettingsForm(fields, is_open=bool(wrong))


def values_of(settings: RunSettings | None) -> dict[str, str]:
    """Return the settings that have a value, as texts by the names of the fields."""
    values = ((key, getattr(settings, name, None)) for name, key in NAMES.items())
    return {key: _text(value) for key, value in values if value is not None}


def _text(value: object) -> str:
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def in_words(settings: RunSettings) -> str:
    """Return a run's settings: `temperature 0.2, top-p 0.9`; "" for the agents' own."""
    return ", ".join(_words(values_of(settings)))


def _words(values: Mapping[str, str]) -> Iterator[str]:
    for field in _FIELDS:
        if value := values.get(field.name):
            label = field.label[0].lower() + field.label[1:]
            yield f"{label}{':' if field.kind == 'long' else ''} {visible(clipped(value))}"
