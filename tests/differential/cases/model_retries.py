"""Failing answers, and the plugin that lets the model try again."""

from functools import partial

from google.genai import types

from tests.differential.case import Case, add, case
from tests.differential.script import Raw, Say, call

MALFORMED = types.FinishReason.MALFORMED_FUNCTION_CALL
FAILED = Raw({"error_code": MALFORMED.value, "error_message": "bad", "finish_reason": MALFORMED})
UNSAFE = Raw(
    {"error_code": "SAFETY", "error_message": "boom", "finish_reason": types.FinishReason.SAFETY}
)
RESERVED = call("adk_handle_model_error", retry_count=1)


async def _retried(stage, answers, play="say", says=1, scope=None, **how):
    if scope:
        how["tracking_scope"] = stage.ns.TrackingScope[scope]
    plugin = stage.ns.ReflectAndRetryModelPlugin(**how)
    await stage.open(stage.agent("agent", *answers, "Done.", "Bye."), plugins=[plugin])
    for _ in range(says):
        await getattr(stage, play)()


for _failures in (1, 2, 3):
    for _retries in (0, 1, 2):
        for _throws in (True, False):
            _play = partial(
                _retried,
                answers=[FAILED] * _failures,
                max_retries=_retries,
                throw_exception_if_retry_exceeded=_throws,
            )
            _end = "an exception" if _throws else "the error"
            add(
                Case(f"a model fails {_failures} times, may correct {_retries}, then {_end}", _play)
            )
for _throws in (True, False):
    _play = partial(
        _retried,
        answers=[RESERVED, RESERVED],
        max_retries=1,
        throw_exception_if_retry_exceeded=_throws,
    )
    add(Case(f"a model calls the tool of the plugin that corrects it: {_throws}", _play))
add(Case("a failure that no one corrects", partial(_retried, answers=[UNSAFE])))
_reasons = [types.FinishReason.SAFETY]
add(Case("reasons to correct", partial(_retried, answers=[UNSAFE], on_model_errors=_reasons)))
add(Case("no reasons to correct", partial(_retried, answers=[FAILED], on_model_errors=[])))
add(Case("a failure within a stream", partial(_retried, answers=[FAILED], play="stream")))
for _scope in ("INVOCATION", "GLOBAL"):
    _play = partial(
        _retried, answers=[FAILED, Say("Ok."), FAILED, FAILED], says=2, max_retries=1, scope=_scope
    )
    add(Case(f"failures of a model counted by {_scope}", _play))


@case()
async def retries_of_models_that_make_no_sense(stage):
    for how in ({"max_retries": -1}, {"on_model_errors": ["SAFETY"]}):
        try:
            stage.ns.ReflectAndRetryModelPlugin(**how)
        except ValueError as error:
            stage.note(type(error).__name__)
