"""What notebooks show."""
from __future__ import annotations

import html


def shown(summary: str, svg: str) -> str:
    """A line of text above a picture that scrolls. `svg` is a whole document."""
    picture = svg[max(svg.find("<svg"), 0):]
    return f'<div>{html.escape(summary)}</div><div style="max-height: 40em; overflow: auto">{picture}</div>'
