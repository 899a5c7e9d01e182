"""What devui must guarantee to be trusted: every mandatory requirement, in one line.

A test that proves one carries `@pytest.mark.req("R07")`. Requirements that don't hold, or hold only
partly, are in docs/guide/security.md with the reason; tests/test_requirements.py checks that the
three agree.
"""

import ast
import re
from collections import defaultdict
from functools import cache

from tests.source import modules

MUST = {
    "R01": "listens on loopback alone unless a flag and a token say otherwise",
    "R02": "answers to configured Host names only, on every path and method",
    "R03": "refuses what browsers mark as coming from another site or port",
    "R04": "compares Origin with an exact list; null is always refused",
    "R05": "keeps reads from other origins, also without fetch metadata",
    "R06": "refuses simple requests, changes nothing on GET, has no CORS",
    "R07": "needs a sign-in by default, on every route that is not on a short list",
    "R08": "signs a browser in with a link that works once",
    "R09": "tells agent code none of the server's secrets",
    "R10": "keeps its files for their owner alone, and refuses folders of others",
    "R11": "trusts no forwarding header, names no server, bounds heads",
    "R13": "sends the same strict policy with every page",
    "R14": "runs htmx locked down and pinned",
    "R15": "fences every region that shows untrusted text",
    "R16": "shows hostile texts as texts in every place, by load and by stream",
    "R17": "escapes in every template",
    "R18": "cleans markdown, bounded in size and time",
    "R19": "contacts no host because of what content says",
    "R21": "lets no control character of content into the terminal or the log",
    "R22": "matches names of apps with those discovered, without importing",
    "R23": "makes no path from an id",
    "R24": "serves artifacts as sandboxed downloads",
    "R25": "serves static files of the package alone",
    "R26": "bounds and checks JSON while reading it",
    "R27": "takes imported sessions as data, all or nothing",
    "R28": "inflates nothing that it is sent",
    "R29": "decodes nothing that could run",
    "R30": "passes values to SQL as parameters",
    "R31": "carries out a confirmation once, with what the server stored",
    "R32": "records and fences what people change",
    "R33": "writes nothing among the agents' files",
    "R34": "bounds what a run may spend",
    "R35": "shows as committed only what is on the disk",
    "R36": "has a state that is the fold of the deltas, at every moment",
    "R37": "appends atomically, and once for one id",
    "R38": "lets one run write a session, and tells the others",
    "R39": "has one server a data folder",
    "R40": "keeps transactions whole when callers are cancelled",
    "R41": "waits for locks, and says so when that is too long",
    "R42": "survives full disks and I/O errors without losing history",
    "R43": "sets damaged files aside and overwrites nobody's",
    "R44": "migrates forward, step by step, with a backup",
    "R45": "copies a journal by SQLite's backup and never by its file",
    "R46": "sets SQLite up defensively, with one connection that writes",
    "R47": "orders by numbers and never by clocks",
    "R48": "bounds events and reads long sessions in pages",
    "R49": "runs on when its readers leave",
    "R50": "runs agent code in a process of its own",
    "R51": "lists apps that do not load, with what is wrong",
    "R52": "tells of blocked loops, and stops whatever runs",
    "R53": "survives any output of an agent",
    "R54": "gives every tool call one outcome, and repeats none of unknown outcome",
    "R55": "marks runs that were cut off, once",
    "R56": "ends in order and in time",
    "R57": "takes changed code up for the next run, and ends the present one on the old",
    "R58": "streams without a gap or a double",
    "R59": "frames any text in a stream",
    "R60": "waits for no slow reader",
    "R61": "stays usable with more tabs than a browser has connections",
    "R62": "keeps streams few, uncached and alive",
    "R64": "shows no secret at any exit",
    "R65": "has no route to the environment or to dotfiles",
    "R66": "calls nobody",
}

_MARKED = re.compile(r"pytest\.mark\.req\(['\"](R\d\d)['\"]\)")


@cache
def proven() -> dict[str, list[str]]:
    """Return, for each id, the tests and test modules that carry its marker."""
    proofs = defaultdict(list)
    for module in modules("tests"):
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for decorator in node.decorator_list:
                    for name in _MARKED.findall(ast.unparse(decorator)):
                        proofs[name].append(f"{module.path}::{node.name}")
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
                for name in _MARKED.findall(ast.unparse(node.value)):
                    proofs[name].append(module.path)
    return dict(proofs)
