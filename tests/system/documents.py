"""What links of Markdown pages lead to."""

import re


def anchor(heading):
    """As the usual renderers of Markdown make it."""
    words = re.sub(r"[^\w\- ]", "", re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading))
    return words.strip().lower().replace(" ", "-")


def anchors(page):
    return {anchor(heading) for heading in re.findall(r"(?m)^#+ (.+)$", page.read_text())}
