"""A conversation with an agent in the terminal, over the same endpoints as the page.

The agent's texts go to standard output. Everything else goes to standard error: its actions, its
questions and the hints of the chat.
"""

import dataclasses
import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from getpass import getpass
from typing import TYPE_CHECKING, Any, Final

import click

from devui.cli.follow import newest_number, news_of
from devui.cli.output import (
    debugger_lines,
    failure_words,
    json_words,
    output_lines,
    plain,
    position_lines,
)
from devui.client import Client
from devui.debugger.questions.questions import HUMAN_CALLS
from devui.failures import BadRequestError, ConflictError
from devui.web.text.deceptive_characters import readable

with suppress(ImportError):
    import readline  # noqa: F401  (gives input() a history and editing keys)

if TYPE_CHECKING:
    from devui.web.panels.questions.api import QuestionFormJson
    from devui.web.panels.runs.schemas import SessionJson


USER: Final = "user"
_FIRST: Final = ("author", "session_id", "node_path", "id")
"""The members that come first in a line of `--jsonl`, as in `adk run`."""
_INTERNAL: Final = "__adk_internal_"


def texts(event: Mapping[str, Any]) -> list[str]:
    """Return the texts that an event shows to people, without thoughts."""
    return [
        readable(part["text"]) for part in _parts(event) if part.get("text") and not _thinks(part)
    ]


def describe_actions(event: Mapping[str, Any]) -> Iterator[str]:
    """Describe everything else in an event: thoughts, calls, results, files, a transfer."""
    for part in _parts(event):
        if _thinks(part) and part.get("text"):
            yield f"thinks: {plain(part['text'])}"
        elif call := part.get("functionCall"):
            if call.get("name") in HUMAN_CALLS:
                yield _question(call)
                continue
            args = ", ".join(f"{k}={json_words(v)}" for k, v in (call.get("args") or {}).items())
            yield f"→ {plain(call.get('name', ''))}({args})"
        elif result := part.get("functionResponse"):
            yield f"← {plain(result.get('name', ''))}: {json_words(result.get('response'))}"
        elif data := part.get("inlineData"):
            yield f"shows a file ({plain(str(data.get('mimeType') or 'of unknown type'))})"
    actions = event.get("actions") or {}
    for name, version in (actions.get("artifactDelta") or {}).items():
        yield f"saves {plain(name)}, version {version}"
    if actions.get("transferToAgent"):
        yield f"transfers to {plain(actions['transferToAgent'])}"


def error_words(event: Mapping[str, Any]) -> str:
    """Return the error that the event reports; "" if there is none."""
    words = (str(event.get(name) or "") for name in ("errorCode", "errorMessage"))
    return ": ".join(filter(None, words))


def _error_line(words: str) -> str:
    return click.style(f"  {plain(words)}", fg="red")


def _question(call: Mapping[str, Any]) -> str:
    """Describe what the framework asks a person, without the arguments meant for programs."""
    about = (call.get("args") or {}).get("originalFunctionCall") or {}
    name = f": {plain(str(about['name']))}" if about.get("name") else ""
    return f"{HUMAN_CALLS[call['name']]}{name}"


def json_line(event: Mapping[str, Any], session_id: str) -> str:
    """Return the event as `adk run --jsonl` prints it, with `_FIRST` first and no empty actions."""
    line = {**event, "session_id": session_id}
    if path := (event.get("nodeInfo") or {}).get("path"):
        line["node_path"] = path
    actions = {k: v for k, v in (line.pop("actions", None) or {}).items() if v != {}}
    metadata = line.pop("customMetadata", None) or {}
    metadata = {k: v for k, v in metadata.items() if not k.startswith(_INTERNAL)}
    line |= {"actions": actions} if actions else {}
    line |= {"customMetadata": metadata} if metadata else {}
    first = {name: line.pop(name) for name in _FIRST if name in line}
    return json.dumps({**first, **line}, ensure_ascii=False)


def _parts(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    parts = (event.get("content") or {}).get("parts")
    return [part for part in parts or [] if isinstance(part, dict)]


def _thinks(part: Mapping[str, Any]) -> bool:
    return bool(part.get("thought"))


_ADK_LOGGER: Final = "google_adk."
_TRACEBACK: Final = "\nTraceback (most recent call last):"
_SEVERAL: Final = 2
"""With this many choices or more, a person has to choose."""
_YES: Final = frozenset({"y", "yes", "true", "confirm"})
_NO: Final = frozenset({"n", "no", "false", "reject"})

Read = Callable[[str], str]
"""Shows a prompt and reads a line; for secrets, without echoing it."""


def question_lines(form: Mapping[str, Any]) -> list[str]:
    """Return the question, its subject, and the link to sign in, if any."""
    about = [f"  {line}" for line in readable(form["about"]).splitlines()]
    link = [f"  {plain(form['link'])}"] if form["link"] else []
    return [click.style(f"? {readable(form['hint'])}", fg="yellow", bold=True), *about, *link]


def answer_words(form: Mapping[str, Any]) -> str:
    """Describe the message that answers the question: `yes (Confirm) or no (Reject)`."""
    if len(form["choices"]) >= _SEVERAL:
        return choice_words(form["choices"])
    if len(form["fields"]) == 1:
        return plain(form["fields"][0]["label"])
    return f"a JSON object of {', '.join(map(_short, form['fields']))}"


def choice_words(choices: Sequence[Mapping[str, str]]) -> str:
    """Return what to type and what it means: `yes (Confirm) or no (Reject)`."""
    *others, last = [_typed(each) for each in choices]
    return f"{', '.join(others)} or {last}"


def _typed(choice: Mapping[str, str]) -> str:
    value, label = plain(choice["value"]), plain(choice["label"])
    return f"{value} ({label})" if value in _YES | _NO and label.casefold() != value else label


def read_fields(form: Mapping[str, Any], line: Read, secret: Read) -> dict[str, str] | None:
    """Read the fields of a question from a person; return None if they skip it.

    An empty first line skips the question; later empty lines accept the field's default.
    """
    fields: dict[str, str] = {}
    for number, field in enumerate(form["fields"]):
        read = secret if field["kind"] == "secret" else line
        leaves = not number and len(form["choices"]) < _SEVERAL
        while True:
            text = read(_prompt(field, leaves=leaves))
            if leaves and not text:
                return None
            try:
                fields |= _field_values(field, text or field["value"])
            except BadRequestError as wrong:
                click.echo(f"  {wrong}", err=True)
                continue
            break
    if len(form["choices"]) >= _SEVERAL:
        choice = _choice(form, line)
        return None if choice is None else {**fields, "choice": choice}
    return {**fields, "choice": form["choices"][0]["value"]} if form["choices"] else fields


def fields_from(form: Mapping[str, Any], text: str) -> dict[str, str]:
    """Read the fields from one message: a choice, the value of the only field, or a JSON object.

    Raises BadRequestError, which says what can be answered.
    """
    choices = form["choices"]
    defaults = {field["name"]: field["value"] for field in form["fields"]}
    if len(choices) >= _SEVERAL:
        value = _match_choice(choices, text)
        if value is None:
            labels = ", ".join(f"{each['label']!r}" for each in choices)
            raise BadRequestError(
                f"the agent asks {plain(form['hint'])!r}: answer with one of {labels}"
            )
        return {**defaults, "choice": value}
    if len(form["fields"]) == 1:
        return _field_values(form["fields"][0], text)
    names = [_short(field) for field in form["fields"]]
    try:
        answers = json.loads(text)
    except ValueError:
        answers = None
    if not isinstance(answers, dict):
        raise BadRequestError(
            f"the agent asks {plain(form['hint'])!r}: answer with a JSON object of"
            f" {', '.join(names)}"
        )
    fields: dict[str, str] = {}
    for field in form["fields"]:
        if _short(field) in answers:
            value = answers[_short(field)]
            fields |= _field_values(field, value if isinstance(value, str) else json.dumps(value))
    return fields


def _choice(form: Mapping[str, Any], line: Read) -> str | None:
    """Read a choice and return its value; None if the person skips it."""
    choices = form["choices"]
    while text := line(f"  {choice_words(choices)}: "):
        value = _match_choice(choices, text)
        if value is not None:
            return value
        click.echo(f"  type one of them, or its number from 1 to {len(choices)}", err=True)
    return None


def _match_choice(choices: Sequence[Mapping[str, str]], text: str) -> str | None:
    """Return the choice that matches the text: its words or their start, its number, yes or no."""
    text = text.strip().casefold()
    for choice in choices:
        if text in {choice["value"].casefold(), choice["label"].casefold()}:
            return choice["value"]
    for words in (_YES, _NO):
        values = [each["value"] for each in choices if each["value"].casefold() in words]
        if text in words and values:
            return values[0]
    matches = [each["value"] for each in choices if each["label"].casefold().startswith(text)]
    if text and len(matches) == 1:
        return matches[0]
    number = int(text) if text.isascii() and text.isdigit() else 0
    return choices[number - 1]["value"] if 0 < number <= len(choices) else None


def _field_values(field: Mapping[str, Any], text: str) -> dict[str, str]:
    """Return what to send for a field: nothing for an unticked box. Raises BadRequestError."""
    name = field["name"]
    if field["kind"] == "boolean":
        word = text.strip().casefold()
        if word not in _YES | _NO | {""}:
            raise BadRequestError(f"{field['label']}: type yes or no")
        return {name: "on"} if word in _YES else {}
    if field["kind"] == "json":
        return {name: _as_json(text)}
    return {name: text}


def _as_json(text: str) -> str:
    """Return the text if it is JSON, or else as a JSON string."""
    try:
        json.loads(text)
    except ValueError:
        return json.dumps(text, ensure_ascii=False)
    return text


def _prompt(field: Mapping[str, Any], *, leaves: bool) -> str:
    notes = [plain(field["hint"])] if field["hint"] else []
    notes += [" | ".join(map(plain, field["options"]))] if field["options"] else []
    notes += ["yes or no"] if field["kind"] == "boolean" else []
    default = " ".join(field["value"].split())
    notes += [f"such as {plain(default)}" if leaves else f"Enter: {plain(default)}"] * bool(default)
    notes += ["Enter skips it"] if leaves else []
    about = f" ({'; '.join(notes)})" if notes else ""
    return f"  {plain(field['label'])}{about}: "


def _short(field: Mapping[str, Any]) -> str:
    """Return `seats` for `answer.seats`."""
    return str(field["name"]).removeprefix("answer.")


DONE: Final = "done"
_BYE: Final = frozenset({"exit", "quit"})


class DoubleInterrupt(Exception):
    """Ctrl-C was pressed twice."""


@dataclasses.dataclass(slots=True, kw_only=True)
class Chat:
    """A conversation in one session, which is printed as it happens."""

    client: Client
    session: "SessionJson"
    """The session, as in `GET /api/sessions`."""
    as_json: bool
    seconds: float | None
    """The time limit of a turn; None for no limit."""
    shows_authors: bool
    """Whether to print the author before each text."""
    interrupted: bool = dataclasses.field(init=False, default=False)
    """Whether Ctrl-C stopped the last run."""
    _newest: int = dataclasses.field(init=False)
    """The number of the newest event that was printed."""
    _failures: list[tuple[str, list[str]]] = dataclasses.field(init=False, default_factory=list)
    """Reports of an exception, as text and as lines, held back until it's known whether it ends
    the run."""

    def __post_init__(self) -> None:
        self._newest = newest_number(self.client, self.session["key"])

    def show_past(self) -> None:
        """Print the session's events so far."""
        after, key = 0, self.session["key"]
        while rows := self.client.events(key, after=after):
            for row in rows:
                self._print(self.client.event(key, row["number"]))
            after = rows[-1]["number"]

    def say(self, text: str) -> str:
        """Send a message, or the answer to the agent's question; return how the run ended.

        Raises BadRequestError if the text doesn't answer the question, and DoubleInterrupt.
        """
        questions = self.questions()
        if not questions:
            return self._start(text)
        fields = fields_from(questions[0], text)
        _note(f"answers {plain(questions[0]['hint'])!r}")
        return self._answer(questions[0], fields)

    def questions(self) -> "list[QuestionFormJson]":
        """Return the open questions of the agent."""
        return self.client.questions(self.session["key"])

    def ask(self) -> str | None:
        """Ask the person the open questions, and those that arise from the answers.

        Returns how the last run ended; None if nothing was answered. Raises DoubleInterrupt.
        """
        end, left_open = None, set[str]()
        while open_ones := [each for each in self.questions() if each["call"] not in left_open]:
            form = open_ones[0]
            for line in question_lines(form):
                click.echo(line, err=True)
            status = self._ask_one(form)
            if status is None:
                left_open.add(form["call"])
            else:
                end = status
        return end

    def _ask_one(self, form: "QuestionFormJson") -> str | None:
        while True:
            try:
                fields = read_fields(form, read_line, _read_secret)
            except (KeyboardInterrupt, EOFError):
                click.echo(err=True)
                fields = None
            if fields is None:
                _note("not answered; answer on the page, or in the next turn")
                return None
            try:
                return self._answer(form, fields)
            except BadRequestError as wrong:
                click.echo(f"  {wrong}", err=True)
            except ConflictError as conflict:  # such as an answer on the page in the meantime
                _note(str(conflict))
                return None

    def converse(self) -> None:
        """Read messages and print the answers until the person leaves. Raises DoubleInterrupt."""
        warned = False
        while True:
            try:
                text = read_line(click.style("you: ", fg="blue")).strip()
            except EOFError:
                click.echo(err=True)
                return
            except KeyboardInterrupt:
                if warned:
                    raise DoubleInterrupt from None
                warned = True
                click.echo(err=True)
                _note("press Ctrl-C again to leave, or type `exit` or Ctrl-D")
                continue
            warned = False
            if text in _BYE:
                return
            if text:
                self._turn(text)

    def _turn(self, text: str) -> None:
        """Send a message and ask the questions that follow; print why if it is refused."""
        try:
            self._start(text)
            self.ask()
        except (BadRequestError, ConflictError) as error:
            click.secho(str(error), fg="red", err=True)

    def _start(self, message: str) -> str:
        run = self.client.start_run(self.session["key"], message=message, streaming=False)
        return self._follow(run["run"])

    def _answer(self, form: "QuestionFormJson", fields: dict[str, str]) -> str:
        run = self.client.answer_question(
            self.session["key"], form["event"], form["call"], fields=fields
        )
        return self._follow(run["run"])

    def _follow(self, run: str) -> str:
        """Print what a run does until it ends; the first Ctrl-C stops it, the second one leaves."""
        self.interrupted = False
        with self._timer(run) as late:
            while True:
                try:
                    end = self._print_run(run)
                    break
                except KeyboardInterrupt:
                    if self.interrupted:
                        raise DoubleInterrupt from None
                    self.interrupted = True
                    _note("\nstopping the run; press Ctrl-C again to leave")
                    self._stop(run)
        if late.is_set():
            click.secho(f"stopped after {self.seconds:g} seconds (--timeout)", fg="red", err=True)
        return end

    def _print_run(self, run: str) -> str:
        for news in news_of(self.client, self.session["key"], self._newest, run=run):
            if news["type"] == "event":
                self._newest = news["number"]
                if news["author"] != USER:
                    self._print_news(news["event"])
            elif news["type"] == "output" and not self.as_json:
                self._print_output(news)
            elif news["type"] == "position" and news["run"] == run:
                if news["ended"] is not None or news["holds"]:
                    self._print_failures(news.get("error"))
                _tell_trouble(news)
                if news["ended"] is not None:
                    return str(news["status"])
        raise AssertionError("the session's stream ended with an error")

    def _print_news(self, event: Mapping[str, Any]) -> None:
        """Print an event, but hold back an error in it, which may be the one that ends the run."""
        if self.as_json or not (words := error_words(event)):
            self._print_failures(None)
            self._print(event)
        else:
            self._print(event, shows_error=False)
            self._failures.append((words, [_error_line(words)]))

    def _print_output(self, news: Mapping[str, Any]) -> None:
        """Print output, but hold back google-adk's log of an exception that may end the run."""
        if news["text"].startswith(_ADK_LOGGER) and _TRACEBACK in news["text"]:
            self._failures.append((news["text"], output_lines(news)))
        else:
            _lines(output_lines(news))

    def _print_failures(self, error: Mapping[str, Any] | None) -> None:
        """Print the reports that were held back, except those of `error`, which is printed next."""
        words = failure_words(error) if error else None
        for text, lines in self._failures:
            if not words or not text.rstrip().endswith(words):
                _lines(lines)
        self._failures.clear()

    def _print(self, event: Mapping[str, Any], *, shows_error: bool = True) -> None:
        if self.as_json:
            click.echo(json_line(event, self.session["id"]))
            return
        author = event.get("author") or ""
        for text in texts(event):
            name = f"{click.style(plain(author), fg='green')}: " if self.shows_authors else ""
            click.echo(f"{name}{text}")
        for line in describe_actions(event):
            click.echo(click.style(f"  {line}", dim=True), err=True)
        if shows_error and (words := error_words(event)):
            click.echo(_error_line(words), err=True)

    def _stop(self, run: str) -> None:
        with suppress(ConflictError):
            self.client.command(run, "stop")

    @contextmanager
    def _timer(self, run: str) -> Iterator[threading.Event]:
        """Stop the run when its time is up; yield an event that is set if that happened."""
        late = threading.Event()

        def stop() -> None:
            late.set()
            self._stop(run)

        timer = threading.Timer(self.seconds or 0, stop)
        if self.seconds is not None:
            timer.start()
        try:
            yield late
        finally:
            timer.cancel()


def read_line(prompt: str) -> str:
    """Read a line from a person; the prompt stays out of output that a script reads."""
    if sys.stdout.isatty():
        return input(prompt)
    click.echo(prompt, nl=False, err=True)
    return input()


def _tell_trouble(position: Mapping[str, Any]) -> None:
    """Print why the output has stopped: the run is held, or ended as anything but `done`."""
    is_over = position["ended"] is not None
    if position["holds"] or (is_over and position["status"] != DONE):
        _lines(position_lines(position))
    _lines(debugger_lines(position.get("debugger")))
    if position["holds"]:
        _note("paused by the debugger: continue it on the page, or with `devui dbg continue`")


def _read_secret(prompt: str) -> str:
    return getpass(prompt)


def _lines(lines: list[str]) -> None:
    for line in lines:
        click.echo(line, err=True)


def _note(text: str) -> None:
    click.secho(text, dim=True, err=True)
