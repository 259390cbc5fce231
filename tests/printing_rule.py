#!/usr/bin/env python3
"""Checks that text from outside is printed safely: ids, names and values may hold any bytes.

JSON is written by JsonText (base/text.h): nlohmann's dump throws at bytes that aren't UTF-8. What a function
XText makes for people goes through Printable or PrintableLines on its way to a terminal.
Usage: printing_rule.py [--self-test] [SRC]"""

import pathlib
import re
import sys
import tempfile

DUMP = re.compile(r"(\.|->)dump\(")
PRINT = re.compile(r"fmt::print\((?:stderr, )?\"\{\}(?:\\n)?\",(?P<what>.*?)\);\n", re.DOTALL)
MADE_TEXT = re.compile(r"\b(?!JsonText|HelpText)[A-Z]\w*Text\(")
HOME_OF_JSON = "base/text.h"
OWN_FIGURES = {"IntoStateText"}  # numbers only


def faults_of(name, text):
    """The faults of one file, as lines to print."""
    faults = []
    if name != HOME_OF_JSON:
        for found in DUMP.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            faults.append(f"src/{name}:{line}: dump throws at bytes that aren't UTF-8. Use JsonText")
    for found in PRINT.finditer(text):
        made = [each for each in MADE_TEXT.findall(found["what"]) if each[:-1] not in OWN_FIGURES]
        if made and "Printable" not in found["what"]:
            line = text.count("\n", 0, found.start()) + 1
            faults.append(f"src/{name}:{line}: prints {made[0]}...) raw. Use PrintableLines")
    return faults


def faults_in(source):
    faults = []
    for path in sorted([*source.rglob("*.cc"), *source.rglob("*.h")]):
        faults += faults_of(str(path.relative_to(source)), path.read_text())
    return faults


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder)
        (source / "base").mkdir()
        (source / "base/text.h").write_text("return json.dump(indent);\n")
        (source / "good.cc").write_text('fmt::print("{}", PrintableLines(StateText(x)));\nJsonText(x);\n')
        assert faults_in(source) == [], faults_in(source)
        (source / "bad.cc").write_text('a->dump(2);\nfmt::print("{}",\n           StateText(x));\n')
        assert [fault.split(": ")[0] for fault in faults_in(source)] == ["src/bad.cc:1", "src/bad.cc:2"]
    print("the rule finds what it forbids")


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--self-test"]:
        self_test()
        arguments = arguments[1:]
        if not arguments:
            return 0
    here = pathlib.Path(__file__).resolve().parent.parent
    source = pathlib.Path(arguments[0]) if arguments else here / "src"
    faults = faults_in(source)
    print("\n".join(faults) or "outside text is printed through base/text.h")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
