#!/usr/bin/env python3
"""Which sources of a target may share a translation unit: no name that one keeps to itself may occur in
another.

Usage: unity_groups.py SIZE_MAX SOURCE... Prints `group source` a line. CMake compiles each group as one file
where SEEN_UNITY asks for it (cmake/SeenRooms.cmake), so that what they all include is parsed once."""

import pathlib
import re
import sys

NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.MULTILINE)
TOKEN = re.compile(r"[A-Za-z_]\w*|[{}();=\[]")
MACRO_CALL = re.compile(r"[A-Z][A-Z_]+")  # TEST_F(...)
KEYS = {"class", "struct", "union", "enum"}


def own_names(text):
    """Names that the text defines in an unnamed namespace, or as static, and its macros."""
    names, scopes, head = set(MACRO.findall(text)), [], []
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.MULTILINE)
    for token in TOKEN.findall(code):
        at_top = all(scope in ("named", "unnamed") for scope in scopes)
        if token == "{":
            scope = "body"
            if "namespace" in head:
                scope = "named" if head[-1] != "namespace" else "unnamed"
            elif at_top:
                names |= defined(head, "unnamed" in scopes)
            scopes.append(scope)
            head = []
        elif token == "}":
            if scopes:
                scopes.pop()
            head = []
        elif token == ";":
            if at_top:
                names |= defined(head, "unnamed" in scopes)
            head = []
        else:
            head.append(token)
    return names


def defined(head, unnamed):
    """The name in front of what a definition's tokens give it: arguments, a value, an extent, a body,
    nothing."""
    if not (unnamed or "static" in head) or head[:1] in (["namespace"], ["static_assert"]):
        return set()
    if head[:1] == ["using"]:
        return {head[1]} if "=" in head else set()
    words = [word for word in head if word not in ("final", "const", "constexpr", "noexcept", "override")]
    for at, word in enumerate(words):
        if word in KEYS and at + 1 < len(words):
            named = [other for other in words[at + 1 :] if other not in KEYS]
            return set(named[:1])
        if word in ("(", "=", "[") and at > 0:
            return {words[at - 1]} if not MACRO_CALL.fullmatch(words[at - 1]) else set()
    return set(words[-1:])


def groups(sources, size_max):
    """Lists of sources, in their order; a source joins the first list that has room and nothing against
    it."""
    made = []
    for source in sources:
        text = NOT_CODE.sub(" ", pathlib.Path(source).read_text(encoding="utf-8"))
        own, all_names = own_names(text), set(re.findall(r"[A-Za-z_]\w*", text))
        for group in made:
            if len(group["sources"]) < size_max and not own & group["all"] and not group["own"] & all_names:
                break
        else:
            group = {"sources": [], "own": set(), "all": set()}
            made.append(group)
        group["sources"].append(source)
        group["own"] |= own
        group["all"] |= all_names
    return [group["sources"] for group in made]


if __name__ == "__main__":
    for number, group in enumerate(groups(sys.argv[2:], int(sys.argv[1]))):
        for source in group if len(group) > 1 else []:
            print(f"group_{number} {source}")
