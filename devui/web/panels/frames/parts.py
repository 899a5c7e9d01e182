"""The page in a frame."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class PicturePage:
    """A picture on another server, and nothing else."""

    template: ClassVar[str] = "pages/picture.html"
    address: str
    host: str
