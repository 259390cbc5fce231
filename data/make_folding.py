#!/usr/bin/env python3
"""Makes data/folding.tsv from the dictionaries of OpenCC.

    data/make_folding.py OPENCC_CHECKOUT > data/folding.tsv

Each line has a character, a tab, and the character to which the comparison of texts folds it. The mapping has
one direction, from Traditional Chinese and its regional variants to Simplified Chinese. No character on the
right is on the left. So characters that Simplified Chinese merged become equal on purpose (後 and 后)."""

import pathlib
import sys

# OpenCC decides these by phrases. Texts of both scripts have both forms, so they fold to one.
MERGED = dict(["瞭了", "藉借", "祇只", "衹只", "覆复", "著着"])
# OpenCC writes these for characters of Simplified Chinese, and doesn't convert them back. None has a meaning
# of its own there. (座, 待 and 薰 have one: they stay.)
WRITTEN_FOR = dict(
    [
        "牠它",
        "伕夫",
        "拏拿",
        "觔斤",
        "斲斫",
        "暱昵",
        "菓果",
        "鎗枪",
        "濬浚",
        "燄焰",
        "籐藤",
        "揹背",
        "荳豆",
        "耡锄",
        "隄堤",
        "瑯琅",
        "唚吣",
    ]
)


def dictionary(path):
    """{character: [choices]} of a file of OpenCC's."""
    rows = (
        line.rstrip("\n").split("\t")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    )
    return {key: choices.split(" ") for key, choices in rows}


def folding(folder):
    """{character: character it folds to}"""
    to_simplified, to_traditional, *variants = (
        dictionary(folder / f"{name}.txt")
        for name in ("TSCharacters", "STCharacters", "TWVariants", "HKVariants")
    )
    # Where the first choice is the character itself, Simplified Chinese has it too.
    direct = {key: choices[0] for key, choices in to_simplified.items() if choices[0] != key}
    direct |= MERGED | WRITTEN_FOR

    def end(character):
        while character in direct:
            character = direct[character]
        return character

    for regional in variants:  # 裏 is 裡 in Taiwan
        for standard, choices in regional.items():
            for variant in choices:
                if end(variant) != end(standard) and variant not in to_traditional:
                    direct.setdefault(variant, end(standard))
    for (
        simplified,
        choices,
    ) in to_traditional.items():  # rare Simplified forms whose Traditional form folds to another character
        if end(choices[0]) != end(simplified) and simplified not in direct:
            direct[simplified] = end(choices[0])
    return {character: end(character) for character in direct}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    table = folding(pathlib.Path(sys.argv[1]) / "data" / "dictionary")
    print(
        "# Characters of Chinese and what the comparison of texts folds them to. data/README.md says where they come from."
    )
    for character, folded in sorted(table.items()):
        print(f"{character}\t{folded}")


if __name__ == "__main__":
    main()
