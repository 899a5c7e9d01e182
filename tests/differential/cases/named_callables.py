"""Names and descriptions of partials and callable objects."""

from dataclasses import dataclass
from functools import partial, update_wrapper

from tests.differential.case import Case, add, case
from tests.differential.script import call


def search(query: str, *, shop: str = "any") -> str:
    """Searches a shop."""
    return f"{query} at the {shop}"


def bound(name=None, doc=None, wrapped=False, **args):
    """Return a partial of `search`, with as many attributes of a function as requested."""
    function = partial(search, **args)
    if wrapped:
        update_wrapper(function, search)
    if name:
        function.__name__ = name
    if doc:
        function.__doc__ = doc
    return function


class Counting:
    """Counts calls of a function."""

    def __init__(self, function):
        update_wrapper(self, function)
        self.function = function

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)


class Named:
    def __init__(self, name):
        self.__name__ = name

    def __call__(self, query: str, most: int = 3) -> list[str]:
        """Finds several."""
        return [query] * most


@dataclass
class Shelf:
    """What it holds is no parameter."""

    shop: str = "baker"

    def __call__(self, query: str) -> str:
        return f"{query} of the {self.shop}"


@dataclass
class Untold:
    shop: str = "baker"

    def __call__(self, query: str) -> str:
        """Looks it up."""
        return f"{query} of the {self.shop}"


TOOLS = {
    "two partials with names": ("at_baker", [bound("at_baker", shop="a"), bound("at_smith")]),
    "a partial with words": ("search", [bound(doc="Searches\n    the baker.", shop="baker")]),
    "a partial like its function": ("search", [bound(wrapped=True, shop="baker")]),
    "a partial of a partial": ("inner", [partial(bound("inner", "Inner."), shop="baker")]),
    "an object like a function": ("search", [Counting(search)]),
    "an object with a name": ("find", [Named("find")]),
    "a partial of an object": ("find", [partial(Named("find"), most=1)]),
    "an object with fields": ("Shelf", [Shelf()]),
    "an object with fields and no words": ("Untold", [Untold()]),
}


async def _tool(stage, what):
    name, tools = TOOLS[what]
    await stage.open(stage.agent("agent", call(name, query="bread"), "Done.", tools=tools))
    await stage.say()


for _what in TOOLS:
    add(Case(f"a tool is {_what}", partial(_tool, what=_what)))


def greet(node_input: str, *, mood: str = "fine") -> str:
    """Greets."""
    return f"{mood} {node_input}"


@case()
async def nodes_are_partials_and_objects_with_names(stage):
    kind = partial(greet, mood="kind")
    kind.__name__ = "kindly"
    kind.__doc__ = "Greets kindly."

    class Shout:
        def __init__(self):
            self.__name__ = "shout"

        def __call__(self, node_input: str) -> str:
            """Shouts."""
            return node_input.upper()

    for function in (kind, partial(greet), Shout(), Counting(greet)):
        node = stage.ns.FunctionNode(func=function)
        stage.note(node.name, node.description)
    edges = [("START", kind, Shout())]
    await stage.open(stage.ns.Workflow(name="line", edges=edges))
    await stage.say()
