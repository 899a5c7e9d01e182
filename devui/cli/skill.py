"""`devui skill`: teaches a coding agent to debug with `devui dbg --json`."""

from pathlib import Path
from typing import Final

import click

from devui.cli.options import json_option, json_text
from devui.failures import BadRequestError, DevuiError

NAME: Final = "devui"
"""The name of the skill and of its folder."""
_FOLDER: Final = Path(__file__).parents[1] / "skill"
_PAGE: Final = "SKILL.md"
_REFERENCES: Final = "reference"
_DEFAULT: Final = ".claude/skills"

_EXAMPLES = """\b
Examples:
  devui skill                           print the skill
  devui skill json                      print one of the pages it refers to
  devui skill --install                 install it for Claude Code in this project
  devui skill --install .agents/skills  install it in another folder of skills
"""


@click.command("skill", epilog=_EXAMPLES, short_help="Teach a coding agent to debug with devui.")
@click.argument("page", required=False)
@click.option(
    "--install",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    is_flag=False,
    flag_value=_DEFAULT,
    metavar="[DIR]",
    help=f"Write the skill into this folder of skills; without DIR, {_DEFAULT}.",
)
@click.option("--force", is_flag=True, help="Overwrite files that were changed.")
@json_option
def command(page: str | None, folder: Path | None, *, force: bool, as_json: bool) -> None:
    """Print the skill, or the PAGE it refers to, or install it with its pages."""
    if folder is None:
        text = _text(page)
        click.echo(json_text({"page": page, "text": text}) if as_json else text, nl=as_json)
        return
    if page is not None:
        raise BadRequestError("--install writes the skill with all its pages; leave PAGE out")
    place = folder / NAME
    files = [str(file) for file in install(place, force=force)]
    if as_json:
        click.echo(json_text({"files": files}))
        return
    for file in files:
        click.echo(f"wrote {file}")


def _text(page: str | None) -> str:
    """Return a page of the skill. Raises BadRequestError if the page doesn't exist."""
    if page is None:
        return (_FOLDER / _PAGE).read_text(encoding="utf-8")
    pages = {file.stem: file for file in sorted((_FOLDER / _REFERENCES).glob("*.md"))}
    if page not in pages:
        raise BadRequestError(f"the skill has no page {page!r}; available: {', '.join(pages)}")
    return pages[page].read_text(encoding="utf-8")


def install(place: Path, *, force: bool) -> list[Path]:
    """Write the files of the skill into the folder `place`, and return their paths.

    Without `force`, raises DevuiError if a file there differs, before anything is written.
    """
    pages = [_FOLDER / _PAGE, *sorted((_FOLDER / _REFERENCES).glob("*.md"))]
    texts = {place / page.relative_to(_FOLDER): page.read_text(encoding="utf-8") for page in pages}
    try:
        for file, text in texts.items():
            if not force and file.exists() and file.read_text(encoding="utf-8") != text:
                raise DevuiError(f"{file} differs from this version's; add --force to overwrite it")
        for file, text in texts.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DevuiError(f"the skill can't be written: {error}") from error
    return list(texts)
