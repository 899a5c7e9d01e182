"""The differences on purpose in how the answers of humans are taken, in the words of the guide."""

from tests.differential.case import Difference

ANSWERED_TOGETHER = Difference(
    "Agents side by side that are answered in one message",
    here="Each of them gets its answer, and goes on.",
    there="Only the first does. Another is left waiting, or its model goes on without the answer"
    " and calls the tool again.",
    why="An answer of the user must not be lost.",
)
OPEN_QUESTIONS = Difference(
    "A node with several open questions of which one is answered",
    here="An agent that is a node of a graph, is called like a function or carries out a task waits"
    " until all of its calls have their answers, also in an app that is not resumable.",
    there="In such an app its model goes on without the others, and what it says is its output: the"
    " next node is run. When another answer comes the model speaks once more.",
    why="Nobody should go on with half of a result.",
)
ANSWERED_AGAIN = Difference(
    "Answers that are given once more",
    here="When something has come of the answer to a question, the same answer once more only"
    " becomes part of the history. In a resumable app the invocation goes on if it had broken off.",
    there="If an agent had asked that is called like a function or carries out a task, or a node"
    " that a tool runs, the model of the agent above is asked again, or all begins anew.",
    why="Clients send a message again when a connection is lost; nothing should be done twice.",
)
BESIDE_TASKS = Difference(
    "Consents beside a task",
    here="The call runs when the user agrees, also while the task waits for words; those remain to"
    " be said. The agent that made both calls ends when it has had both answers.",
    there="While the task waits, the consent counts as words to its agent, and the call never runs."
    " In a resumable app the end of the agent above is recorded when the task is done, though the"
    " consent is still open.",
    why="An answer of the user must not be lost.",
)
SUMMED_UP_AFTER_AN_ANSWER = Difference(
    "A summary that is due, when a call is answered that was open for long",
    here="The next summary reaches up to the answer.",
    there="It would reach up to the newest invocation's last event, before which the answered call"
    " counts as open: nothing is summed up until another invocation ends.",
    why="The call is closed, and the history as long as before.",
)
WORDS_TO_WAITING_TASKS = Difference(
    "Words to a task whose agent waits for an answer",
    here="Its model is asked, and knows that the call is still open.",
    there="They join the history, and nothing else comes of them.",
    why="Whoever says something instead of an answer, such as `never mind`, wants to be heard; an"
    " agent that chats hears it in both.",
)
ENDS_OF_WAITING_AGENTS = Difference(
    "End of an agent of which not all calls have been answered",
    here="In a resumable app it is recorded when the agent has had all answers.",
    there="It is recorded when one call is answered, though another is still open.",
    why="The end of an agent says that its work is done (resume seed).",
)
ANSWERS_AND_WORDS = Difference(
    "A message with an answer and words",
    here="`run_async` raises ValueError for every kind of root agent.",
    there="It is taken if the root is a Sequential, Loop, Parallel or custom agent.",
    why="Answers go on with what has begun, words begin something: that is two messages.",
)
