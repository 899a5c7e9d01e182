"""One case for each difference that the generated cases avoid."""

import enum
import io
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field

from tests.differential.case import case
from tests.differential.cases.credentials import KEY, given
from tests.differential.differing_aside import (
    ALIASED_ANSWERS,
    CREDENTIALS_TWICE,
    NAMELESS_FILES,
    ODD_DELTAS,
    PARTS_AS_CONTENTS,
    REFUSED_FILES,
    SAID_BY_USERS,
    TEMPORARY_OF_THE_DELETED,
)
from tests.differential.script import call

FILE = {"app_name": "app", "user_id": "u", "session_id": "s"}


def pay(amount: int) -> str:
    """Pays."""
    return f"paid {amount}"


@case()
async def a_function_without_a_context_says_what_to_confirm(stage):
    def is_much(amount: int) -> bool:
        return amount > 3

    tool = stage.ns.FunctionTool(pay, require_confirmation=is_much)
    await stage.open(stage.agent("agent", call("pay", amount=2), "Done.", tools=[tool]))
    await stage.say()


class Order(BaseModel):
    """What is ordered."""

    model_config = ConfigDict(extra="forbid")
    item: str = Field(alias="theItem")
    many: int = Field(default=1, ge=1)


def stock() -> str:
    """What there is."""
    return "tea"


@case(differs=ALIASED_ANSWERS)
async def a_structured_answer_has_aliases_and_limits(stage):
    answers = call("set_model_response", theItem="tea", many=2), "Never."
    await stage.open(stage.agent("agent", *answers, tools=[stock], output_schema=Order))
    await stage.say()


class Size(enum.Enum):
    """A plain enum."""

    LARGE = "large"


@case()
async def a_tool_writes_an_enum_into_the_state(stage):
    def measure(tool_context) -> str:
        """Measures."""
        tool_context.state["size"] = Size.LARGE
        return "measured"

    agent = stage.agent(
        "agent", call("measure"), "Done.", tools=[measure], instruction="It is {size?}."
    )
    await stage.open(agent)
    await stage.say()


@case(differs=REFUSED_FILES)
async def a_file_is_refused_by_a_folder_of_artifacts(stage):
    with TemporaryDirectory() as folder:
        service = stage.ns.FileArtifactService(root_dir=folder)
        try:
            await service.save_artifact(**FILE, filename="f.txt", artifact=types.Part())
        except Exception as error:  # noqa: BLE001  the exception is part of the record
            stage.note("raised", type(error).__name__)
        stage.note("files", await service.list_artifact_keys(**FILE))


async def _deleted(stage, folder):
    service = stage.ns.SqliteSessionService(str(Path(folder) / "sessions.db"))
    session = await service.create_session(**FILE)
    await service.delete_session(**FILE)
    event = stage.ns.event("a", "late", actions=stage.ns.actions(state_delta={"temp:k": 1}))
    try:
        await service.append_event(session, event)
    except Exception as error:  # noqa: BLE001  the exception is part of the record
        stage.note("raised", type(error).__name__)
    stage.note("state", session.state)


@case(differs=TEMPORARY_OF_THE_DELETED)
async def an_event_comes_for_a_deleted_session(stage):
    with TemporaryDirectory() as folder:
        await _deleted(stage, folder)


@case(differs=NAMELESS_FILES)
async def a_database_is_given_an_empty_session_id(stage):
    with TemporaryDirectory() as folder:
        url = f"sqlite+aiosqlite:///{folder}/sessions.db"
        service = stage.ns.DatabaseSessionService(url)
        session = await service.create_session(app_name="app", user_id="u", session_id="")
        stage.note("has an id", session.id != "")
        await service.close()


def _refused(stage, what, make):
    try:
        make()
    except Exception as error:  # noqa: BLE001  the exception is part of the record
        stage.note(what, type(error).__name__)
    else:
        stage.note(what, "taken")


@case(differs=PARTS_AS_CONTENTS)
async def a_part_is_given_for_a_content(stage):
    part = types.Part(text="hi")
    _refused(stage, "content", lambda: stage.ns.Event(author="a", content=part))
    _refused(stage, "content", lambda: stage.ns.LlmResponse(content=part))


@case(differs=ODD_DELTAS)
async def the_changes_of_an_event_are_no_dict(stage):
    actions = stage.ns.EventActions()
    for what in ("state_delta", "artifact_delta"):
        _refused(stage, what, lambda what=what: setattr(actions, what, "text"))


@case(differs=SAID_BY_USERS)
async def what_run_debug_prints(stage):
    stdout = io.StringIO()
    runner = stage.ns.InMemoryRunner(agent=stage.agent("agent", "Hello."), app_name="app")
    with redirect_stdout(stdout):
        await runner.run_debug("go")
    lines = stdout.getvalue().splitlines()
    stage.note([line.lower() for line in lines if line.endswith((" go", " Hello."))])


@case()
async def a_tool_of_a_batch_returns_parts_for_the_model(stage):
    def picture() -> list[types.Part]:
        """Shows."""
        return [types.Part(inline_data=types.Blob(data=b"png", mime_type="image/png"))]

    answers = [call("picture"), call("stock")], "Done."
    plugin = stage.ns.MultimodalToolResultsPlugin()
    await stage.open(stage.agent("agent", *answers, tools=[picture, stock]), plugins=[plugin])
    await stage.say()


def _unlock(stage):
    config = stage.ns.AuthConfig.model_validate({"auth_scheme": KEY, "credential_key": "the key"})

    def unlock(door: str, tool_context) -> str:
        """Opens a door."""
        credential = tool_context.get_auth_response(config)
        if credential is None:
            tool_context.request_credential(config)
            return "asked"
        stage.note("opened", door)
        return f"{door} opened with {credential.api_key}"

    return unlock


@case(differs=CREDENTIALS_TWICE)
async def a_credential_is_given_twice(stage):
    answers = call("unlock", door="a"), "Open.", "Still open."
    await stage.open(stage.agent("agent", *answers, tools=[_unlock(stage)]))
    await stage.say()
    answer = given(stage, "k")
    await stage.say(answer)
    await stage.say(answer)
