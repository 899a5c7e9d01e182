"""Intended differences in how users' answers are handled, with the texts of the guide."""

from tests.differential.case import Difference

ANSWERED_TOGETHER = Difference(
    "Parallel agents answered in one message",
    here="Each of them gets its answer and continues.",
    there="Only the first does. Another keeps waiting, or its model continues without the answer"
    " and calls the tool again.",
    why="A user's answer must not be lost.",
)
OPEN_QUESTIONS = Difference(
    "A node with several open questions, one of them answered",
    here="An agent that is a graph node, is called like a function or carries out a task waits"
    " until all its calls are answered, also in an app that isn't resumable.",
    there="In such an app its model continues without the others, and its text is the output: the"
    " next node runs. At another answer, the model is called again.",
    why="An agent shouldn't continue with half its results.",
)
ANSWERED_AGAIN = Difference(
    "Answers sent again",
    here="Once an answer has had an effect, the same answer is only added to the history. In a"
    " resumable app, an interrupted invocation continues.",
    there="If the question came from an agent called like a function or carrying out a task, or"
    " from a node run by a tool, the model of the agent above is called again, or everything"
    " starts over.",
    why="Clients resend messages after a lost connection; nothing should be done twice.",
)
BESIDE_TASKS = Difference(
    "Confirmations next to a task",
    here="The call runs when the user agrees, even while the task waits for input, which it still"
    " needs. The agent that made both calls ends once it has both answers.",
    there="While the task waits, the confirmation counts as input for its agent, and the call"
    " never runs. In a resumable app the end of the agent above is recorded when the task"
    " finishes, although the confirmation is still open.",
    why="A user's answer must not be lost.",
)
SUMMED_UP_AFTER_AN_ANSWER = Difference(
    "A due summary, when a call that was open for long is answered",
    here="The next summary includes the answer.",
    there="It would end at the newest invocation's last event, where the answered call counts as"
    " open: nothing is summarized until another invocation ends.",
    why="The call is answered, and the history is as long as before.",
)
WORDS_TO_WAITING_TASKS = Difference(
    "Messages to a task whose agent waits for an answer",
    here="Its model is called, knowing that the call is still open.",
    there="They are added to the history and have no effect.",
    why="A user who says `never mind` instead of answering wants to be heard; chat agents hear it"
    " in both.",
)
ENDS_OF_WAITING_AGENTS = Difference(
    "End of an agent with unanswered calls",
    here="In a resumable app it is recorded when the agent has all answers.",
    there="It is recorded when one call is answered, even if another is still open.",
    why="An agent's end means that its work is done (resume seed).",
)
ANSWERS_AND_WORDS = Difference(
    "A message with an answer and text",
    here="`run_async` raises ValueError for every kind of root agent.",
    there="It is accepted if the root is a Sequential, Loop, Parallel or custom agent.",
    why="An answer continues an invocation and text starts one: those are two messages.",
)
