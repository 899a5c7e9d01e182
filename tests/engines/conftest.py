"""Apps written for google-adk, in an environment without it."""

import shutil

import pytest

from tests.kit.server import ROOT, running

PROJECTS = ROOT / "tests" / "projects"


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    folder = tmp_path_factory.mktemp("projects")
    shutil.copytree(PROJECTS, folder, dirs_exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def server(projects, tmp_path_factory):
    with running(projects, tmp_path_factory.mktemp("engines") / "data") as server:
        yield server


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client
