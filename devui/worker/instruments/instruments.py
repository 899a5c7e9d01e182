"""What looks into the runs of a worker: the gates, the calls under way, and the recorder."""

from collections.abc import Iterable

from devui.wire.framing import codecs
from devui.wire.gates import WorkerGate
from devui.wire.messages import StartRun
from devui.worker.engines.kit import Kit, PluginChain, Runner
from devui.worker.instruments.calls import Calls, Endings
from devui.worker.instruments.gates import Gates, GatesAfter, GatesBefore
from devui.worker.instruments.recorder import Recorder
from devui.worker.link import Link
from devui.worker.replay.interventions import HandsAfter, HandsBefore
from devui.worker.replay.plugin import Replayer
from devui.worker.replay.replay import Replay
from devui.worker.run_settings import Models, OtherModel, RequestSettings, SettingsOfRuns
from devui.worker.state.actors import Naming
from devui.worker.tools import Effects


class Instruments:
    """One of each for a worker; plugins, as far as the runtime knows (Law 6)."""

    def __init__(self, link: Link, kit: Kit) -> None:
        self.kit = kit
        self.gates = Gates(link, kit)
        self.calls = Calls()
        self.endings = Endings(self.calls, self.gates, kit, link.send)
        self.recorder = Recorder(link.send, kit)
        self.replayer = Replayer(kit)
        self.effects = Effects()
        self._settings = SettingsOfRuns()
        self._of_runs = [RequestSettings(self._settings), OtherModel(self._settings)]
        self._hands_before = HandsBefore(self.replayer.hands, kit)
        self._hands_after = HandsAfter(self.replayer.hands, kit)
        self._gates_before = GatesBefore(self.gates)
        self._gates_after = GatesAfter(self.gates)
        self._chain: PluginChain | None = None

    def begin(self, start: StartRun) -> None:
        """A run begins."""
        self.gates.arm(start.run, start.gates)
        self.recorder.begin(start.run, start.session_key)
        if start.settings:
            self._settings.begin(start.run, start.settings)
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
        self._settings.forget(run)
        self._let_rest()

    def join(self, runner: Runner) -> None:
        """Put the gates around the plugins of a runner, and all the rest into their places.

        The recorder and the calls see what has passed all the others, the recorder what a person
        puts in the place of a call, too; the replayer takes the place of models and tools.
        """
        before = [self.effects, Naming(), self._hands_after, self._gates_after]
        request_settings, other_model = self._of_runs
        after = [request_settings, self._hands_before, self._gates_before]
        around = [self.recorder, self.calls, self.replayer, other_model]
        self._settings.know(Models(runner.agent, self.kit))
        self._chain = self.kit.chain(runner, before, after, around)
        self._let_rest()

    def _let_rest(self) -> None:
        """Those that wait for nothing in any run are not asked: with no debugger they are free."""
        gates = [] if self.gates.armed else [self._gates_before, self._gates_after]
        replay = [self._hands_before, self._hands_after, self.replayer]
        resting = gates if self.replayer.at_work else [*gates, *replay]
        if not self._settings.at_work:
            resting = [*resting, *self._of_runs]
        if self._chain is not None:
            self._chain.let_rest(each.name for each in resting)

    def _replay(self, start: StartRun, recording: str) -> Replay:
        return Replay(
            codecs().RECORDING.load(recording.encode()),
            start.session,
            self.kit,
            live_tools=start.live_tools,
            tolerant=start.other_engine,
            anywhere=start.other_engine,
            busy=lambda: self.gates.asks(start.run),
        )
