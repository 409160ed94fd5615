"""Reads SVG pictures: finds their elements by `data-` attributes."""

import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"


def parsed(svg):
    return ET.fromstring(svg)


def having(root, **attributes):
    """Elements with these `data-` attributes; None stands for any value."""
    data_attributes = {f"data-{key}": value for key, value in attributes.items()}
    return [e for e in root.iter() if all(k in e.attrib and v in (None, e.get(k)) for k, v in data_attributes.items())]


def texts(element):
    """The texts in an element."""
    return ["".join(text.itertext()) for text in element.iter(f"{SVG}text")]


def has_no_ids(root):
    """Whether a picture has no ids and no references to ids, so that several can be on one page."""
    return not [e for e in root.iter() if "id" in e.attrib or any("url(" in value for value in e.attrib.values())]
