"""Links of the documents lead somewhere, prose is wrapped, and the README's tables state figures of
PERFORMANCE.md."""

import re
import subprocess

import pytest

from places import SOURCE

PERFORMANCE = SOURCE / "docs" / "PERFORMANCE.md"
NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?")
PAGES = sorted(
    path
    for path in subprocess.run(
        ["git", "ls-files", "*.md"], cwd=SOURCE, check=True, capture_output=True, text=True
    ).stdout.split()
)


def anchor(heading):
    """The anchor that the usual Markdown renderers make of a heading."""
    words = re.sub(r"[^\w\- ]", "", re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading))
    return words.strip().lower().replace(" ", "-")


def anchors(page):
    return {anchor(heading) for heading in re.findall(r"(?m)^#+ (.+)$", page.read_text())}


def links(page):
    text = re.sub(r"(?ms)^ *```.*?^ *```|`[^`\n]*`", "", (SOURCE / page).read_text())
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"[a-z]+:", link)]


@pytest.mark.parametrize("page", ["README.md", "docs/OPERATIONS.md", "docs/RUNBOOK.md"])
def test_links_are_found(page):
    assert len(links(page)) >= 5


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    """A linked file must exist, and its heading, too. Links to other sites aren't checked."""
    for link in links(page):
        file, _, heading = link.partition("#")
        target = (SOURCE / page).parent / file if file else SOURCE / page
        assert target.exists(), link
        assert not heading or heading in anchors(target), link


@pytest.mark.parametrize("page", PAGES)
def test_prose_is_wrapped_at_100_columns(page):
    """Tables, code, pictures and generated lists may be wider. So may a line that is one long link."""
    text = re.sub(r"(?ms)^ *```.*?^ *```$", "", (SOURCE / page).read_text())
    wide = [
        line
        for line in text.splitlines()
        if len(line) > 100
        and " " in line.strip()
        and not re.match(r"\||!\[|<|    (?! *(?:[-*]|\d+\.) )", line)
    ]
    assert not wide, "\n".join(wide)


def measured_rows(page="README.md"):
    """The rows of the page's tables that state a number; of another page than the README those that link to
    measurements."""
    return [
        line
        for line in (SOURCE / page).read_text().splitlines()
        if line.startswith("|")
        and NUMBER.search(re.sub(r"`[^`]*`", "", line))
        and (page == "README.md" or "PERFORMANCE.md#" in line)
    ]


def figures(row):
    """The numbers of the row, without those in links and names of commands."""
    return NUMBER.findall(re.sub(r"\]\([^)]*\)|`[^`]*`", "", row))


def test_the_chinese_readme_states_the_same_figures():
    assert [figures(row) for row in measured_rows("docs/zh/README.md")] == [
        figures(row) for row in measured_rows()
    ]


def sections():
    """{anchor: heading and text, up to the next heading}"""
    blocks = re.split(r"(?m)^#+ ", PERFORMANCE.read_text())[1:]
    return {anchor(block.partition("\n")[0]): block for block in blocks}


SECTIONS = sections()


def test_the_readme_states_measurements():
    assert len(measured_rows()) >= 5


@pytest.mark.parametrize("row", measured_rows())
def test_a_row_states_figures_of_the_section_that_it_links_to(row):
    linked = re.findall(r"\]\(docs/PERFORMANCE\.md#([^)]*)\)", row)
    assert linked, "the row links to the section that has its figures"
    assert set(linked) <= set(SECTIONS)
    found = {number for name in linked for number in NUMBER.findall(SECTIONS[name])}
    said = figures(row)
    assert said and not set(said) - found, f"not in {linked}: {sorted(set(said) - found)}"
