"""Tables, and the generated parts of a page: what stands between markers is replaced, the rest is written by hand and stays."""

import re


def table(head, align, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "| " + " | ".join(align) + " |",
                      *["| " + " | ".join(row) + " |" for row in rows]])


def between_markers(page, name, text):
    pattern = re.compile(rf"(<!-- generated: {name} -->\n).*?(<!-- end -->)", re.S)
    if not pattern.search(page):
        page += f"\n<!-- generated: {name} -->\n<!-- end -->\n"
    return pattern.sub(lambda found: f"{found[1]}\n{text}\n\n{found[2]}", page)
