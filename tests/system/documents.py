"""The anchors of Markdown pages, to which links lead."""

import re


def anchor(heading):
    """The anchor that the usual Markdown renderers make of a heading."""
    words = re.sub(r"[^\w\- ]", "", re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading))
    return words.strip().lower().replace(" ", "-")


def anchors(page):
    return {anchor(heading) for heading in re.findall(r"(?m)^#+ (.+)$", page.read_text())}
