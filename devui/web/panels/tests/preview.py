"""A test as it would be written, and the choices behind it."""

from collections.abc import Mapping, Sequence
from typing import Final

from devui.debugger.saved_tests.keeper import Offer, TestFiles
from devui.web.links import session_url
from devui.web.panels.tests.parts import CheckChoice, RunChoice, TestPreview
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import plural

FOLDER: Final = "tests"
"""The default folder for tests."""
_ALWAYS: Final = "error"


def run_choices(
    session: int, offers: Sequence[Offer], choices: Mapping[str, Sequence[str]] | None
) -> tuple[RunChoice, ...]:
    """Return the runs and their checks, selected as in `choices`, or as offered if None."""
    return tuple(_run(session, offer, choices) for offer in offers)


def _run(session: int, offer: Offer, choices: Mapping[str, Sequence[str]] | None) -> RunChoice:
    first = offer.recording.first
    checks_on = None if choices is None else choices.get(offer.run)
    return RunChoice(
        run=offer.run,
        name=offer.name,
        first_href=session_url(session, event=first),
        first=f"#{first}",
        is_chosen=choices is None or checks_on is not None,
        checks=tuple(
            CheckChoice(
                value=f"{offer.run}:{check.id}",
                label=visible(check.label),
                is_chosen=check.on if checks_on is None else check.id in checks_on,
                always=check.id == _ALWAYS,
            )
            for check in offer.checks
        ),
    )


def preview(file: str, files: TestFiles, *, there: bool, overwrite: bool) -> TestPreview:
    """Return the preview of a test at the path `file`; `there` is whether that file exists."""
    return TestPreview(
        file=visible(file),
        code=visible(files.test[1]),
        recordings=plural(len(files.recordings), "recording"),
        redacted=tuple(
            f"{visible(kind)}, {plural(count, 'time')}"
            for kind, count in sorted(files.redacted.items())
        ),
        there=there,
        overwrite=overwrite,
    )
