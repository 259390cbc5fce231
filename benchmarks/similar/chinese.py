#!/usr/bin/env python3
"""Chinese texts and lines that nobody of this project wrote, in both scripts: help, manuals and messages of a
distribution's packages.

    benchmarks/similar/chinese.py [FOLDER]        build/similar by default; no root, nothing of the system is changed

writes FOLDER/zh-long.jsonl and zh-lines.jsonl, one item a line: {"item_id","title","text","lang"}. All texts
differ, also without their white space. `zh-long` has texts of 100 to 5,000 characters: parts of pages, cut at
headings. `zh-lines` has messages of one line (as title), of 15 to 100 characters. At least half of the
letters of each are Han. `lang` is zh-CN or zh-TW, as the package says. Packages that a distribution doesn't
have are left out. Debian 12 gives about 8,000 texts and 27,500 lines.

Man pages in zh_TW are no work of their own: their package makes them from those in zh_CN, with OpenCC
(s2twp)."""

import collections
import gzip
import pathlib
import re
import sys

import descriptions
import packages
import page_text

LENGTHS = {"long": (100, 5_000), "lines": (15, 100)}
TEXT_WANTED = 300  # sections are joined until a text has so many characters
SHARED_PAGES = 20  # a paragraph that more pages of a package have is no text of any of them
SHARED_LENGTH = 8  # shorter ones, such as headings, stay
LANG = re.compile(r"zh[-_](tw|hant)", re.I)


def page(kind):
    return lambda content: [page_text.marked_up(content.decode("utf-8", "replace"), kind)]


def man_page(content):
    return [page_text.roff(content.decode("utf-8", "replace"))]


def fortune_pages(content):
    return [[section] for section in page_text.fortunes(content.decode("utf-8", "replace"))]


# (package, path in it, pages of a file). A page is a list of sections.
PAGES = (
    ("libreoffice-help-zh-cn", r"/zh-CN/text/.*\.html$", page(page_text.HTML)),
    ("libreoffice-help-zh-tw", r"/zh-TW/text/.*\.html$", page(page_text.HTML)),
    ("manpages-zh", r"/man/zh_(CN|TW)/man\d/", man_page),
    ("debian-reference-zh-cn", r"\.zh-cn\.html$", page(page_text.HTML)),
    ("debian-reference-zh-tw", r"\.zh-tw\.html$", page(page_text.HTML)),
    ("debmake-doc", r"\.zh-(cn|tw)\.html$", page(page_text.HTML)),
    ("maint-guide-zh-cn", r"\.zh-cn\.html$", page(page_text.HTML)),
    ("maint-guide-zh-tw", r"\.zh-tw\.html$", page(page_text.HTML)),
    ("debian-faq-zh-cn", r"\.zh-cn\.html$", page(page_text.HTML)),
    ("gnome-user-docs", r"/zh_(CN|TW)/.*\.page$", page(page_text.MALLARD)),
    ("fortunes-zh", r"/games/fortunes/[a-z0-9]+$", fortune_pages),
)
CATALOGUE = r"/zh_(CN|TW)/LC_MESSAGES/[^/]*\.mo$"
# Ubuntu has most messages of its `main` packages in language packs.
CATALOGUES = (
    "libreoffice-l10n-zh-cn",
    "libreoffice-l10n-zh-tw",
    "gcc-14-locales | gcc-13-locales | gcc-12-locales",
    "git",
    "gnucash-common",
    "krita-l10n",
    "vlc-l10n",
    "evolution-common",
    "cinnamon-l10n",
    "audacity-data",
    "util-linux-locales",
    "language-pack-zh-hans-base",
    "language-pack-zh-hant-base",
    "language-pack-gnome-zh-hans-base",
    "language-pack-gnome-zh-hant-base",
)
WANTED = tuple(package for package, *_ in PAGES) + CATALOGUES


def lang_of(path):
    return "zh-TW" if LANG.search(path) else "zh-CN"


def read_pages(deb, pattern, pages_of):
    """[(path, page), ...]"""
    out = []
    for path, content in packages.files(deb, pattern):
        if path.endswith(".gz"):
            content = gzip.decompress(content)
        out += [(path, found) for found in pages_of(content)]
    return out


def without_shared(pages):
    """The pages without the paragraphs that more than SHARED_PAGES pages have."""
    counts = collections.Counter(
        block for _, sections in pages for block in {block for section in sections for block in section}
    )

    def own(block):
        return len(block) < SHARED_LENGTH or counts[block] <= SHARED_PAGES

    return [
        (path, [[block for block in section if own(block)] for section in sections])
        for path, sections in pages
    ]


def texts_of(sections, most=LENGTHS["long"][1]):
    """The texts of a page, each of at most `most` characters. Sections are joined until there are TEXT_WANTED
    characters. A section that is too long is cut between its blocks; a block that is too long is left out."""
    out, blocks, size = [], [], 0

    def end():
        nonlocal blocks, size
        if blocks:
            out.append("\n".join(blocks))
        blocks, size = [], 0

    for section in sections:
        for block in section:
            if len(block) > most:
                continue
            if size + len(block) + len(blocks) > most:
                end()
            blocks.append(block)
            size += len(block)
        if size >= TEXT_WANTED:
            end()
    end()
    return out


def fits(text, lengths):
    least, most = lengths
    return least <= len(text) <= most and page_text.is_chinese(text)


def long_rows(debs, described):
    """(text, lang, source) of all pages, and then of the packages' descriptions."""
    for package, pattern, pages_of in PAGES:
        if package in debs:
            for path, sections in without_shared(read_pages(debs[package], pattern, pages_of)):
                for text in texts_of(sections):
                    if fits(text, LENGTHS["long"]):
                        yield text, lang_of(path), package
    for item in described:
        if fits(item["text"], LENGTHS["long"]):
            yield item["text"], "zh-CN", "descriptions"


def line_rows(debs, described):
    """(line, lang, source) of all catalogues, and then of the packages' descriptions."""
    for package in packages.chosen(CATALOGUES, debs):
        for path, content in packages.files(debs[package], CATALOGUE):
            for message in page_text.messages(content):
                for line in page_text.message_lines(message):
                    if fits(line, LENGTHS["lines"]):
                        yield line, lang_of(path), package
    for item in described:
        if fits(item["title"], LENGTHS["lines"]):
            yield item["title"], "zh-CN", "descriptions"


def items(rows, as_title):
    """Items of (text, lang, source). An id is the source and a number."""
    numbers = collections.Counter()
    out = []
    without_spaces = (("".join(row[0].split()), row) for row in rows)
    for text, lang, source in descriptions.distinct(without_spaces):
        numbers[source] += 1
        title, body = (text, "") if as_title else ("", text)
        out.append({"item_id": f"{source}~{numbers[source]}", "title": title, "text": body, "lang": lang})
    return out


def prepared(folder=descriptions.FOLDER):
    """{"long": path, "lines": path}. Writes the files again if the packages, the descriptions or the code are
    newer. NoTexts: there is no apt or no network."""
    described = descriptions.prepared(folder)["zh"]
    debs = packages.fetched(WANTED, folder / "packages")
    paths = {name: folder / f"zh-{name}.jsonl" for name in LENGTHS}
    code = [pathlib.Path(path) for path in (page_text.__file__, packages.__file__, __file__)]
    sources = [described, folder / "packages" / "fetched", *code]
    newest = max(path.stat().st_mtime for path in sources if path.exists())
    if any(not path.exists() or path.stat().st_mtime < newest for path in paths.values()):
        known = descriptions.read(described)
        descriptions.write(paths["long"], items(long_rows(debs, known), as_title=False))
        descriptions.write(paths["lines"], items(line_rows(debs, known), as_title=True))
    return paths


def by_source(wanted):
    """{source: {lang: number}} of items."""
    out = {}
    for item in wanted:
        of_source = out.setdefault(item["item_id"].rpartition("~")[0], {})
        of_source[item["lang"]] = of_source.get(item["lang"], 0) + 1
    return out


def main():
    folder = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else descriptions.FOLDER
    try:
        for name, path in prepared(folder).items():
            wanted = descriptions.read(path)
            print(f"{name}: {len(wanted):,} in {path}")
            for source, counts in by_source(wanted).items():
                print(f"  {source}: " + ", ".join(f"{number:,} {lang}" for lang, number in counts.items()))
    except descriptions.NoTexts as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
