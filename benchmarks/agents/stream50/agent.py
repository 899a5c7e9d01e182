"""The scenario `stream50` as an app; BENCH_IMPL selects another runtime."""

import os

from benchmarks.workload import Runtime

root_agent = Runtime(os.environ.get("BENCH_IMPL", "devui.runtime")).bench_agent("stream50")
