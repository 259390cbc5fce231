"""The text of pages and the messages of catalogues: HTML, Mallard (GNOME's help), roff (man pages), fortunes
and .mo files.

A page becomes sections. A section is a list of blocks: its heading, if it has one, and then its paragraphs,
items and cells. A block is one line without markup. Code, navigation, scripts and forms are left out. Pure,
with the standard library only; broken markup raises nothing."""

import html.parser
import re
import struct

HAN = "\u3400-\u4dbf\u4e00-\u9fff"
ONE_HAN = re.compile(f"[{HAN}]")
WIDE = (
    f"{HAN}\u3001-\u301b\uff01-\uff5e"  # Han and full-width punctuation: no space stands beside a line's end
)
BROKEN = re.compile(rf"(?<=[{WIDE}])[ \t]*\n\s*(?=[{WIDE}])")
BLOCKS = frozenset(
    "p div li td th dt dd tr table ul ol dl br hr section article caption figcaption blockquote"
    " item steps list terms desc note title".split()
)
HTML = {
    "headings": frozenset(("h1", "h2", "h3", "h4", "h5", "h6")),
    "left_out": frozenset("head script style nav header footer aside button noscript select pre svg".split()),
}
MALLARD = {"headings": frozenset(("title",)), "left_out": frozenset(("info", "screen", "media"))}
NAVIGATION = frozenset(
    "navheader navfooter toc list-of-tables list-of-figures list-of-examples relatedtopics howtoget wikihelp revhistory"
    " legalnotice".split()
)
IDS = frozenset(("SearchFrame", "DonationFrame"))


def is_chinese(text):
    """At least half of the letters are Han, and there is one."""
    letters, han = sum(map(str.isalpha, text)), len(ONE_HAN.findall(text))
    return han > 0 and 2 * han >= letters


def one_line(text):
    return " ".join(BROKEN.sub("", text).split())


class Reader(html.parser.HTMLParser):
    """Takes HTML or XML. `sections` has the result after close()."""

    def __init__(self, headings, left_out):
        super().__init__(convert_charrefs=True)
        self.headings, self.left_out = headings, left_out
        self.sections, self.buffer = [[]], []
        self.skipped, self.depth = None, 0  # the element that is left out, and how many of its name are open

    def handle_starttag(self, tag, attrs):
        if self.skipped:
            self.depth += tag == self.skipped
            return
        named = dict(attrs)
        if (
            tag in self.left_out
            or named.get("id") in IDS
            or NAVIGATION & set((named.get("class") or "").split())
        ):
            self.block()
            self.skipped, self.depth = tag, 1
        elif tag in self.headings:
            self.block()
            if self.sections[-1]:
                self.sections.append([])
        elif tag in BLOCKS:
            self.block()

    def handle_endtag(self, tag):
        if self.skipped:
            self.depth -= tag == self.skipped
            if self.depth == 0:
                self.skipped = None
        elif tag in self.headings or tag in BLOCKS:
            self.block()

    def handle_data(self, data):
        if not self.skipped:
            self.buffer.append(data)

    def close(self):
        super().close()
        self.block()

    def block(self):
        line = one_line("".join(self.buffer))
        self.buffer = []
        if line:
            self.sections[-1].append(line)


def marked_up(markup, kind):
    """The sections of a page. `kind`: HTML or MALLARD."""
    reader = Reader(**kind)
    reader.feed(markup)
    reader.close()
    return [section for section in reader.sections if section]


ROFF_ESCAPE = re.compile(
    r"\\(?:f(?:\[[^]]*\]|\(..|.)|s[-+]?\d|[&|^/,)%:!{}]|\"[^\n]*|\*(?:\[[^]]*\]|\(..|.)|c$|[mM]\[[^]]*\])",
    re.M,
)
ROFF_SIGNS = {
    "-": "-",
    "e": "\\",
    "\\": "\\",
    " ": " ",
    "~": " ",
    "0": " ",
    "t": " ",
    "'": "'",
    "`": "`",
    ".": ".",
    "(co": "©",
    "(aq": "'",
    "(dq": '"',
    "(lq": "“",
    "(rq": "”",
    "(em": "—",
    "(en": "–",
    "(bu": "•",
    "(hy": "-",
    "(mu": "×",
    "(ti": "~",
    "(ha": "^",
    "(cq": "’",
    "(oq": "‘",
    "(rg": "®",
    "(tm": "™",
    "(bv": "|",
    "(->": "→",
    "(<-": "←",
}
ROFF_SIGN = re.compile(r"\\(\(..|\[[^]]*\]|.)")
PARAGRAPHS = frozenset(("PP", "P", "LP", "TP", "IP", "HP", "sp", "br", "RS", "RE", "TQ"))
FONTS = frozenset(("B", "I", "BR", "RB", "BI", "IB", "IR", "RI", "SM", "SB", "R", "OP"))


def roff_line(text):
    def sign(found):
        name = found[1]
        return ROFF_SIGNS.get(f"({name[1:-1]}" if name[0] == "[" else name, "")

    return ROFF_SIGN.sub(sign, ROFF_ESCAPE.sub("", text))


def roff(source):
    """The sections of a man page in the macros of man(7). A page of mdoc(7), and one that only names another,
    has none."""
    if re.search(r"^\.(?:so |Dd)", source, re.M):
        return []
    sections, lines, code = [[]], [], False

    def block():
        line = one_line("\n".join(lines))
        lines.clear()
        if line:
            sections[-1].append(line)

    for line in source.splitlines():
        found = re.match(r"[.'][ \t]*(\\\"|[A-Za-z]*)[ \t]*(.*)", line)
        if not found:
            if not line.strip():
                block()
            elif not code:
                lines.append(roff_line(line))
            continue
        macro, rest = found.groups()
        words = [
            quoted.replace('""', '"') or plain
            for quoted, plain in re.findall(r'"((?:[^"]|"")*)"?|(\S+)', rest)
        ]
        if macro in ("SH", "SS"):
            block()
            code = False
            sections.append([roff_line(" ".join(words))] if words else [])
        elif macro in ("nf", "EX", "TS", "fi", "EE", "TE"):
            block()
            code = macro in ("nf", "EX", "TS")
        elif macro in PARAGRAPHS:
            block()
            if macro == "IP" and words:
                lines.append(roff_line(words[0]))
        elif macro in FONTS and not code:
            lines.append(roff_line(("" if len(macro) == 2 else " ").join(words)))
    block()
    return [section for section in sections if section and section != [""]]


def fortunes(text):
    """The entries of a file of fortune(6), without colours. Each is one section."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return [
        section
        for entry in re.split(r"(?m)^%\s*$", text)
        if (section := [line for part in re.split(r"\n\s*\n", entry) if (line := one_line(part))])
    ]


def messages(catalogue):
    """The translations of a .mo file, without the header. Of plural forms, the first. A catalogue that is cut
    short or damaged gives none."""
    order = {b"\xde\x12\x04\x95": "<", b"\x95\x04\x12\xde": ">"}.get(catalogue[:4])
    if order is None:
        return []
    try:
        count, originals, translations = struct.unpack_from(f"{order}3I", catalogue, 8)
        lengths = struct.unpack_from(f"{order}{2 * count}I", catalogue, originals)[::2]  # of the originals
        places = struct.unpack_from(
            f"{order}{2 * count}I", catalogue, translations
        )  # lengths and offsets by turns
    except struct.error:
        return []
    return [
        catalogue[at : at + length].split(b"\0")[0].decode("utf-8", "replace")
        for original, length, at in zip(lengths, places[::2], places[1::2])
        if original
    ]


TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
# The key of a menu: (_F), (~F), (&F), &File.
KEY = re.compile(r"\s*\([_~&][0-9A-Za-z]\)|(?<![0-9A-Za-z&])[_~&](?=[A-Za-z])")


def message_lines(message):
    """The lines that a person sees of a message."""
    return [
        line
        for part in re.split(r"\n|\\n|<br ?/?>", message)
        if (line := one_line(KEY.sub("", TAG.sub("", part))))
    ]
