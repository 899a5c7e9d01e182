"""Small agents that do what agents must not do, by name (R50 to R54)."""

_HEAD = """
import asyncio, os, signal, subprocess, sys, threading, time
from google.genai import types
from devui.runtime.agents import BaseAgent
from devui.runtime.events import Event, EventActions

def said(text):
    return types.Content(role="model", parts=[types.Part(text=text)])

class Misbehaving(BaseAgent):
    async def _run_async_impl(self, ctx):
        def event(text="begun", **delta):
            actions = EventActions(state_delta=delta)
            where = {"author": self.name, "invocation_id": ctx.invocation_id}
            return Event(content=said(text), actions=actions, **where)
        yield event(begun=True)
{body}
        yield event("after", after=True)

root_agent = Misbehaving(name="faulty")
"""


def _agent(*lines: str) -> str:
    return _HEAD.replace("{body}", "\n".join(f"        {line}" for line in lines))


_IMPORT = """
import logging, subprocess, sys
print("reading <b>prices</b>")
logging.getLogger("prices").warning("they are of last year")
subprocess.run(["echo", "from a child"], stdout=sys.stderr)
print("no end", end="")
"""

TOOLS = """
import asyncio
from pathlib import Path

from devui.runtime.agents import Agent
from devui.runtime.apps import App, ResumabilityConfig
from devui.runtime.models import Call, Rule, Say, ScriptedLlm

def note(name):
    with (Path(__file__).parent / "ledger").open("a") as ledger:
        print(name, file=ledger)

def fine() -> dict:
    note("fine")
    return {"n": 1}

def odd():
    note("odd")
    return object()

def number():
    note("number")
    return float("nan")

def circle():
    note("circle")
    ring = []
    ring.append(ring)
    return ring

def half():
    note("half")
    return {"half of a pair": ["\\udfff"]}

def ring(tool_context):
    note("ring")
    ring = {"n": 1}
    ring["self"] = ring
    tool_context.state["ring"] = ring

def key(tool_context):
    note("key")
    tool_context.state["a\\0b"] = "\\ud800"

def once(tool_context):
    note("once")
    tool_context.state["steps"] = map(str, [1, 2])
    next(tool_context.state["steps"])
    tool_context.state["plan"] = {"days": [iter([4])]}
    return {"caf\\udce9": {"sizes": map(str, [3])}}

def raises():
    note("raises")
    raise ValueError("no such seat")

def leaves():
    note("leaves")
    raise SystemExit(3)

async def group():
    note("group")
    raise BaseExceptionGroup("two", [KeyError("a"), SystemExit(3)])

async def late():
    note("late")
    async with asyncio.timeout(0.01):
        await asyncio.Event().wait()

async def cancels():
    note("cancels")
    raise asyncio.CancelledError

async def reads(tool_context) -> dict:
    note("reads")
    session = tool_context.session
    kept = await tool_context._invocation_context.session_service.get_session(
        app_name=session.app_name, user_id=session.user_id, session_id=session.id
    )
    tool_context.state["seen"] = len(kept.events)
    return {"seen": len(kept.events)}

returning = [fine, odd, half, ring, key, once, number, reads]
tools = [*returning, circle, raises, leaves, group, late, cancels]
rules = [Rule(after="fine", then=Say("done"))]
for tool in tools:
    rules.append(Rule(user=tool.__name__, then=[Call(tool.__name__), Call("fine")]))
root = Agent(name="tools", model=ScriptedLlm(rules=rules), tools=tools)
again = ResumabilityConfig(is_resumable=True)
app = App(name="tools", root_agent=root, resumability_config=again)
"""
"""Calls the tool that the user names and another beside it; writes down the calls made."""

_RELAPSES = """
import os, time
from pathlib import Path
from devui.runtime.agents import BaseAgent
from devui.runtime.apps import App
from devui.runtime.plugins import BasePlugin

DIED = Path(__file__).with_name("died")

class Dies(BasePlugin):
    async def on_user_message_callback(self, **_):
        DIED.touch()
        os._exit(1)

while DIED.exists(): time.sleep(0.01)
app = App(name="relapses", root_agent=BaseAgent(name="faulty"), plugins=[Dies(name="dies")])
"""
"""Dies before its run reports anything; its import then blocks until `died` is removed."""

AGENTS = {
    "fine": _agent("pass"),
    "raises": _agent("raise ValueError('no such seat')"),
    "group": _agent("raise ExceptionGroup('two', [KeyError('a'), ValueError('b')])"),
    "exits": _agent("sys.exit(3)"),
    "interrupts": _agent("raise KeyboardInterrupt"),
    "dies": _agent("os._exit(7)"),
    "segfaults": _agent("os.kill(os.getpid(), signal.SIGSEGV)"),
    "recurses": _agent("def f(): return f()", "f()"),
    "floods": _agent(
        "line = 'x' * 9999",
        "for _ in range(100_000): print(line)",
        "subprocess.run(['sh', '-c', 'yes | head -c 200000000'])",
    ),
    "closes": _agent("[os.close(fd) for fd in (0, 1, 2)]", "print('still here')"),
    "sleeps": _agent("await asyncio.sleep(3600)"),
    "blocks": _agent("while True: pass"),
    "stubborn": _agent(
        "while True:",
        "    try: await asyncio.sleep(3600)",
        "    except asyncio.CancelledError: pass",
    ),
    "forks": _agent("if os.fork() == 0:", "    time.sleep(3600)"),
    "divides": _agent(
        "print('before', end='')",
        "for work in range(3):",
        "    if os.fork() == 0:",
        "        if work < 2: print('in a copy of its own', flush=True)",
        "        break  # and on with what is the first process's to do",
        "else:",
        "    [os.wait() for _ in range(3)]",
        "await asyncio.sleep(0)",
    ),
    "pools": _agent(
        "import multiprocessing",
        "with multiprocessing.get_context('fork').Pool(2) as pool:",
        "    yield event(str(pool.map(abs, range(-3, 3))))",
    ),
    "abandons": _agent(
        "if (copy := os.fork()) == 0:",
        "    os.setsid()",
        "    time.sleep(3600)",
        "sleeper = ['sh', '-c', 'setsid sleep 3600 & echo $!']",
        "out = subprocess.Popen(sleeper, close_fds=False, stdout=subprocess.PIPE).stdout",
        "yield event('', escaped=[copy, int(out.readline())])",
        "os.kill(os.getpid(), signal.SIGKILL)",
    ),
    "moves": _agent("os.chdir('/')", "os.environ.clear()", "sys.path.clear()"),
    "patches": _agent(
        "import json, socket",
        "json.dumps = json.loads = socket.socket = None",
        "sys.stdout = sys.stderr = None",
    ),
    "hoards": _agent("bytearray(1 << 60)"),
    "takes": _agent("import mmap", "self.__dict__['much'] = mmap.mmap(-1, 4 << 30)"),
    "ignores": _agent(
        "for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE):",
        "    signal.signal(number, signal.SIG_IGN)",
    ),
    "spins": """
import os
os.environ["ADK_MAX_LLM_CALLS"] = "20"
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, ScriptedLlm

def again() -> str:
    return "again"

model = ScriptedLlm(rules=[Rule(then=Call("again"))])
root_agent = Agent(name="spins", tools=[again], model=model)
""",
    "deaf": _agent("signal.signal(signal.SIGTERM, signal.SIG_IGN)", "while True: pass"),
    "leaks": _agent(
        "stop = False",
        "def spin():",
        "    while True: time.sleep(0.01)",
        "await asyncio.to_thread(spin)",
    ),
    "begets": _agent(
        "child = subprocess.Popen(['sleep', '3600'])",
        "yield event(str(child.pid), child=child.pid)",
        "while True: time.sleep(1)",
    ),
    "surrogates": _agent("raise FileNotFoundError('caf\\udce9.txt')"),
    "shouts": _agent("raise ValueError('x' * 40_000_000)"),
    "unspeakable": _agent(
        "class Odd(Exception):",
        "    def __str__(self): raise RuntimeError('no')",
        "raise Odd",
    ),
    "cancels": _agent("asyncio.current_task().cancel()", "await asyncio.sleep(60)"),
    "misuses": _agent(
        "service = ctx.session_service",
        "await service.create_session(app_name='faulty', user_id='u', state=['x'])",
    ),
    "deletes": _agent(
        "where = {'app_name': 'faulty', 'user_id': 'u', 'session_id': ctx.session.id}",
        "await ctx.session_service.delete_session(**where)",
    ),
    "lingers": _agent(
        "async def later():",
        "    await asyncio.sleep(0.3)",
        "    try: await ctx.session_service.append_event(ctx.session, event('late', late=True))",
        "    except Exception as error: print('refused', error)",
        "ctx.session_service.task = asyncio.get_running_loop().create_task(later())",
    ),
    "together": _agent(
        "append = ctx.session_service.append_event",
        "await asyncio.gather(*(append(ctx.session, event(t)) for t in ('one', 'two')))",
        "known = await ctx.session_service.get_session(",
        "    app_name='faulty', user_id='u', session_id=ctx.session.id)",
        "yield event('knows %d' % len(known.events))",
    ),
    "peeks": _agent(
        "other = await ctx.session_service.get_session(",
        "    app_name='faulty', user_id='u', session_id='other')",
        "yield event('sees %r' % (other and other.state.get('x')))",
    ),
    "chatters": _agent("for _ in range(400_000): print()"),
    "mumbles": _agent(
        "thread = threading.Thread(target=print, args=('from a thread',))",
        "thread.start(); thread.join()",
        "print('whole line')",
        "print('no end', end='')",
    ),
    "unstorable": _agent("yield event('odd', odd=object())"),
    "surrogate": _agent("yield event('bad \\ud800 text')"),
    "halfway": _agent(
        "yield Event(author=self.name, content=said('half of \\ud83d'), partial=True)",
        "yield event('half of \\ud83d')",
    ),
    "huge": _agent("yield event('x' * 40_000_000)"),
    "texts": _agent("yield 'no event'"),
    "nothing": _agent("yield None"),
    "dicts": _agent("yield {'author': 'faulty'}"),
    "stranger": _agent(
        "yield Event(author=self.name, content=said('of another'), invocation_id='another')"
    ),
    "extra": _agent("yield Event.model_validate({'author': 'faulty', 'color': 'red'})"),
    "numberless": _agent("yield event('none', none=float('nan'), all=float('inf'))"),
    "twice": _agent("same = event('the same')", "yield same", "yield same"),
    "untidy": _agent(
        "try: yield event('last')",
        "finally: raise OSError('cannot put away')",
    ),
    "deep": _agent(
        "deep = []",
        "for _ in range(5000): deep = [deep]",
        "yield event('deep', deep=deep)",
    ),
    "outlives": _agent(
        "def spin():",
        "    while True: time.sleep(0.01)",
        "threading.Thread(target=spin).start()",
    ),
    "announces": _IMPORT + _agent("pass"),
    "murmurs": "import subprocess, sys\n"
    "subprocess.Popen(['sh', '-c', 'sleep 1; echo spoken afterwards'], stdout=sys.stderr)\n"
    + _agent("pass"),
    "laments": _IMPORT + "raise RuntimeError('no key')\n",
    "prattles": "for n in range(10_000): print('line', n)\n" + _agent("pass"),
    "tools": TOOLS,
    "relapses": _RELAPSES,
    "syntax": "def broken(:\n    pass\n",
    "missing": "import a_module_that_is_not_there\n",
    "endless": "import time\nwhile True: time.sleep(1)\n",
    "circular": "from circular.agent import root_agent\n",
    "asks": "name = input('Who are you?')\n" + _agent("pass"),
    "bare": "x = 1\n",
    "foreign": "root_agent = object()\n",
    "raising": "def helper():\n    raise RuntimeError('no key')\n\nhelper()\n",
    "exiting": "import sys\nsys.exit('bye')\n",
}

BULKY = _HEAD.replace(
    "{body}",
    """
        for n in range(1, 1_001):
            yield event("x" * 9_000, n=n)
""",
)
"""An agent whose output exceeds any buffer of the system."""

FLOOD = _HEAD.replace(
    "{body}",
    """
        for n in range(1, 5_000):
            yield Event(author=self.name, content=said(f"{n}"), partial=True)
            yield event(f"{n}", **{"n": n, "user:n": n, f"key{n % 5}": "x" * (n % 99)})
""",
)
"""An agent with so many events that it is cut off in the middle."""
