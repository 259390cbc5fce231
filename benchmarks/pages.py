"""Tables, and the generated parts of a page. Text between markers is replaced. The rest is written by hand
and stays."""

import re
import textwrap


def table(head, align, rows):
    return "\n".join(
        [
            "| " + " | ".join(head) + " |",
            "| " + " | ".join(align) + " |",
            *["| " + " | ".join(row) + " |" for row in rows],
        ]
    )


def between_markers(page, name, text):
    pattern = re.compile(rf"(<!-- generated: {name} -->\n).*?(<!-- end -->)", re.S)
    if not pattern.search(page):
        page += f"\n<!-- generated: {name} -->\n<!-- end -->\n"
    return pattern.sub(lambda found: f"{found[1]}\n{text}\n\n{found[2]}", page)


def wrapped(text):
    """The text with paragraphs of prose and flat lists wrapped at 100 columns. Tables, pictures, headings,
    other lists and code stay as they are."""

    def wrap(block):
        if all(line.startswith("- ") for line in block.splitlines()):
            return "\n".join(fill(item, "  ") for item in block.splitlines())
        is_prose = not re.search(r"(?m)^ *(\||!\[|#|[-*] |\d+\. |```|<)", block)
        if not is_prose or max(map(len, block.splitlines()), default=0) <= 100:
            return block
        return fill(" ".join(block.split()), "")

    def fill(paragraph, indent):
        return textwrap.fill(
            paragraph, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )

    return "\n\n".join(wrap(block) for block in text.split("\n\n"))
