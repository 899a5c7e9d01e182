"""Fallback models: which are called, with what, and whose error is reported."""

from functools import partial

from google.genai import errors

from tests.differential.case import Case, add, case
from tests.differential.script import Say

_BODY = {"error": {"code": 0, "message": "no", "status": "NO"}}


class Refused(Exception):
    """An error with a status, as in most libraries."""

    def __init__(self, status: int) -> None:
        self.status_code = status
        super().__init__(f"status {status}")


class Broken(Exception):
    """An error with a status in its response, as in httpx."""

    def __init__(self, status: int) -> None:
        self.response = Refused(status)
        super().__init__("broken")


def _server(status: int) -> Exception:
    return errors.ServerError(status, {"error": {**_BODY["error"], "code": status}})


FAILURES = {
    "overloaded": lambda: Refused(429),
    "an error of the server": lambda: _server(503),
    "a gateway that waits in vain": lambda: Broken(504),
    "a refused request": lambda: Refused(400),
    "a time that ran out": lambda: Refused(408),
    "a lost connection": lambda: ConnectionError("gone"),
    "a status that is no number": lambda: Refused("503"),
}


def _failing(stage, name, failure, *, begins=False, spoils=False):
    """Return a model that fails, perhaps after a first fragment or after changing its request."""
    ns = stage.ns

    class Failing(ns.BaseLlm):
        async def generate_content_async(self, llm_request, stream=False):
            stage.note([name, llm_request.model, len(llm_request.contents)])
            if spoils:
                llm_request.contents.append(ns.content("spoilt", role="user"))
                llm_request.config.temperature = 2.0
                llm_request.config.labels["spoilt"] = "yes"
            if begins:
                yield ns.response("Half an", partial=True)
            error = FAILURES[failure]()
            raise error

    return Failing(model=name)


async def _played(stage, failing, play="say", spoils=False, begins=False, **how):
    models = [
        _failing(stage, f"m{index}", failure, spoils=spoils, begins=begins)
        for index, failure in enumerate(failing)
    ]
    last = stage.model(Say("From the reserve.", chunks=2), label="reserve")
    model = stage.ns.FallbackModel(models=[*models, last], **how)
    stage.note([model.model, sorted(model.retriable_status_codes)])
    await stage.open(stage.agent("agent", model=model))
    await getattr(stage, play)()


for _failure in FAILURES:
    for _play in ("say", "stream"):
        add(
            Case(
                f"a reserve for {_failure}, {_play}",
                partial(_played, failing=[_failure], play=_play),
            )
        )
add(
    Case(
        "a reserve of a reserve",
        partial(_played, failing=["overloaded", "an error of the server"]),
    )
)
add(
    Case(
        "a reserve gets the request as it was",
        partial(_played, failing=["overloaded", "overloaded"], spoils=True),
    )
)
add(
    Case(
        "no reserve once an answer has begun",
        partial(_played, failing=["overloaded"], begins=True, play="stream"),
    )
)
for _codes in ([408], []):
    for _failure in ("overloaded", "a time that ran out"):
        add(
            Case(
                f"a reserve for statuses {_codes} and {_failure}",
                partial(_played, failing=[_failure], retriable_status_codes=_codes),
            )
        )


@case()
async def every_model_in_reserve_fails(stage):
    model = stage.ns.FallbackModel(
        models=[
            _failing(stage, "m0", "overloaded"),
            _failing(stage, "m1", "a gateway that waits in vain"),
        ]
    )
    await stage.open(stage.agent("agent", model=model))
    await stage.say()


@case()
async def an_agent_answers_for_the_last_of_its_models(stage):
    ns = stage.ns
    model = ns.FallbackModel(models=[_failing(stage, "m0", "overloaded")])

    def answer(callback_context, llm_request, error):
        return ns.response(f"Sorry: {error}")

    await stage.open(stage.agent("agent", model=model, on_model_error_callback=answer))
    await stage.say()


@case()
async def models_in_reserve_that_make_no_sense(stage):
    ns = stage.ns
    first = stage.model("Hi.")
    for how in ({"models": []}, {"models": [first], "model": "other"}, {}):
        try:
            ns.FallbackModel(**how)
        except ValueError as error:
            stage.note(type(error).__name__)
    stage.note(ns.FallbackModel(models=[first], model="scripted").model)
    stage.note(ns.FallbackModel(models=["gemini-2.5-pro", first]).model)
