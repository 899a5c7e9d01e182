"""A stand-in for litellm that answers with litellm's own classes."""

from devui.runtime.models import lite_llm

litellm = lite_llm.litellm
"""The module as the runtime imports it: imported otherwise, it asks the internet for prices."""


class Listening(lite_llm.LiteLLMClient):
    """Records its requests, and returns the answers that it was given."""

    def __init__(self, *answers):
        self.asked = []
        self.answers = list(answers)

    async def acompletion(self, model, messages, tools, **more):
        self.asked.append({"model": model, "messages": messages, "tools": tools, **more})
        answer = self.answers.pop(0) if self.answers else {"content": "ok"}
        if more.get("stream"):
            return _streamed(answer)
        finish = "tool_calls" if answer.get("tool_calls") else "stop"
        choice = {"message": {"role": "assistant", **answer}, "finish_reason": finish}
        return litellm.ModelResponse(choices=[choice], model="served")


async def _streamed(pieces):
    for piece in [*pieces, None]:
        choice = {"delta": piece or {}, "finish_reason": None if piece else "stop"}
        yield litellm.ModelResponseStream(choices=[choice], model="served")
