"""The differences on purpose in what files become, in the words of the guide."""

from tests.differential.case import Difference

PICTURES = Difference(
    "Pictures in instructions",
    here="`{artifact.a.png}` stands for the file's type and size.",
    there="It stands for the bytes as Python writes them, and for all empty fields of the part.",
    why="An instruction is text: the bytes are of no use to a model, and cost tokens.",
)
DOCUMENTS = Difference(
    "Signs in documents",
    here="The text of a file of a word processor has its signs: `Tom & Jerry`.",
    there="They stay as XML has them: `Tom &amp; Jerry`.",
    why="A model, and who is shown its answer, reads text.",
)
