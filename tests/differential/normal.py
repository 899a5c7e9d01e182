"""Normalises what two runtimes may name and word differently; everything else stays as it is.

The rules of this module are themselves differences that agent authors should know: EVERYWHERE
lists them for the guide.
"""

import json
import re
from typing import Any

from pydantic.alias_generators import to_snake

from tests.differential.case import Case, Difference

Json = Any

_ID = re.compile(r"(adk-|e-|)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_PREAMBLES = ("For your information: another agent ", "For context:")
_QUOTED = re.compile(r"<<<BEGIN_(\w+)>>>\n(.*?)\n<<<END_\w+>>>", re.DOTALL)
_SAVED = re.compile(r"artifact_e-[0-9a-f-]+_\d+")
_MEMORY = re.compile(r"^.*?(?=<PAST_CONVERSATIONS>)", re.DOTALL)
_WORDED = re.compile(
    r"^(Error: agent |This is |Referenced |The model (ended|returned) "
    r"|\[(Artifact|Binary artifact:) file)",
    re.DOTALL,
)
"""The beginnings of texts that a runtime writes in place of a tool or an agent."""
_DOCSTRINGS = ("The question to a human", "Represents a tool confirmation")
"""The beginnings of descriptions in JSON schemas that are docstrings of the runtime's classes."""
_FROM_CASES = re.compile(r"boom[\w ]*")
_NAMED = re.compile(r"(?<=[`'])[\w.-]+(?=(?:\(\))?[`'])|\w+(?=\(\))|\w+_callback")
"""What a text quotes or calls, and the names of hooks."""
_WORDS = re.compile(r"<worded: (.*?); ([^>]*)>")
_NOTE = re.compile(r"\n+(?:NOTE|IMPORTANT):")
_FENCE = re.compile(r"(?<=<<<BEGIN_)UNTRUSTED_|(?<=<<<END_)UNTRUSTED_")
_STAMPS, _STAMP = "__adk_internal_fc_hmac", re.compile(r"v1:(?!0{64})[0-9a-f]{64}")
_AUTHOR = re.compile(r"\[(\w+)\]")
_OURS = (
    "exit_loop",
    "finish_task",
    "get_user_choice",
    "google_search_agent",
    "load_artifacts",
    "load_mcp_resource",
    "load_memory",
    "load_skill",
    "load_skill_resource",
    "list_skills",
    "run_skill_script",
    "set_model_response",
    "transfer_to_agent",
)
"""The built-in tools, which each runtime describes in its own words."""

EVERYWHERE = (
    Difference(
        "Streamed chunks",
        here="A partial event has no actions. Its function calls have no generated ids and are"
        " never marked as long-running. It is never a final response.",
        there="Partial events share their actions and `node_info` with the whole answer, so later"
        " changes appear in them; a call in a chunk has a different id than in the whole answer.",
        why="Chunks are only for display and never committed (events seed). What counts is the"
        " whole answer, which has the same id.",
    ),
    Difference(
        "Sign-ins and tokens",
        here="The state of a sign-in is always compared with the requested one. If a sign-in is"
        " refused, or an expired token can't be refreshed, the user is asked again. A refused"
        " client or account ends the run with CredentialExchangeError; clients request the scopes"
        " of their flow. Only the Runner's credential service stores tokens: without one, such as"
        " InMemoryCredentialService(), users sign in once per turn. A token URL that redirects is"
        " an error.",
        there="The tool runs without a token. OpenAPI tools store tokens in the session's state."
        " Redirects receive the secrets.",
        why="A missing token shows up late and far from its cause, and many can read the state.",
    ),
    Difference(
        "Finished nodes",
        here="If a Workflow node finishes without output or route, an empty event in the session"
        " records it. The Runner doesn't yield it: the last event of a run is the answer.",
        there="There is no event, or none that distinguishes a finished node from a running one.",
        why="A resumed invocation must not run finished nodes again, such as one that has sent a"
        " letter, and the timeline shows that the node ran.",
    ),
    Difference(
        "Nodes that call different nodes when resumed",
        here="In a resumed invocation, results of `run_node` are returned in the recorded order; a"
        " result that isn't due within a second is returned then.",
        there="The run fails with WorkflowInvariantError after 15 seconds.",
        why="Code may skip a node once it has an answer.",
    ),
    Difference(
        "Folders of ids with slashes",
        here="FileArtifactService stores the artifacts of `team/ann` in one folder, `team%2Fann`.",
        there="It creates nested folders; `a//b` and `a/b` share one.",
        why="Two users must not share artifacts.",
    ),
    Difference(
        "Classes of security schemes",
        here="They are classes of `devui.runtime.auth.auth_schemes`, with the fields and JSON of"
        " OpenAPI; fastapi's are accepted, too. The operation of an OpenAPI tool is not a fastapi"
        " class.",
        there="They are fastapi classes.",
        why="Nothing else needs fastapi, and agents start faster without it.",
    ),
    Difference(
        "Aliases of fields in tool results",
        here="In function responses, fields of pydantic models have their names everywhere: for"
        " models, in the session and for clients.",
        there="Models and session files get the names; clients that follow the run live get the"
        " aliases, such as `inlineData`.",
        why="An event should be the same whenever you look at it.",
    ),
    Difference(
        "Several answers in one message",
        here="A message that answers calls of several agents or nodes becomes an event on their"
        " common branch, so that each gets its answer.",
        there="The event is on the branch of the first call; models on other branches don't see"
        " it.",
        why="A user's answer must not be lost.",
    ),
    Difference(
        "Answers of remote agents",
        here="`a2a:response` has the message, or the task with its state and artifact names; their"
        " content is only in the event's content. File bytes are left out, also of `a2a:request`,"
        " which chunks don't have. `is_user_input` marks the user's messages.",
        there="Every event, chunks included, has the sent message and the whole task so far."
        " Messages of other agents are also marked as the user's.",
        why="The session would store everything several times and grow quadratically with an"
        " answer.",
    ),
    Difference(
        "Wording",
        here="Error messages, preambles of quoted agents, identity and transfer instructions and"
        " the descriptions of built-in tools have devui's own wording and say what to do.",
        there="The wording is different, with the same meaning and in the same places.",
        why="Nothing was copied. Code should rely on error codes, types and tool names.",
    ),
)


def normalized(record: Json, case: Case, *, without: bool = False) -> Json:
    """Return a case's record in comparable form; `without` also removes its intended difference."""
    plain = json.loads(json.dumps(record, sort_keys=True, default=repr))
    for session in plain["sessions"].values():
        _count_times(session["events"])
    for holder in (*plain["runs"], *plain["sessions"].values()):
        holder["events"] = [_event(event) for event in holder["events"] if not _only_ends(event)]
    for run in plain["runs"]:
        if run["error"]:
            run["error"]["message"] = _wording(run["error"]["message"])
    words = plain.pop("words")
    plain["requests"] = [_request(request, words) for request in plain["requests"]]
    if without and case.differs and case.differs.without:
        plain = case.differs.without(plain)
    if case.unordered:
        plain = _ordered(plain)
    return _with_counted_ids(plain)


def _count_times(events: Json) -> None:
    """Replace the timestamps in compactions by the numbers of the events with these timestamps."""
    numbers = {event.get("timestamp"): f"#{number}" for number, event in enumerate(events)}
    for event in events:
        covered = event.get("actions", {}).get("compaction") or {}
        for end in ("startTimestamp", "endTimestamp"):
            if end in covered:
                covered[end] = numbers.get(covered[end], "no event's time")


def _only_ends(event: Json) -> bool:
    """Remove the marks of node ends, and return whether the event only says that a node has ended.

    See EVERYWHERE.
    """
    marks = event.get("customMetadata") or {}
    end_mark = marks.pop("__adk_internal_node_ended", None)
    route = marks.pop("__adk_internal_node_route", None)  # the next event has it
    if (end_mark or route is not None) and not marks:
        del event["customMetadata"]
    return bool(end_mark) and not any(event["actions"].values()) and "content" not in event


def _event(event: Json) -> Json:
    event = _elsewhere(_stamped({key: value for key, value in event.items() if key != "timestamp"}))
    if "errorMessage" in event:
        event["errorMessage"] = _wording(event["errorMessage"])
    if "content" in event:
        event["content"] = _content(event["content"])
    if "actions" in event:
        event["actions"] = _worded(event["actions"])
    if event["author"] == "user" and _answers_several(event):
        event.pop("branch", None)
    return _fragment(event) if event.get("partial") else event


def _answers_several(event: Json) -> bool:
    """Whether the event answers several calls; see EVERYWHERE."""
    parts = event.get("content", {}).get("parts") or ()
    return sum("functionResponse" in part for part in parts) > 1


def _elsewhere(event: Json) -> Json:
    """Normalise a remote agent's event: remove times and the differences named in EVERYWHERE."""
    metadata = event.get("customMetadata") or {}
    if "a2a:request" not in metadata and "a2a:response" not in metadata:
        return event
    response = metadata.get("a2a:response") or {}
    response.get("status", {}).pop("timestamp", None)
    for repeated in ("artifacts", "history"):
        response.pop(repeated, None)
    if "a2a:request" in metadata:
        metadata["a2a:request"]["parts"] = _sent(metadata["a2a:request"]["parts"])
    if event.get("partial"):
        metadata.pop("a2a:request", None)
    if not event.get("longRunningToolIds"):
        event.pop("longRunningToolIds", None)
    return event


def _sent(parts: Json) -> Json:
    """Normalise a message to a remote agent: remove bytes, and mark quotations."""
    request_parts: list[Json] = []
    for part in parts:
        part.pop("raw", None)
        if _QUOTED.search(part.get("text") or ""):
            if request_parts and "text" in request_parts[-1]:
                request_parts.pop()  # the preamble
            request_parts.extend(_quoted({"role": "", "parts": [part]})["parts"])
        else:
            request_parts.append(part)
    return request_parts


def _stamped(event: Json) -> Json:
    """Mask stamps of calls, which depend on generated ids; fragments have no stamps here."""
    metadata = event.get("customMetadata") or {}
    stamps = metadata.pop(_STAMPS, None)
    if isinstance(stamps, dict) and not event.get("partial"):
        metadata[_STAMPS] = {key: _STAMP.sub("v1:<stamp>", stamp) for key, stamp in stamps.items()}
    if "customMetadata" in event and not metadata:
        del event["customMetadata"]
    return event


def _fragment(event: Json) -> Json:
    """Reduce a fragment to its content; for the rest see EVERYWHERE."""
    event.pop("actions", None)
    for told_later in ("messageAsOutput", "outputFor"):
        event.get("nodeInfo", {}).pop(told_later, None)
    event.pop("longRunningToolIds", None)
    event.pop("final", None)
    event["nodeInfo"] = {"path": event["nodeInfo"]["path"]}
    for part in (event.get("content") or {}).get("parts") or []:
        part.get("functionCall", {}).pop("id", None)
    return event


def _content(content: Json) -> Json:
    return content | {"parts": [_part(part) for part in content.get("parts") or []]}


def _part(part: Json) -> Json:
    text = part.get("text") or ""
    if match := _SAVED.search(text):
        return part | {"text": match[0]}
    if "<PAST_CONVERSATIONS>" in text:
        return part | {"text": _MEMORY.sub("", text).strip()}
    if "functionResponse" in part:
        part = part | {"functionResponse": _by_names(part["functionResponse"])}
    return _worded(part)


def _by_names(response: Json) -> Json:
    """Replace aliases of fields in a response by their names; see EVERYWHERE."""
    return response | {"response": _snake(response.get("response"))}


def _snake(value: Json) -> Json:
    if isinstance(value, list):
        return [_snake(each) for each in value]
    if isinstance(value, dict):
        return {to_snake(key): _snake(each) for key, each in value.items()}
    return value


def _worded(value: Json) -> Json:
    """Replace the texts that a runtime words by what they quote."""
    if isinstance(value, list):
        return [_worded(each) for each in value]
    if isinstance(value, dict):
        return {
            key: _wording(each) if _is_worded(key, each) else _worded(each)
            for key, each in value.items()
            if key != "reflection_guidance"
        }
    return value


def _is_worded(key: str, text: Json) -> bool:
    if not isinstance(text, str):
        return False
    if key == "hint":
        return "ToolConfirmation" in text
    if key == "message":  # of a question to the user
        return "()" in text or text.startswith("Please ")
    if key == "description":
        return text.startswith(_DOCSTRINGS)
    if key == "lifecycle_notice":
        return True
    if key == "error_details":
        return "adk_handle_model_error" in text
    if key == "status":
        return len(text) > len("pending")
    return key == "error" or (key in {"result", "text"} and bool(_WORDED.match(text)))


def _wording(text: Json) -> Json:
    """Replace a text worded by the runtime by what it quotes: words of the case, and names."""
    if not isinstance(text, str) or not text:
        return text
    case_words = _FROM_CASES.findall(text)
    candidates = (name for name in _NAMED.findall(text) if not name.isdigit())
    names = {name for name in candidates if not _ID.search(name) and name not in case_words}
    return f"<worded: {' | '.join(case_words)}; {' '.join(sorted(names))}>"


def _request(request: Json, words: list[str]) -> Json:
    label, stream, name, contents, config = request
    tools = [
        declaration
        for tool in config.pop("tools", None) or []
        for declaration in tool.get("functionDeclarations") or [tool]
    ]
    pieces = config.pop("systemInstruction", "").split("\n\n")
    own = "\n".join(piece for piece in pieces if not piece.startswith("Case:"))
    names = [*words, *(tool["name"] for tool in tools if tool.get("name") in _OURS)]
    return {
        "model": label,
        "stream": stream,
        "name": name,
        "contents": [_quoted(_content(content)) for content in contents],
        "tools": [_tool(tool) for tool in tools],
        "told": [piece for piece in pieces if piece.startswith("Case:")],
        "mentioned": _mentioned(own, names),
        "config": config,
    }


def _mentioned(text: str, names: list[str]) -> list[str]:
    """Return the case's names in a runtime's text, except `a` and the like, which may be words."""
    mentions = (name for name in names if re.search(rf"\b{re.escape(name)}\b", text))
    return sorted({name for name in mentions if len(name) > 1})


def _tool(tool: Json) -> Json:
    tool = json.loads(_FENCE.sub("", json.dumps(tool)))
    by_schema = tool.get("name") in {"finish_task", "set_model_response"}
    text, *note = _NOTE.split(tool.get("description", ""), 1)
    if by_schema or (note and tool.get("name") not in _OURS):
        tool = tool | {"parametersJsonSchema": _untitled(tool.get("parametersJsonSchema"))}
    elif tool.get("name") in _OURS and "parametersJsonSchema" in tool:
        schema = tool["parametersJsonSchema"]
        fields = {
            name: each | ({"description": "<worded>"} if "description" in each else {})
            for name, each in schema.get("properties", {}).items()
        }
        tool = tool | {"parametersJsonSchema": schema | {"properties": fields}}
    if str((tool.get("parametersJsonSchema") or {}).get("title")).lower().endswith("_arguments"):
        tool = tool | {"parametersJsonSchema": _of_service(tool["parametersJsonSchema"])}
    description = "<worded>" if tool.get("name") in _OURS else f"{text} <note>" if note else text
    return tool | {"description": description}


def _untitled(schema: Json) -> Json:
    """Clear the titles and descriptions that a runtime gives to the parameters."""
    if schema is None:
        return None
    fields = {
        name: each | {"title": "", "description": ""} for name, each in schema["properties"].items()
    }
    return schema | {"title": "", "description": "", "properties": fields}


def _of_service(schema: Json) -> Json:
    """Drop the generated title and empty descriptions from an OpenAPI operation's parameters."""
    fields = {
        name: {key: value for key, value in each.items() if (key, value) != ("description", "")}
        for name, each in schema["properties"].items()
    }
    return schema | {"title": "", "properties": fields}


def _quoted(content: Json) -> Json:
    """Reduce another agent's quoted content to the quotations and their author."""
    parts = content["parts"]
    if not any(_is_quoting(part.get("text") or "") for part in parts):
        return content
    quoted_parts = []
    for part in parts:
        match = _QUOTED.search(part.get("text") or "")
        if match:
            before = part["text"][: match.start()]
            quoted_parts.append(
                {"quoted": _quotation(match[2]), "as": match[1], "by": _AUTHOR.findall(before)}
            )
        elif "text" not in part:
            quoted_parts.append(part)
    return {"role": content["role"], "parts": quoted_parts}


def _is_quoting(text: str) -> bool:
    """Whether the text quotes something, or introduces what isn't quoted, such as a file."""
    return bool(_QUOTED.search(text)) or text.startswith(_PREAMBLES)


def _quotation(text: str) -> str:
    return f"error: {_wording(text)}" if text.startswith("{'error': ") else text


def _ordered(record: Json) -> Json:
    """Sort events by branch and author, and requests by model; ties keep their order."""
    lists = [record, *record["runs"], *record["sessions"].values()]
    for holder in lists:
        if "events" in holder:
            holder["events"].sort(key=lambda e: (e.get("branch") or "", e.get("author") or ""))
    record["requests"].sort(key=lambda request: request["model"])
    return record


def _with_counted_ids(record: Json) -> Json:
    """Replace each generated id by its kind and the order in which it first appears."""
    counted_ids: dict[str, str] = {}

    def named(match: re.Match[str]) -> str:
        return counted_ids.setdefault(match[0], f"<{match[1]}id {len(counted_ids) + 1}>")

    result = json.loads(_ID.sub(named, json.dumps(record, sort_keys=True)))
    for holder in (*result["runs"], *result["sessions"].values()):
        for event in holder["events"]:
            event.get("longRunningToolIds", []).sort()  # sorted by the generated ids before
    return result


def differences(ours: Json, theirs: Json, path: str = "") -> list[str]:
    """Return the differences between two records, one line each."""
    if type(ours) is not type(theirs):
        return [f"{path}: here {_short(ours)}, there {_short(theirs)}"]
    if isinstance(ours, dict):
        lines = []
        for key in sorted(ours.keys() | theirs.keys()):
            if key not in ours or key not in theirs:
                where, held = ("here", ours) if key in ours else ("there", theirs)
                lines.append(f"{path}.{key}: only {where}: {_short(held[key])}")
            else:
                lines.extend(differences(ours[key], theirs[key], f"{path}.{key}"))
        return lines
    if isinstance(ours, list):
        lines = []
        if len(ours) != len(theirs):
            lines.append(f"{path}: here {len(ours)} items, there {len(theirs)}")
        for index, (one, other) in enumerate(zip(ours, theirs, strict=False)):
            lines.extend(differences(one, other, f"{path}[{index}]"))
        return lines
    same = _says_as_much(ours, theirs) if isinstance(ours, str) else ours == theirs
    return [] if same else [f"{path}: here {_short(ours)}, there {_short(theirs)}"]


def _says_as_much(ours: str, theirs: str) -> bool:
    """Whether two texts differ only in wording; ours may mention more names."""
    if _WORDS.sub("", ours) != _WORDS.sub("", theirs):
        return False
    pairs = zip(_WORDS.findall(ours), _WORDS.findall(theirs), strict=True)
    return all(
        text == also and set(names.split()) >= set(expected.split())
        for (text, names), (also, expected) in pairs
    )


def _short(value: Json) -> str:
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= 300 else f"{text[:300]}…"
