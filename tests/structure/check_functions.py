#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Fails on a function of src or include longer than 80 lines that gives no reason.

    check_functions.py [--root FOLDER] [--limit LINES]
    check_functions.py --self-test

A function may be longer when a comment `// long: REASON` stands in it or just above it. Lines count from the function's
first, its template line included, to its closing brace; lambdas count as part of the function around them. Exit codes:
0 all short or with a reason, 1 not.
"""

import argparse
import re
import sys
from pathlib import Path

import cpp_text

LIMIT = 80
REASON = re.compile(r"//\s*long:\s*\S")
SCOPE = re.compile(r'\b(namespace|class|struct|union|enum|extern)\b')


def blank_directives(code):
    """Preprocessor lines hold braces that belong to no function."""
    return re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda m: re.sub(r"[^\n]", " ", m.group()), code, flags=re.MULTILINE)


def without_brackets(text):
    """The text outside (), [] and template lists: what a declaration's kind can be told from."""
    text = re.sub(r"\boperator\s*(\(\)|\[\]|[^\s\w(]+)", "operator_", text)
    before = None
    while before != text:
        before = text
        text = re.sub(r"\([^()]*\)", " @ ", text)
        text = re.sub(r"\[[^\[\]]*\]", " ", text)
        text = re.sub(r"<[^<>;{}]*>", " ", text)
    return text


def kind(header):
    """What a brace after this text opens outside of functions: 'function', 'scope' or 'value'."""
    outer = without_brackets(header)
    if "=" in outer:
        # a lambda kept in a variable is a function too
        return "function" if re.search(r"=\s*\[[^\]]*\]\s*(\(.*\))?[^()]*$", header, re.DOTALL) else "value"
    declared = re.sub(r"@.*", "", outer, flags=re.DOTALL)
    if SCOPE.search(declared) and "@" not in re.sub(r"\b(alignas|__attribute__)\s*@", "", outer):
        return "scope"
    if "@" not in outer:
        return "scope" if SCOPE.search(outer) else "value"
    # `A::A(int x) : m_x{x}, m_y(x) {`: a brace after a member's name begins its value
    if re.search(r"@[^:@]*(?<!:):(?!:)", outer) and re.search(r"[\w>]\s*$", outer):
        return "value"
    return "function"


def functions(text):
    """(name, first line, last line) of each function with a body, and the reason's presence."""
    code = blank_directives(cpp_text.blank(text))
    found, depth, scopes = [], 0, []
    begin = 0
    place = 0
    inside = None
    for match in re.finditer(r"[{};]|\b(?:public|private|protected)\s*:(?!:)", code):
        token, place = match.group(), match.start()
        if inside is not None:
            depth += {"{": 1, "}": -1}.get(token, 0)
            if depth == 0:
                found.append((*inside, place))
                inside, begin = None, place + 1
            continue
        if token == "{":
            header = code[begin:place]
            opened = kind(header)
            if opened == "function":
                inside, depth = (begin + len(header) - len(header.lstrip()), header), 1
            else:
                scopes.append((opened, begin))
                if opened == "scope":
                    begin = place + 1
        elif token == "}":
            if not scopes:
                raise ValueError(f"line {cpp_text.line_of(text, place)}: a brace closes nothing")
            opened, before = scopes.pop()
            # a value's declaration goes on behind its brace
            begin = before if opened == "value" else place + 1
        elif not any(opened == "value" for opened, _ in scopes):
            begin = place + len(token)
    if inside is not None or scopes:
        raise ValueError("a brace is left open")
    return [(name_of(header), cpp_text.line_of(text, start), cpp_text.line_of(text, end)) for start, header, end in found]


def name_of(header):
    outer = without_brackets(re.sub(r"^\s*template\s*<[^{};]*?>\s*\n", "", header)).split("@")[0].split("=")[0]
    words = re.findall(r"[~\w:]+", outer)
    return words[-1] if words else "?"


def has_reason(lines, first, last):
    """Whether the function's lines, or the comment lines just above it, hold a reason."""
    above = first - 1
    while above > 0 and lines[above - 1].lstrip().startswith("//"):
        above -= 1
    return any(REASON.search(line) for line in lines[above:last])


def check(root, limit=LIMIT, out=print):
    """Number of functions that are too long, and prints them, the longest first."""
    bad, broken, n_functions, longest_allowed = [], 0, 0, []
    for path in cpp_text.sources(root):
        text = cpp_text.read(root / path)
        try:
            all_of_file = functions(text)
        except ValueError as error:
            out(f"{path.as_posix()}: not understood: {error}")
            broken += 1
            continue
        lines = text.splitlines()
        n_functions += len(all_of_file)
        for name, first, last in all_of_file:
            if last - first + 1 > limit:
                (longest_allowed if has_reason(lines, first, last) else bad).append(
                    (last - first + 1, f"{path.as_posix()}:{first}: {name} has {last - first + 1} lines"))
    for _, text in sorted(bad, reverse=True):
        out(f"{text}, more than {limit}, and no comment '// long: reason'")
    for _, text in sorted(longest_allowed, reverse=True):
        out(f"{text}, with a reason")
    out(f"{n_functions} functions, {len(bad)} too long, {len(longest_allowed)} long with a reason")
    return len(bad) + broken + (n_functions == 0)


LINES = "  f();\n" * 90
SELF_TEST = {
    # text of a file: names of the functions in it that must be found too long
    "namespace a {\nvoid f() {\n" + LINES + "}\n}\n": ["f"],
    "/// What it does.\n// long: a table that reads best whole\nvoid f() {\n" + LINES + "}\n": [],
    "void f() {\n  // long: steps of one protocol\n" + LINES + "}\n": [],
    "void f() {\n  // long:\n" + LINES + "}\n": ["f"],
    "// long: another function's\nvoid g() {}\n\nvoid f() {\n" + LINES + "}\n": ["f"],
    "class A : public B<int> {\npublic:\n" + "  void f() const { g(); }\n" * 100 + "private:\n  int m_a{0};\n};\n": [],
    "class A {\n  A(int x) : m_a{x}, m_b(x) {\n" + LINES + "  }\n  int m_a{0}, m_b;\n};\n": ["A"],
    "template <class T, int n = 3>\nauto f(int a = 2) -> std::vector<T> {\n" + LINES + "}\n": ["f"],
    "constexpr int table[] = {\n" + "  1,\n" * 100 + "};\nint f(int a) { return a; }\n": [],
    "struct A {\n  bool operator==(const A& o) const noexcept {\n" + LINES + "  }\n};\n": ["operator_"],
    "inline constexpr auto f = [](int a) {\n" + LINES + "};\n": ["f"],
    'const char* s = "{";\nchar c = \'}\';\nint m = 1\'000;\nauto r = R"({{{)";\n#define X {\nvoid f() {\n' + LINES + "}\n": ["f"],
    "namespace {\nstd::vector<int> a{1, 2, 3};\nvoid f() {\n  auto g = [&] {\n" + LINES + "  };\n}\n}\n": ["f"],
    "enum class E : int { a, b };\nvoid f(E e = E{}) {\n" + LINES + "}\n": ["f"],
    "void f() {\n" + "  f();\n" * 78 + "}\n": [],
    "void f() {\n" + "  f();\n" * 79 + "}\n": ["f"],
}


def self_test():
    failures = 0
    for text, expected in SELF_TEST.items():
        lines = text.splitlines()
        found = [n for n, first, last in functions(text) if last - first + 1 > LIMIT and not has_reason(lines, first, last)]
        if found != expected:
            print(f"self-test: found {found}, not {expected}, in\n{text[:200]}")
            failures += 1
    print(f"self-test: {len(SELF_TEST)} files, {failures} not as they should be")
    return failures


def main():
    here = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=here, help="folder that holds src/ and include/")
    parser.add_argument("--limit", type=int, default=LIMIT, help="lines that need no reason")
    parser.add_argument("--self-test", action="store_true", help="see that long functions put in are found")
    arguments = parser.parse_args()
    return min(self_test() if arguments.self_test else check(arguments.root, arguments.limit), 1)


if __name__ == "__main__":
    sys.exit(main())
