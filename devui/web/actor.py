"""Who does something on a page: what the others see beside it."""

from starlette.datastructures import FormData

_LONGEST = 100


def actor_of(form: FormData) -> str:
    """The name that the tab has given itself; without scripts it has none."""
    return str(form.get("actor") or "a page")[:_LONGEST]
