"""StoryFlowAgent writes a story in four steps, and can be stopped and resumed between any two.

A custom agent that records a checkpoint after each step. If its run is interrupted, the same
invocation resumes at the step that the last checkpoint names; earlier steps don't run again.
"""

import logging
import os
from collections.abc import AsyncGenerator
from enum import IntEnum

from google.genai import types

from devui.runtime.agents import (
    Agent,
    BaseAgent,
    Context,
    InvocationContext,
    LoopAgent,
    SequentialAgent,
)
from devui.runtime.agents.base_agent import BaseAgentState
from devui.runtime.apps import App, ResumabilityConfig
from devui.runtime.events import Event
from devui.runtime.models import LlmRequest
from devui.runtime.models.scripted_llm import Rule, ScriptedLlm

from . import script

GEMINI = os.environ.get("DEVUI_MODEL") if os.environ.get("GOOGLE_API_KEY") else None

logger = logging.getLogger("story_flow")


class WorkflowStep(IntEnum):
    """The steps, in order."""

    INITIAL_STORY_GENERATION = 1
    CRITIC_REVISER_LOOP = 2
    POST_PROCESSING = 3
    CONDITIONAL_REGENERATION = 4


class StoryFlowState(BaseAgentState):
    """The checkpoint: which step is next."""

    step: WorkflowStep


class StoryFlowAgent(BaseAgent):
    """Writes, revises and checks a story; writes it again if the tone is negative."""

    story_generator: Agent
    loop_agent: LoopAgent
    sequential_agent: SequentialAgent

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        state = self._load_agent_state(ctx, StoryFlowState)
        if state is None:
            state = StoryFlowState(step=WorkflowStep.INITIAL_STORY_GENERATION)
            yield self._begun(ctx, state)
        for step in WorkflowStep:
            if step < state.step:
                continue
            logger.info("step %d: %s", step, step.name.lower())
            agent = self._agent_of(step, ctx)
            if agent is not None:
                async for event in agent.run_async(ctx):
                    yield event
            if not ctx.session.state.get("current_story"):
                return  # there is no story to revise
            if step < max(WorkflowStep):
                yield self._create_agent_state_event(ctx, StoryFlowState(step=step + 1))
        yield self._create_agent_state_event(ctx, end_of_agent=True)

    def _begun(self, ctx: InvocationContext, state: StoryFlowState) -> Event:
        """Return the first checkpoint, which also clears the previous turn's story."""
        event = self._create_agent_state_event(ctx, state)
        event.actions.state_delta.update(current_story="", tone_check_result="")
        return event

    def _agent_of(self, step: WorkflowStep, ctx: InvocationContext) -> BaseAgent | None:
        match step:
            case WorkflowStep.INITIAL_STORY_GENERATION:
                return self.story_generator
            case WorkflowStep.CRITIC_REVISER_LOOP:
                return self.loop_agent
            case WorkflowStep.POST_PROCESSING:
                return self.sequential_agent
        negative = ctx.session.state.get("tone_check_result") == "negative"
        return self.story_generator if negative else None


def ask_for_a_good_end(callback_context: Context, llm_request: LlmRequest) -> None:
    """Tell the generator what was wrong with the story, if it runs a second time."""
    if callback_context.state.get("tone_check_result") == "negative":
        wish = types.Part(text="The story came out sad. Write it again and let it end well.")
        llm_request.contents.append(types.Content(role="user", parts=[wish]))


def _writer(name: str, instruction: str, key: str, rules: list[Rule]) -> Agent:
    """Return an agent that stores its answer in the state under `key`."""
    return Agent(
        name=name,
        model=GEMINI or ScriptedLlm(model=f"scripted-{name}", rules=rules),
        instruction=instruction,
        output_key=key,
    )


story_generator = _writer(
    "StoryGenerator",
    "Write a story of about a hundred words on what the user asks for.",
    "current_story",
    script.STORY,
)
story_generator.before_model_callback = ask_for_a_good_end

critic = _writer(
    "Critic",
    "Criticise this story in one or two sentences: {current_story}",
    "criticism",
    script.CRITIC,
)
reviser = _writer(
    "Reviser",
    "Revise the story {current_story} by this criticism: {criticism} Answer with the story alone.",
    "current_story",
    script.REVISER,
)
grammar_check = _writer(
    "GrammarCheck",
    "List corrections to the grammar of this story: {current_story}",
    "grammar_suggestions",
    script.GRAMMAR,
)
tone_check = _writer(
    "ToneCheck",
    "Answer with one word, positive, neutral or negative: the tone of {current_story}",
    "tone_check_result",
    script.TONE,
)

critic_reviser_loop = LoopAgent(
    name="CriticReviserLoop", sub_agents=[critic, reviser], max_iterations=2
)
post_processing = SequentialAgent(name="PostProcessing", sub_agents=[grammar_check, tone_check])

root_agent = StoryFlowAgent(
    name="StoryFlowAgent",
    description="Writes a story in four steps that survive being stopped.",
    story_generator=story_generator,
    loop_agent=critic_reviser_loop,
    sequential_agent=post_processing,
    sub_agents=[story_generator, critic_reviser_loop, post_processing],
)

app = App(
    name="story_flow",
    root_agent=root_agent,
    resumability_config=ResumabilityConfig(is_resumable=True),
)
