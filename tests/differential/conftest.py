"""google-adk's records of the cases, made once for all tests and cached until the cases change."""

import os
from collections.abc import Iterator

import pytest

from devui.runtime.models import registry
from tests.differential.normal import Json
from tests.differential.oracle import NoOracleError, reference


@pytest.fixture(scope="session")
def theirs(pytestconfig: pytest.Config) -> Json:
    """Return google-adk's record of every case by name, from pytest's cache."""
    try:
        return reference(pytestconfig.cache.mkdir("google-adk"))
    except NoOracleError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))


@pytest.fixture(autouse=True)
def _a_model_class_is_registered_for_its_case_alone() -> Iterator[None]:
    """Restore the process-wide registry, whose entries later tests see in error messages."""
    classes = dict(registry._classes)
    yield
    registry._classes.clear()
    registry._classes.update(classes)
