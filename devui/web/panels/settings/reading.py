"""Reads and checks settings from forms and from API requests."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import Field
from starlette.datastructures import FormData
from typing_extensions import TypedDict

from devui.debugger.apps.apps import UnknownApp
from devui.debugger.runs.options import NAMES, settings_in
from devui.debugger.workers.trials import TrialFailed
from devui.debugger.workers.workers import AppBroken
from devui.store.rows import SessionRow
from devui.web.adk.contents import Strict
from devui.web.errors import Unprocessable
from devui.web.panels.questions.schema_forms import WrongFields
from devui.web.services import Services
from devui.wire.settings import RunSettings

MOST_TOKENS: Final = 10_000_000
_LONGEST_NAME: Final = 300
_LONGEST_INSTRUCTION: Final = 100_000


class SettingsBody(Strict):
    """Settings for this run's model calls; members left out or null keep the agents' own values."""

    model: str | None = Field(default=None, min_length=1, max_length=_LONGEST_NAME)
    """The name of a model, as an agent would give it."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, ge=0, le=1)
    max_output_tokens: int | None = Field(default=None, ge=1, le=MOST_TOKENS)
    instruction: str | None = Field(default=None, min_length=1, max_length=_LONGEST_INSTRUCTION)
    """Appended to each system instruction."""

    def to_settings(self) -> RunSettings:
        return RunSettings(**{name: getattr(self, name) for name in NAMES})


class SettingsJson(TypedDict, total=False):
    """The settings a run was started with; members left out had the agents' own values."""

    model: str
    temperature: float
    topP: float
    maxOutputTokens: int
    instruction: str


async def settings_of_body(
    services: Services, session: SessionRow, body: SettingsBody | None
) -> RunSettings | None:
    """Return the settings of a request's body; None without any. Raises Unprocessable."""
    if body is None:
        return None
    settings = body.to_settings()
    if problem := await _problem_of_model(services, session, settings):
        place = ("body", "settings", "model")
        raise Unprocessable([{"type": "value_error", "loc": place, "msg": problem}])
    return settings


def texts_in(form: FormData) -> dict[str, str]:
    """Return the texts of the form's fields."""
    return {key: str(form.get(key) or "").strip() for key in NAMES.values()}


async def settings_of_form(
    services: Services, session: SessionRow, texts: Mapping[str, str]
) -> RunSettings:
    """Return the settings in the fields' texts. Raises WrongFields."""
    wrong: dict[str, str] = {}
    values: dict[str, Any] = {}
    for key, most in (("model", _LONGEST_NAME), ("instruction", _LONGEST_INSTRUCTION)):
        values[key] = texts[key] or None
        if len(texts[key]) > most:
            wrong[key] = f"Enter at most {most:,} characters."
    for key, highest in (("temperature", 2), ("topP", 1)):
        if texts[key]:
            values[key] = number = _decimal(texts[key])
            if number is None or not 0 <= number <= highest:
                wrong[key] = f"Enter a number from 0 to {highest}."
    if texts["maxOutputTokens"]:
        values["maxOutputTokens"] = count = _whole(texts["maxOutputTokens"])
        if count is None or not 1 <= count <= MOST_TOKENS:
            wrong["maxOutputTokens"] = f"Enter a whole number from 1 to {MOST_TOKENS:,}."
    settings = settings_in(values)
    if "model" not in wrong and (problem := await _problem_of_model(services, session, settings)):
        wrong["model"] = problem
    if wrong:
        raise WrongFields(wrong)
    return settings


def _decimal(text: str) -> float | None:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None


async def _problem_of_model(services: Services, session: SessionRow, settings: RunSettings) -> str:
    """Return why the run can't use its model; "" if it can, or if its app doesn't load, which the
    run itself will report."""
    if settings.model is None:
        return ""
    try:
        reason = await services.runs.trials.check_model(session.app, settings.model)
    except (UnknownApp, AppBroken, TrialFailed):
        return ""
    if not reason:
        return ""
    return (
        f"{session.app} can't use the model {settings.model!r}: {_first_line(reason)} "
        "Check the name, or leave the field empty to use the agent's own model."
    )


def _first_line(reason: str) -> str:
    line = reason.strip().splitlines()[0].partition(" Known: ")[0].strip()
    return line if line.endswith(".") else f"{line}."
