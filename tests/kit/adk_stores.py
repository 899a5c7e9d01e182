"""Sessions as stored by google-adk's own services, which a Python with google-adk runs."""

from pathlib import Path

from tests.kit.oracle import run_stores

_TALK = """
import datetime, decimal, enum, sys, uuid
from google.adk.events import Event, EventActions
from google.adk.tools.tool_confirmation import ToolConfirmation
from google.genai import types

def text(role, words):
    return types.Content(role=role, parts=[types.Part(text=words)])

def talk(number, pickled=False):
    base = 1_750_000_000.25 + 100 * number
    call = types.FunctionCall(id="call_1", name="look_up", args={"snake_case": {"a_b": 1}})
    answer = types.FunctionResponse(id="call_1", name="look_up", response={"is_ok": True})
    delta = {"city": "London", "a_list": [1, {"x_y": None}], "user:home": f"H{number}",
             "app:runs": number}
    if pickled:
        delta |= {"when": datetime.datetime(2026, 1, 2, 3, 4, 5, 6), "tags": {"one"},
                  "price": decimal.Decimal("1.50"), "raw": b"ab", "odd": complex(1, 2)}
    return [
        Event(id="e1", author="user", invocation_id="i1", timestamp=base,
              content=text("user", "hi")),
        Event(id="e2", author="travel", invocation_id="i1", timestamp=base + 1,
              content=types.Content(role="model", parts=[
                  types.Part(function_call=call, thought_signature=b"sig")]),
              long_running_tool_ids={"call_1"},
              usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=7)),
        Event(id="e3", author="travel", invocation_id="i1", timestamp=base + 1,
              content=types.Content(role="user", parts=[types.Part(function_response=answer)]),
              actions=EventActions(state_delta=delta, artifact_delta={"plan.txt": 0},
                  transfer_to_agent="hotels", requested_tool_confirmations={
                      "call_1": ToolConfirmation(hint="sure?", payload={"in_it": 1})})),
        Event(id="e4", author="travel", invocation_id="i1", timestamp=base + 2,
              content=text("model", "Booked."), custom_metadata={"my_key": {"in_ner": 1}}),
    ]

async def fill(service, pickled=False):
    for number, user in enumerate(("ann", "ann", "ben"), 1):
        state = {"begun_with": number, "app:shared": "all", "user:kind": user,
                 "__session_metadata__": {"displayName": f"Trip {number}"}}
        session = await service.create_session(
            app_name="travel", user_id=user, session_id=f"s{number}", state=state)
        for event in talk(number, pickled):
            await service.append_event(session, event)

async def said(service, session, user):
    stored = await service.get_session(app_name="travel", user_id=user, session_id=session)
    print(stored.model_dump_json(by_alias=True, exclude_none=True))
"""

_SQLITE = """
from google.adk.sessions.sqlite_session_service import SqliteSessionService
service = SqliteSessionService(args[0])
await fill(service)
await said(service, "s1", "ann")
"""

_DATABASE = """
from google.adk.sessions import DatabaseSessionService
if args[1] == "0":
    from sqlalchemy.ext.asyncio import create_async_engine
    from google.adk.sessions.schemas import v0
    engine = create_async_engine(args[0])
    async with engine.begin() as connection:
        await connection.run_sync(v0.Base.metadata.create_all)
    await engine.dispose()
service = DatabaseSessionService(args[0])
await fill(service, args[1] == "0")
await said(service, "s1", "ann")
await service.close()
"""

_FILES = """
from google.adk.artifacts import FileArtifactService
from google.genai import types
service = FileArtifactService(root_dir=args[0])
where = {"app_name": "travel", "user_id": "ann", "session_id": "s1"}
plan = types.Part(text="fly at noon")
await service.save_artifact(filename="plan.txt", artifact=plan, **where)
later = types.Part(text="fly at one")
await service.save_artifact(filename="plan.txt", artifact=later, **where,
                            custom_metadata={"by": "ann"})
image = types.Part(inline_data=types.Blob(mime_type="image/png", data=b"PNG"))
await service.save_artifact(filename="maps/way.png", artifact=image, **where)
await service.save_artifact(filename="user:pass.txt", artifact=plan, **where)
"""


def sqlite_store(file: Path) -> str:
    """Make a file of SqliteSessionService; return ann's session s1 as google-adk reads it back."""
    file.parent.mkdir(parents=True, exist_ok=True)
    return _run(_SQLITE, file)


def database_store(url: str, schema: str) -> str:
    """Make a database of DatabaseSessionService, by schema 0 or 1; return the same session."""
    return _run(_DATABASE, url, schema)


def artifact_store(folder: Path) -> None:
    """Make a folder of FileArtifactService, with the artifacts of ann's session s1."""
    _run(_FILES, folder)


def _run(code: str, *args: str | Path) -> str:
    return run_stores(_TALK + code, *args)
