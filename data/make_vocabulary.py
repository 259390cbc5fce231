#!/usr/bin/env python3
"""Makes data/vocabulary.tsv from the dictionaries of OpenCC.

    data/make_vocabulary.py OPENCC_CHECKOUT > data/vocabulary.tsv

Each line has a word of Taiwan, a tab, and the mainland's word to which the comparison of texts folds it. Both
are in the characters that folding.tsv gives. A word that folds to itself is there so that no part of it is
taken for another word: 互联网 holds 联网 together, so that 网路 isn't found in 互联网路由."""

import pathlib
import re
import sys

from make_folding import dictionary, folding

HAN_WORD = re.compile("[\u3400-\u9fff]{2,}")
# OpenCC folds them, but on the mainland, or in Taiwan too, they usually mean something else.
LEFT_OUT = frozenset("序列 核心 行程 指标 简报 过载 狮子山 区域性 桌布 外挂 启用 那杜".split())
# OpenCC converts this one way only.
ADDED = {"预设": "默认"}


def replaced(text, table):
    """The text with its words replaced: from the left, the longest first."""
    longest = max(map(len, table))
    out, at = [], 0
    while at < len(text):
        size = next((size for size in range(longest, 1, -1) if text[at : at + size] in table), 1)
        out.append(table.get(text[at : at + size], text[at]))
        at += size
    return "".join(out)


def overlap(word, table):
    """Whether the end of `word` begins a word of the table."""
    return any(
        word[-size:] == key[:size] for key in table for size in range(1, min(len(word), len(key)))
    )


def vocabulary(folder):
    """{word of Taiwan: word of the mainland}, and words that fold to themselves."""
    characters = {ord(character): folded for character, folded in folding(folder).items()}
    rows = {
        key.translate(characters): [choice.translate(characters) for choice in choices]
        for key, choices in dictionary(folder / "TWPhrasesRev.txt").items()
    }
    rows = {
        key: choices for key, choices in rows.items() if all(map(HAN_WORD.fullmatch, (key, choices[0])))
    }
    mainland = {choice for key, choices in rows.items() for choice in choices if choice != key}
    table = {
        key: choices[0]
        for key, choices in rows.items()
        if choices[0] != key and key not in mainland | LEFT_OUT  # 程序 is 进程, but also the mainland's 程式
    } | ADDED
    whole = mainland | {choices[0] for choices in rows.values()} | set(ADDED.values())
    guards = {
        word: word
        for word in whole
        if HAN_WORD.fullmatch(word)
        and word not in table
        and (replaced(word, table) != word or overlap(word, table))
    }
    return table | guards


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(
        "# Words of Taiwan and what the comparison of texts folds them to. data/README.md says where they come from."
    )
    for word, folded in sorted(vocabulary(pathlib.Path(sys.argv[1]) / "data" / "dictionary").items()):
        print(f"{word}\t{folded}")


if __name__ == "__main__":
    main()
