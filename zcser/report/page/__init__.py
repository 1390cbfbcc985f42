"""One self-contained page of one result or several: ``render.page`` makes it, the rest are its parts.

1. A page needs nothing from outside: no font, no picture, no script from anywhere, and its content policy forbids them.
2. All figures and pictures are in the HTML. Scripts add filters, sorting and the calculator, and nothing else.
3. Text from results enters through `html.tag` alone, which escapes it, or as JSON through `embed.json_block`.
"""
