"""Apps whose calls are worth a look: prompts that grow or are huge, answers that are changed."""

TELLER = '''
import asyncio

from google.genai import types

from devui.runtime.agents import Agent
from devui.runtime.models import BaseLlm, LlmResponse


def said(text, partial=None, **more):
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return LlmResponse(content=content, partial=partial, **more)


def counted(cached=0):
    return types.GenerateContentResponseUsageMetadata(
        prompt_token_count=400,
        cached_content_token_count=cached,
        candidates_token_count=20,
        total_token_count=420,
    )


class Model(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        last = llm_request.contents[-1].parts[-1]
        if last.function_response:
            for text in ("It is ", "sunny in ", "Oslo."):
                yield said(text, partial=True)
            final = "It is sunny in Rome." if LIES else "It is sunny in Oslo."
            yield said(final, usage_metadata=counted(300))
        elif "weather" in (last.text or ""):
            call = types.FunctionCall(name="weather", args={"city": "Oslo"})
            content = types.Content(role="model", parts=[types.Part(function_call=call)])
            yield LlmResponse(content=content, usage_metadata=counted())
        else:
            yield said("Hello.", usage_metadata=counted())


async def weather(city: str) -> dict:
    """The weather of a city, now."""
    return {"city": city, "sky": "clear"}


def tidy(tool, args, tool_context, tool_response):
    return {"told": "fine"}


def mood(callback_context, llm_request):
    if any("sternly" in (part.text or "") for part in llm_request.contents[-1].parts):
        llm_request.config.system_instruction = "Be stern about the weather."
        llm_request.config.temperature = 0.5


root_agent = Agent(
    name="teller",
    model=Model(model="test-model"),
    instruction="Be kind about the weather.",
    tools=[weather],
    before_model_callback=mood,
    after_tool_callback=tidy,
)
'''

CENSOR = """
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm


def lookup(city: str) -> dict:
    return {"city": city}


def censor(callback_context, llm_response):
    for part in llm_response.content.parts or []:
        if part.text:
            part.text = part.text.replace("900", "***")
    return llm_response


root_agent = Agent(
    name="seller",
    model=ScriptedLlm(
        rules=[
            Rule(after="lookup", then=Say("The price is 900 euros.")),
            Rule(then=Call("lookup", city="Rome")),
        ]
    ),
    tools=[lookup],
    after_model_callback=censor,
)
"""

STAND_IN = """
from google.genai import types

from devui.runtime.agents import Agent
from devui.runtime.models import Fail, LlmResponse, Rule, ScriptedLlm


def stand_in(callback_context, llm_response):
    parts = [types.Part(text="Closed today.")]
    return LlmResponse(content=types.Content(role="model", parts=parts))


root_agent = Agent(
    name="shop",
    model=ScriptedLlm(rules=[Rule(then=Fail("BUSY", "Try later."))]),
    after_model_callback=stand_in,
)
"""

HUGE = """
from google.genai import types

from devui.runtime.agents import Agent
from devui.runtime.models import BaseLlm, LlmResponse


class Model(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="Yes.")]))


def much(callback_context, llm_request):
    count = len(llm_request.contents)
    llm_request.config.system_instruction = f"rule {count} is good. " * 6000
    for number in range(199):
        text = f"message {number}: " + "lorem ipsum " * 60
        role = "model" if number % 2 else "user"
        content = types.Content(role=role, parts=[types.Part(text=text)])
        llm_request.contents.insert(number, content)


root_agent = Agent(
    name="reader", model=Model(model="test-model"), before_model_callback=much
)
"""


def teller(*, lies: bool = False) -> str:
    """Return an app that gets the weather from a tool; its text may differ from its chunks."""
    return TELLER.replace("LIES", str(lies))
