"""The pages: one model per template, with exactly the template's variables.

`theme` is the value of the cookie of that name: `auto`, `light` or `dark`. Each page is loaded with
the first request for it.
"""

from typing import Literal

Theme = Literal["auto", "light", "dark"]
