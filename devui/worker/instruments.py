"""What looks into the runs of a worker: the gates, the calls under way, and the recorder."""

from collections.abc import Iterable

from devui.runtime.plugins.plugin_manager import PluginManager
from devui.wire.framing import codecs
from devui.wire.gates import WorkerGate
from devui.wire.messages import StartRun
from devui.worker.acting import Naming
from devui.worker.calls import Calls
from devui.worker.effects import Effects
from devui.worker.endings import Endings
from devui.worker.gates import Gates, GatesAfter, GatesBefore
from devui.worker.link import Link
from devui.worker.recorder import Recorder
from devui.worker.replaying.hands import HandsAfter, HandsBefore
from devui.worker.replaying.replay import Replay
from devui.worker.replaying.replayer import Replayer


class Instruments:
    """One of each for a worker; plugins, as far as the runtime knows (Law 6)."""

    def __init__(self, link: Link) -> None:
        self.gates = Gates(link)
        self.calls = Calls()
        self.endings = Endings(self.calls, self.gates, link.send)
        self.recorder = Recorder(link.send)
        self.replayer = Replayer()
        self.effects = Effects()
        self._hands_before = HandsBefore(self.replayer.hands)
        self._hands_after = HandsAfter(self.replayer.hands)
        self._gates_before = GatesBefore(self.gates)
        self._gates_after = GatesAfter(self.gates)
        self._plugins = PluginManager()

    def begin(self, start: StartRun) -> None:
        """A run begins."""
        self.gates.arm(start.run, start.gates)
        self.recorder.begin(start.run, start.session_key)
        if start.recording is not None:
            self.replayer.begin(start.run, self._replay(start, start.recording))
        self._let_rest()

    def arm(self, run: str, gates: Iterable[WorkerGate]) -> None:
        """Ask at these gates of a run, and at no others."""
        self.gates.arm(run, gates)
        self._let_rest()

    def forget(self, run: str) -> None:
        """A run is over."""
        self.gates.forget(run)
        self.recorder.forget(run)
        self.replayer.forget(run)
        self.effects.forget(run)
        self._let_rest()

    def around(self, plugins: PluginManager) -> PluginManager:
        """The plugins of an app between the gates.

        The recorder and the calls see what has passed all the others, the recorder what a person
        puts in the place of a call, too; the replayer takes the place of models and tools.
        """
        before = [self.effects, Naming(), self._hands_after, self._gates_after]
        after = [self._hands_before, self._gates_before, self.recorder, self.calls, self.replayer]
        self._plugins = PluginManager([*before, *plugins.plugins, *after])
        self._let_rest()
        return self._plugins

    def _let_rest(self) -> None:
        """Those that wait for nothing in any run are not asked: with no debugger they are free."""
        gates = [] if self.gates.armed else [self._gates_before, self._gates_after]
        replay = [self._hands_before, self._hands_after, self.replayer]
        resting = gates if self.replayer.at_work else [*gates, *replay]
        self._plugins.let_rest(each.name for each in resting)

    def _replay(self, start: StartRun, recording: str) -> Replay:
        return Replay(
            codecs().RECORDING.load(recording.encode()),
            start.session,
            live_tools=start.live_tools,
            busy=lambda: self.gates.asks(start.run),
        )
