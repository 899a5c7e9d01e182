"""The instruments that observe a worker's runs: gates, open calls, recorder, replayer, settings."""

from collections.abc import Iterable

from devui.wire.framing import codecs
from devui.wire.gates import WorkerGate
from devui.wire.messages import StartRun
from devui.worker.engines.kit import Kit, PluginChain, Runner
from devui.worker.instruments.calls import Calls, Endings
from devui.worker.instruments.gates import Gates, GatesAfter, GatesBefore
from devui.worker.instruments.recorder import Recorder
from devui.worker.link import Link
from devui.worker.replay.interventions import RecordedEditsAfter, RecordedEditsBefore
from devui.worker.replay.plugin import Replayer
from devui.worker.replay.replay import Replay
from devui.worker.run_settings import Models, OtherModel, RequestSettings, SettingsOfRuns
from devui.worker.state.actors import Naming
from devui.worker.tools import Effects


class Instruments:
    """One instrument of each kind for a worker; all are plugins to the runtime (Law 6)."""

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
        self._edits_before = RecordedEditsBefore(self.replayer.recorded_edits, kit)
        self._edits_after = RecordedEditsAfter(self.replayer.recorded_edits, kit)
        self._gates_before = GatesBefore(self.gates)
        self._gates_after = GatesAfter(self.gates)
        self._chain: PluginChain | None = None

    def begin(self, start: StartRun) -> None:
        """Prepare for a run that begins."""
        self.gates.arm(start.run, start.gates)
        self.recorder.begin(start.run, start.session_key)
        if start.settings:
            self._settings.begin(start.run, start.settings)
        if start.recording is not None:
            self.replayer.begin(start.run, self._replay(start, start.recording))
        self._disable_unused()

    def arm(self, run: str, gates: Iterable[WorkerGate]) -> None:
        """Make a run ask at these gates, and at no others."""
        self.gates.arm(run, gates)
        self._disable_unused()

    def forget(self, run: str) -> None:
        """Discard the data of a run that has ended."""
        self.gates.forget(run)
        self.recorder.forget(run)
        self.replayer.forget(run)
        self.effects.forget(run)
        self._settings.forget(run)
        self._disable_unused()

    def join(self, runner: Runner) -> None:
        """Put the gates around a runner's plugins, and the other instruments in their places.

        The recorder and `Calls` see what has passed all other plugins; the recorder also sees what
        a person puts in place of a call. The replayer answers in place of models and tools.
        """
        before = [self.effects, Naming(), self._edits_after, self._gates_after]
        request_settings, other_model = self._of_runs
        after = [request_settings, self._edits_before, self._gates_before]
        around = [self.recorder, self.calls, self.replayer, other_model]
        self._settings.know(Models(runner.agent, self.kit))
        self._chain = self.kit.chain(runner, before, after, around)
        self._disable_unused()

    def _disable_unused(self) -> None:
        """Disable unused instruments, so that they cost nothing without a debugger."""
        gates = [] if self.gates.armed else [self._gates_before, self._gates_after]
        replay = [self._edits_before, self._edits_after, self.replayer]
        disabled = gates if self.replayer.is_active else [*gates, *replay]
        if not self._settings.is_active:
            disabled = [*disabled, *self._of_runs]
        if self._chain is not None:
            self._chain.set_disabled(each.name for each in disabled)

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
