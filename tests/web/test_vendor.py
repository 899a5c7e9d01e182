"""The vendored browser files are the reviewed ones."""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "static" / "vendor"
SCRIPT = ROOT / "scripts" / "vendor"
ROW = re.compile(r"^\| `([^`]+)` \| `[^`]+` \| `([0-9a-f]{64})` \|$", re.MULTILINE)
PINS = dict(ROW.findall((FOLDER / "README.md").read_text()))


@pytest.mark.req("R14")
def test_every_vendored_file_is_listed_with_its_hash() -> None:
    hashes = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FOLDER.iterdir()}
    hashes.pop("README.md")
    assert hashes == PINS
    ours = {"htmx.min.js", "hx-sse.min.js", "LICENSE", "mermaid.min.js", "mermaid.LICENSE"}
    assert set(PINS) == ours


@pytest.mark.req("R14")
def test_the_script_pins_the_same_hashes() -> None:
    script = SCRIPT.read_text()
    assert all(sha256 in script for sha256 in PINS.values())
    check = subprocess.run([sys.executable, str(SCRIPT), "--check"], check=False)
    assert check.returncode == 0


@pytest.mark.req("R14")
def test_a_changed_file_is_detected(tmp_path: Path) -> None:
    copy = tmp_path / "scripts" / "vendor"
    copy.parent.mkdir()
    copy.write_bytes(SCRIPT.read_bytes())
    vendor = tmp_path / "static" / "vendor"
    vendor.mkdir(parents=True)
    for name in PINS:
        (vendor / name).write_bytes((FOLDER / name).read_bytes())
    (vendor / "htmx.min.js").write_bytes((FOLDER / "htmx.min.js").read_bytes() + b" ")
    check = subprocess.run(
        [sys.executable, str(copy), "--check"], check=False, capture_output=True, text=True
    )
    assert check.returncode == 1
    assert check.stderr.startswith("htmx.min.js: sha256 ")


def test_no_file_points_at_a_source_map() -> None:
    for path in FOLDER.glob("*.js"):
        assert "sourceMappingURL" not in path.read_text()
