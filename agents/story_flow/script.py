"""The scripted answers of the story agents."""

from devui.runtime.models.scripted_llm import Rule, Say

_ABOUT = r"about (?P<topic>[^.?!]+)"
_SAD = "sad|lonely|lost"

STORY = [
    Rule(
        user="end well",
        then=Say(
            "It had waited for so long that it no longer counted the days. Then, one evening,"
            " somebody came up the path and stayed. Since that day a light burns in the window.",
            chunks=8,
            delay=0.02,
        ),
    ),
    Rule(
        user=_ABOUT,
        then=Say(
            "This is the story of {topic}. It begins on a morning on which nothing seemed to be"
            " different, and it ends in the evening of the same day.",
            chunks=8,
            delay=0.02,
        ),
    ),
    Rule(then=Say("Once upon a time there was an empty page. It waited for a topic.", chunks=4)),
]

CRITIC = [
    Rule(user=_ABOUT, then=Say("What does {topic} want? Say so in the first sentence.")),
    Rule(then=Say("Nobody wants anything in this story.")),
]

REVISER = [
    Rule(
        user=_ABOUT,
        then=Say(
            "All that was ever wanted was company. This is the story of {topic}: of one day, of"
            " the morning, when nothing seemed to be different, and of the evening.",
            chunks=6,
            delay=0.02,
        ),
    ),
    Rule(then=Say("Once upon a time an empty page wanted a topic. It waited.", chunks=4)),
]

GRAMMAR = [Rule(then=Say("No corrections."))]

TONE = [Rule(user=_SAD, then=Say("negative")), Rule(then=Say("positive"))]
