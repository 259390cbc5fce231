#!/usr/bin/env python3
"""Checks that each type of src has a name of its own: two types of one namespace never share a name.

The compiler doesn't notice two such types if no source includes both. The linker then takes the functions of
either. A type of an unnamed namespace may share its name with such a type of another file, but not with a
type that all files can see. Usage: type_names_rule.py [--self-test] [SRC]"""

import collections
import pathlib
import re
import sys
import tempfile

# Text that isn't code: comments, strings, characters, and preprocessor lines with their continuation lines.
NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\''
    r"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
    re.DOTALL | re.MULTILINE,
)
TOKEN = re.compile(r"[A-Za-z_]\w*|::|[{}();<>=:,\[\]]")
KEYS = ("class", "struct", "union", "enum")
UNNAMED = "(unnamed)"


def name_of(head):
    """The name that `head`, the tokens before a brace, defines as a type; None if it defines none."""
    while head[:1] == ["template"]:
        depth = at = 0
        for at, token in enumerate(head):
            depth += {"<": 1, ">": -1}.get(token, 0)
            if token == ">" and depth == 0:
                break
        head = head[at + 1 :]
    if not head or head[0] not in KEYS:
        return None
    rest = [token for token in head[1:] if token not in ("class", "struct")]
    while rest[:1] == ["["] or rest[1:2] == ["("]:  # [[attributes]]; alignas or a macro, with arguments
        depth = at = 0
        for at, token in enumerate(rest):
            depth += {"[": 1, "(": 1, "]": -1, ")": -1}.get(token, 0)
            if token in ("]", ")") and depth == 0:
                break
        rest = rest[at + 1 :]
    if not rest or not re.match(r"[A-Za-z_]", rest[0]):
        return None
    if rest[1:2] in (["::"], ["<"]):  # a member of another type; a specialisation
        return None
    return rest[0]


def types_in(text):
    """(namespace, name, line) of each type defined in a namespace, not within another type or function."""
    text = NOT_CODE.sub(lambda match: "\n" * match[0].count("\n") or " ", text)
    scopes, head, found = [], [], []  # a scope: the name of a namespace; None: not a namespace
    for match in TOKEN.finditer(text):
        token = match[0]
        if token == "{":
            if head[:1] == ["namespace"] or head[:2] == ["inline", "namespace"]:
                scopes.append("".join(head[head.index("namespace") + 1 :]) or UNNAMED)
            else:
                name = name_of(head)
                if name and None not in scopes:
                    found.append(("::".join(scopes), name, text.count("\n", 0, match.start()) + 1))
                scopes.append(None)
            head = []
        elif token == "}":
            if scopes:
                scopes.pop()
            head = []
        elif token == ";":
            if head[:1] == ["using"] and head[2:3] == ["="] and None not in scopes:
                found.append(("::".join(scopes), head[1], text.count("\n", 0, match.start()) + 1))
            head = []
        else:
            head.append(token)
    return found


def check(src):
    """(number of types, complaints)"""
    shared, local = collections.defaultdict(list), collections.defaultdict(list)
    types = 0
    for path in sorted(p for p in src.rglob("*") if p.suffix in (".h", ".cc")):
        for namespace, name, line in types_in(path.read_text(encoding="utf-8")):
            types += 1
            named = [part for part in namespace.split("::") if part != UNNAMED]
            of = local if UNNAMED in namespace else shared
            of["::".join([*named, name])].append(f"{path}:{line}")
    complaints = [
        f"{places[0]}: {name} is defined again in {', '.join(places[1:])}"
        for name, places in sorted(shared.items())
        if len(places) > 1
    ]
    complaints += [
        f"{place}: {name} hides the one in {shared[name][0]}"
        for name, places in sorted(local.items())
        if name in shared
        for place in places
    ]
    return types, complaints


CLEAN = {
    "a/one.h": "namespace seen {\nstruct Point { struct Part {}; int x; };\nenum class Kind : int { kA };\n"
    "template <typename T> class Box { class Part; };\ntemplate <> class Box<int> {};\nclass Later;\n"
    "class ATTRIBUTE(one) Lock {};\nclass ATTRIBUTE(two) Door {};\n// struct Point {};\nusing Number = int;\n}  // namespace seen\n",
    "a/one.cc": "namespace seen {\nnamespace {\nstruct Row { char c = '{'; };\n}\nstruct Point::Part {};\n"
    'const char* kText = "struct Kind {";\nvoid F() { struct Kind {}; }\n}\n',
    "a/two.cc": "namespace seen {\nnamespace {\nstruct Row {};\n}\nnamespace inner {\nclass Point {};\n}\n}\n",
}
BAD = {
    "twice in headers": "namespace seen {\nclass Point {\n};\n}\n",
    "twice, one aligned": "namespace seen {\nstruct alignas(64) Point { int y; };\n}\n",
    "twice, one annotated": "namespace seen {\nclass ATTRIBUTE(may(be())) [[nodiscard]] Point {\n};\n}\n",
    "twice, a template": "namespace seen {\ntemplate <typename A, typename B = Box<A>>\nclass Kind : public A {};\n}\n",
    "twice, an alias": "namespace seen {\nusing Kind = char;\n}\n",
    "a local one that hides": "namespace seen {\nnamespace {\nenum Kind { kB };\n}\n}\n",
}


def self_test():
    """Puts each kind of violation into a clean tree. Returns the violations that the check missed."""
    missed = []
    for name, extra in [("clean", None), *BAD.items()]:
        with tempfile.TemporaryDirectory() as folder:
            src = pathlib.Path(folder)
            for path, text in [*CLEAN.items(), *([("b/more.h", extra)] if extra else [])]:
                (src / path).parent.mkdir(parents=True, exist_ok=True)
                (src / path).write_text(text, encoding="utf-8")
            _, complaints = check(src)
            if len(complaints) != (1 if extra else 0):
                missed.append(f"{name}: {complaints}")
    return missed


def main():
    arguments = [a for a in sys.argv[1:] if a != "--self-test"]
    if "--self-test" in sys.argv:
        missed = self_test()
        print("\n".join(missed) or f"{len(BAD) + 1} trees judged as they should be")
        return 1 if missed else 0
    src = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent / "src"
    types, complaints = check(src)
    print("\n".join(complaints) or f"{types} types have names of their own")
    return 1 if complaints or types == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
