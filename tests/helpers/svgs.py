"""Reading pictures: what is drawn in an SVG, found by its `data-` attributes."""

import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"


def parsed(svg):
    return ET.fromstring(svg)


def having(root, **attributes):
    """Elements with these `data-` attributes; None: with any value."""
    wanted = {f"data-{key}": value for key, value in attributes.items()}
    return [e for e in root.iter() if all(k in e.attrib and v in (None, e.get(k)) for k, v in wanted.items())]


def texts(element):
    """All that is written in an element."""
    return ["".join(text.itertext()) for text in element.iter(f"{SVG}text")]


def has_no_ids(root):
    """Whether any number of such pictures can stand on one page."""
    return not [e for e in root.iter() if "id" in e.attrib or any("url(" in value for value in e.attrib.values())]
