"""The development routes of `adk web`: path, endpoint, methods (adk-web 1.7 to 1.9)."""

from devui.web.lazy_modules import Endpoint, LazyModule

_absent = LazyModule("devui.web.adk.unsupported_routes")
_files = LazyModule("devui.web.adk.files")
_frontend = LazyModule("devui.web.adk.frontend")
_openapi = LazyModule("devui.web.openapi")
_graphs = LazyModule("devui.web.adk.graphs")
_traces = LazyModule("devui.web.adk.traces")

_APP = "/dev/apps/{app}"
_TEST = _APP + "/tests/{test}"
_SET = _APP + "/eval-sets/{set}"
_OLD_SET = _APP + "/eval_sets/{set}"
_EVENT = _APP + "/users/{user}/sessions/{session}/events/{event}"

Entry = tuple[str, Endpoint, list[str]]

ROUTES: list[Entry] = [
    (_APP + "/debug/trace/session/{session}", _traces.of_session, ["GET"]),
    (_APP + "/debug/trace/{event}", _traces.of_event, ["GET"]),
    ("/debug/trace/session/{session}", _traces.of_session, ["GET"]),
    ("/debug/trace/{event}", _traces.of_event, ["GET"]),
    (_APP + "/build_graph", _graphs.build, ["GET"]),
    (_APP + "/build_graph_image", _graphs.pictures, ["GET"]),
    (_APP + "/graph", _graphs.graph, ["GET"]),
    (_EVENT + "/graph", _graphs.of_event, ["GET"]),
    (_APP + "/builder", _files.yaml, ["GET"]),
    (_APP + "/builder/save", _absent.builder, ["POST"]),
    (_APP + "/builder/cancel", _files.cancel, ["POST"]),
    (_APP + "/tests", _files.tests, ["GET"]),
    (_APP + "/tests/rebuild", _absent.rerun, ["POST"]),
    (_APP + "/tests/run", _absent.rerun, ["POST"]),
    (_TEST, _files.show_test, ["GET"]),
    (_TEST, _absent.recording, ["PUT", "DELETE"]),
    (_APP + "/eval-sets", _absent.eval_sets, ["GET"]),
    (_APP + "/eval-sets", _absent.evaluation, ["POST"]),
    (_APP + "/eval_sets", _absent.nothing, ["GET"]),
    (_SET, _absent.evaluation, ["GET", "DELETE"]),
    (_SET + "/add-session", _absent.evaluation, ["POST"]),
    (_SET + "/run", _absent.evaluation, ["POST"]),
    (_SET + "/eval-cases/{case}", _absent.eval_case, ["GET"]),
    (_SET + "/eval-cases/{case}", _absent.evaluation, ["PUT", "DELETE"]),
    (_OLD_SET, _absent.evaluation, ["POST"]),
    (_OLD_SET + "/add_session", _absent.evaluation, ["POST"]),
    (_OLD_SET + "/run_eval", _absent.evaluation, ["POST"]),
    (_OLD_SET + "/evals", _absent.eval_set, ["GET"]),
    (_OLD_SET + "/evals/{case}", _absent.eval_case, ["GET"]),
    (_OLD_SET + "/evals/{case}", _absent.evaluation, ["PUT", "DELETE"]),
    (_APP + "/eval-results", _absent.eval_results, ["GET"]),
    (_APP + "/eval_results", _absent.nothing, ["GET"]),
    (_APP + "/eval-results/{result}", _absent.eval_result, ["GET"]),
    (_APP + "/eval_results/{result}", _absent.eval_result, ["GET"]),
    (_APP + "/metrics-info", _absent.metrics, ["GET"]),
    (_APP + "/deploy/defaults", _absent.deployment, ["GET"]),
    (_APP + "/deploy/{target}", _absent.deployment, ["POST"]),
    ("/config/telemetry", _absent.telemetry, ["GET"]),
    ("/config/telemetry", _absent.choose_telemetry, ["POST"]),
    ("/agent-identity/finalize", _absent.identity, ["POST"]),
    ("/dev-ui", _frontend.home, ["GET"]),
    ("/dev-ui/config", _frontend.logo, ["GET"]),
    ("/dev-ui/assets/config/runtime-config.json", _frontend.runtime_config, ["GET"]),
    ("/dev-ui/{path:path}", _frontend.file, ["GET"]),
    ("/openapi.json", _openapi.show, ["GET"]),
    ("/docs", _openapi.page, ["GET"]),
    ("/run_live", _absent.live, ["GET"]),
]
