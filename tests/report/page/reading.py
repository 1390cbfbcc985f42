"""A page read by the standard library's parser, which knows nothing of how it was made."""

import html.parser
import json

VOID = {"br", "col", "input", "meta"}
NAMES = {
    "id",
    "name",
    "class",
    "type",
    "value",
    "for",
    "href",
    "role",
    "lang",
    "charset",
    "content",
    "http-equiv",
    "checked",
}


class Page(html.parser.HTMLParser):
    """Elements in document order, as (name, attributes, text inside)."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements = []
        self.open = []
        self.faults = []
        self.feed(text)
        self.close()
        self.faults += [f"not closed: {name}" for name, _ in self.open]

    def handle_starttag(self, name, attributes):
        names = [key for key, _ in attributes]
        if len(set(names)) != len(names):
            self.faults.append(f"an attribute twice: {name} {names}")
        element = [name, dict(attributes), "", [one for one, _ in self.open]]
        self.elements.append(element)
        if name not in VOID:
            self.open.append((name, element))

    def handle_endtag(self, name):
        if not self.open or self.open[-1][0] != name:
            self.faults.append(f"</{name}> closes {self.open[-1:]}")
        else:
            self.open.pop()

    def handle_data(self, data):
        for _, element in self.open:
            element[2] += data

    def all(self, *names):
        return [element for element in self.elements if element[0] in names]

    def data(self):
        return json.loads(
            next(text for name, attributes, text, _ in self.elements if attributes.get("id") == "figures")
        )
