#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Draws which room of the sources includes which, and fails on what the rule forbids.

    check_includes.py [--root FOLDER] [--dot] [--allow FILE] [--circles files|units]
    check_includes.py --self-test

The rule is RULE below; CONTRIBUTING.md tells it in words. It fails, naming file and line, on an include against the
rule, on files or units (a header and its source) that include each other in a circle, on a library included outside its
room, on a backend's macro outside its places, on `../` and on an include that names no file.

--allow FILE: known mistakes, one a line, as they are printed in brackets, or `room -> room`; `#` begins a comment.
Exit codes: 0 as it should be, 1 not.
"""

import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path

import cpp_text

# room: the rooms it may include, besides itself. The graph has no circle, which --self-test checks.
RULE = {
    "base": [],
    "model": ["base"],
    "parallel": ["base"],
    "kernel": ["base"],
    "engine": ["kernel", "model", "base"],
    "formats": ["model", "base"],
    "readers": ["formats", "model", "parallel", "base"],
    "writers": ["readers", "formats", "model", "parallel", "base"],
    "compute": ["engine", "kernel", "model", "parallel", "base"],
    "tree": ["compute", "engine", "kernel", "model", "parallel", "base"],
    "convolution": ["compute", "engine", "kernel", "model", "parallel", "base"],
    "stored": ["compute", "engine", "kernel", "model", "parallel", "base"],
    "compressed": ["stored", "compute", "engine", "kernel", "model", "parallel", "base"],
    "operators": ["compressed", "stored", "convolution", "tree", "compute", "engine", "kernel", "model", "parallel",
                  "base"],
    "inversion": ["operators", "stored", "compute", "engine", "kernel", "model", "parallel", "base"],
    "capi": ["inversion", "operators", "compute", "engine", "kernel", "model", "parallel", "base"],
    "case": ["writers", "readers", "formats", "model", "parallel", "base"],
    "app": ["case", "inversion", "operators", "compressed", "stored", "convolution", "tree", "compute", "writers", "readers", "formats", "engine", "kernel",
            "parallel", "model", "base"],
}

# What single files may include beyond that: (source, target) as patterns of paths.
EXCEPTIONS = [
    # device code knows the names of fields and forms, not models
    (r"src/kernel/", r"include/prismfield/(fields|ranges|forms)\.hpp"),
]

# Rooms of the public headers, unless src/CMakeLists.txt tells them by PUBLIC_HEADERS.
PUBLIC_HEADERS = {
    "base": ["error", "ranges"],
    # plans and results are plain data: files hold them, engines follow them
    "model": ["cells", "data_set", "fields", "forms", "inversion_settings", "inversion_state", "inverted_model", "plan",
              "points", "prisms", "request", "result", "row_store", "storage", "value_range"],
    "engine": ["runtime"],
    "parallel": ["communicator", "communicator_mpi"],
    "compute": ["forward", "make_operator", "observer", "operator"],
    "operators": ["host_operator"],
    "inversion": ["invert"],
}

# Included headers that belong to one room: pattern, its name, and the paths that may include it.
LIBRARIES = [
    (r"mpi\.h$", "MPI", r"src/parallel/|include/prismfield/communicator_mpi\.hpp"),
    (r"yaml-cpp/", "yaml-cpp", r"src/case/"),
    (r"hdf5", "HDF5", r"src/(formats|readers|writers)/"),
    (r"CLI/", "CLI11", r"src/app/"),
    (r"xxh", "xxHash", r"src/base/checksum\.cpp"),
    (r"nlohmann/", "nlohmann-json", r"src/app/"),
    (r"(gdal|gdal_frmts|cpl_conv|cpl_error|ogr_srs_api)\.h$", "GDAL", r"src/formats/grid_formats\.cpp"),
    (r"pocketfft", "pocketfft", r"src/operators/convolution/host_fft"),
    (r"cufft", "cuFFT", r"src/operators/convolution/cuda_fft"),
    (r"proj(_experimental)?\.h$", "PROJ", r"src/formats/cf_attributes\.cpp"),
    # what reads files or talks to users is compiled without it
    (r"Kokkos", "Kokkos",
     r"src/(kernel|engine|compute|operators|inversion)/|include/prismfield/(make_)?operator\.hpp"),
]

BACKEND = re.compile(r"\b(KOKKOS_ENABLE_(?:CUDA|HIP|SYCL|OPENMP|OPENMPTARGET|OPENACC|THREADS|HPX|SERIAL)"
                     r"|__CUDACC__|__CUDA_ARCH__|__HIPCC__|__HIP_DEVICE_COMPILE__)\b")
BACKEND_PLACES = re.compile(r"src/(kernel/simd|engine/(runtime|devices|host_threads|kokkos_engine|with_space)\.)")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)


class Mistake:
    def __init__(self, place, key, text):
        self.place, self.key, self.text = place, key, text

    def __str__(self):
        return f"{self.place}: {self.text}\n    [{self.key}]"


def public_header_rooms(root):
    """Room of each public header, by its path."""
    table = {f"include/prismfield/{name}.hpp": room for room, names in PUBLIC_HEADERS.items() for name in names}
    for lists in [root / "src/CMakeLists.txt", *sorted((root / "src").glob("*/CMakeLists.txt"))]:
        if not lists.is_file():
            continue
        text = re.sub(r"#[^\n]*", "", cpp_text.read(lists))
        for call in re.finditer(r"\b\w+\s*\(([^()]*\bPUBLIC_HEADERS\b[^()]*)\)", text):
            words = re.sub(r"[\"']", "", call.group(1)).split()
            own = [word.removeprefix("prismfield_") for word in words[:2]]
            room = next((word for word in own if word in RULE), lists.parent.name)
            taking = False
            for word in words:
                if re.fullmatch(r"[A-Z][A-Z_]+", word):
                    taking = word == "PUBLIC_HEADERS"
                elif taking and word.endswith((".hpp", ".h")):
                    table[f"include/prismfield/{Path(word).name}"] = room
    return table


def rooms_of_targets(root):
    """Room -> (line, rooms that its target may use), as prismfield_room() of src/CMakeLists.txt says."""
    lists = root / "src/CMakeLists.txt"
    found = {}
    if lists.is_file():
        text = re.sub(r"#[^\n]*", lambda comment: " " * len(comment.group()), cpp_text.read(lists))
        for call in re.finditer(r"\bprismfield_room\s*\(([^()]*)\)", text):
            words = call.group(1).split()
            if "PART_OF" in words:
                continue
            uses = words[words.index("USES") + 1:] if "USES" in words else []
            end = next((i for i, word in enumerate(uses) if re.fullmatch(r"[A-Z][A-Z_]+", word)), len(uses))
            found[words[0]] = cpp_text.line_of(text, call.start()), uses[:end]
    return found


class Tree:
    """The files, what each includes, and what is wrong with that."""

    def __init__(self, root):
        self.root = root
        self.files = [path.as_posix() for path in cpp_text.sources(root)]
        self.public = public_header_rooms(root)
        self.mistakes = []
        # (file, line, file included)
        self.arrows = []
        # name of library -> rooms that include it
        self.libraries = {name: {} for _, name, _ in LIBRARIES}
        known = set(self.files)
        # headers that CMake writes from a template
        generated = {path.relative_to(root).as_posix().removesuffix(".in") for path in (root / "src").rglob("*.hpp.in")}
        for file in self.files:
            if self.room(file) is None:
                self.add(file, 1, file, "belongs to no room: name it in RULE or PUBLIC_HEADERS of check_includes.py")
                continue
            self.read(file, known | generated)
        self.check_rule()
        targets = rooms_of_targets(root)
        for name, (line, uses) in targets.items():
            # some rooms of the rule are still to come
            rule = {room for room in RULE.get(name, ()) if room in targets}
            if name not in RULE or set(uses) != rule:
                self.add("src/CMakeLists.txt", line, f"target {name}",
                         f"the target of {name} uses {', '.join(uses) or 'no room'}; the rule says "
                         f"{', '.join(sorted(rule)) or 'none'}")

    def add(self, file, line, key, text):
        self.mistakes.append(Mistake(f"{file}:{line}", key, text))

    def room(self, file):
        parts = file.split("/")
        if parts[:2] == ["src", "operators"] and len(parts) > 3:
            # the rooms within a room
            return parts[2] if parts[2] in RULE else None
        if parts[0] == "src":
            return parts[1] if len(parts) > 2 and parts[1] in RULE else None
        return self.public.get(file)

    def read(self, file, known):
        text = cpp_text.read(self.root / file)
        code = cpp_text.blank(text, keep_strings=True)
        for match in INCLUDE.finditer(code):
            self.include(file, cpp_text.line_of(code, match.start(2)), match.group(1), match.group(2), known)
        if not BACKEND_PLACES.match(file):
            for match in BACKEND.finditer(cpp_text.blank(text)):
                self.add(file, cpp_text.line_of(text, match.start()), f"{file} -> {match.group()}",
                         f"{match.group()} belongs to kernel/simd and to runtime, devices, host_threads, kokkos_engine and with_space of engine")

    def include(self, file, line, bracket, name, known):
        key = f"{file} -> {name}"
        if ".." in name.split("/"):
            self.add(file, line, key, f"includes {name}: a path begins at the room, never with ../")
            return
        own = f"include/{name}" if name.startswith("prismfield/") else f"src/{name}"
        if own in known:
            self.arrows.append((file, line, own))
            if (bracket == "<") != own.startswith("include/"):
                form = f"<{name}>" if own.startswith("include/") else f'"{name}"'
                self.add(file, line, key, f"writes its include otherwise than {form}")
            return
        if bracket == '"' or name.startswith("prismfield/"):
            self.add(file, line, key, f"includes {name}, which is no file of src or include")
            return
        for pattern, library, places in LIBRARIES:
            if not re.match(pattern, name):
                continue
            rooms = self.libraries[library]
            rooms[self.room(file)] = rooms.get(self.room(file), 0) + 1
            if not re.match(places, file):
                self.add(file, line, key, f"includes {library}, which belongs to {places.replace('|', ' and ')}")
            break

    def may(self, file, target):
        source_room, target_room = self.room(file), self.room(target)
        if source_room == target_room or target_room in RULE[source_room]:
            return True
        return any(re.match(f, file) and re.match(t, target) for f, t in EXCEPTIONS)

    def check_rule(self):
        for file, line, target in self.arrows:
            if self.room(target) is None:
                continue
            name = target.split("/", 1)[1]
            if file.startswith("include/") and not target.startswith("include/"):
                self.add(file, line, f"{file} -> {name}", f"is public and includes {name}, which is not installed")
            elif not self.may(file, target):
                self.add(file, line, f"{file} -> {name}",
                         f"{self.room(file)} may not include {self.room(target)} ({name}); "
                         f"it may include {', '.join(RULE[self.room(file)]) or 'no other room'}")

    def check_circles(self, units):
        def node(file):
            # a public header and its source are one unit too
            name = file.removeprefix("include/prismfield/").removeprefix("src/")
            return re.sub(r"\.[ch]pp$", "", f"{self.room(file)}/{Path(name).name}") if units else file

        graph, where = {}, {}
        for file, line, target in self.arrows:
            a, b = node(file), node(target)
            if a != b or not units:
                graph.setdefault(a, []).append(b)
                where.setdefault((a, b), f"{file}:{line}")
        for circle in circles(graph):
            path = shortest_circle(graph, circle)
            key = "circle " + " ".join(sorted(circle))
            steps = ", ".join(f"{b} from {where[a, b]}" for a, b in zip(path, path[1:] + path[:1]))
            self.mistakes.append(Mistake(where[path[0], (path[1:] + path[:1])[0]], key, f"a circle of includes: {steps}"))

    # The picture.

    def counts(self):
        """(room, room included) -> number of includes."""
        found = {}
        for file, _, target in self.arrows:
            arrow = self.room(file), self.room(target)
            if None not in arrow and arrow[0] != arrow[1]:
                found[arrow] = found.get(arrow, 0) + 1
        return found

    def forbidden(self):
        """Arrows between rooms with at least one include against the rule."""
        return {(self.room(f), self.room(t)) for f, _, t in self.arrows
                if None not in (self.room(f), self.room(t)) and not self.may(f, t)}

    def picture(self):
        counts, forbidden = self.counts(), self.forbidden()
        n_files = {}
        for file in self.files:
            n_files[self.room(file)] = n_files.get(self.room(file), 0) + 1
        rooms = layers()
        lines = ["Rooms, the highest first; each includes rooms below it only. Numbers are includes, !! is against the rule.",
                 ""]
        edge = f"  +{'-' * 13}+"
        for level in range(max(rooms.values()), -1, -1):
            here = [room for room in RULE if rooms[room] == level and room in n_files]
            for room in here:
                arrows = [f"{target} {n}{' !!' if (room, target) in forbidden else ''}"
                          for (source, target), n in sorted(counts.items(), key=lambda c: -rooms[c[0][1]])
                          if source == room]
                head = f"  | {room:<11} | {n_files[room]:3} files"
                lines.append(head + (f"  --> {',  '.join(arrows)}" if arrows else ""))
            if here:
                lines.append(edge)
        lines.insert(2, edge)
        lines.append("")
        for library, users in self.libraries.items():
            lines.append(f"  {library:<9} in " + (", ".join(f"{r} {n}" for r, n in sorted(users.items())) or "no room"))
        return "\n".join(lines)

    def dot(self):
        rooms = layers()
        used = {self.room(file) for file in self.files} - {None}
        lines = ["digraph rooms {", "  rankdir=TB; node [shape=box];"]
        for level in range(max(rooms.values()), -1, -1):
            same = " ".join(f"{room};" for room in RULE if rooms[room] == level and room in used)
            if same:
                lines.append(f"  {{ rank=same; {same} }}")
        forbidden = self.forbidden()
        for (source, target), n in sorted(self.counts().items()):
            colour = ", color=red, fontcolor=red" if (source, target) in forbidden else ""
            lines.append(f'  {source} -> {target} [label="{n}"{colour}];')
        return "\n".join(lines + ["}"])


def layers():
    """Height of each room above base by the rule."""
    height = {}

    def climb(room, below=()):
        if room in below:
            raise SystemExit(f"RULE has a circle through {room}")
        if room not in height:
            height[room] = max((climb(r, (*below, room)) + 1 for r in RULE[room]), default=0)
        return height[room]

    for room in RULE:
        climb(room)
    return height


def reachable(graph, start):
    seen, todo = set(), list(graph.get(start, ()))
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo += graph.get(node, ())
    return seen


def circles(graph):
    """Sets of nodes that reach each other."""
    reach = {node: reachable(graph, node) for node in sorted(graph)}
    found, done = [], set()
    for node in sorted(graph):
        if node in reach[node] and node not in done:
            circle = {other for other in reach[node] if node in reach.get(other, ())}
            found.append(circle)
            done |= circle
    return found


def shortest_circle(graph, nodes):
    """One shortest way around among these nodes."""
    best = None
    for start in sorted(nodes):
        ways, seen = [[start]], {start}
        while ways:
            way = ways.pop(0)
            if start in graph.get(way[-1], ()):
                best = way if best is None or len(way) < len(best) else best
                break
            for step in sorted(set(graph.get(way[-1], ())) & nodes - seen):
                seen.add(step)
                ways.append(way + [step])
    return best


def read_allowed(path):
    lines = (re.sub(r"#.*", "", line).strip() for line in cpp_text.read(path).splitlines())
    return {re.sub(r"\s+", " ", line) for line in lines if line}


def check(root, circles_of="units", allowed=frozenset(), dot=False, out=print):
    """Number of errors; prints the picture and them."""
    tree = Tree(root)
    tree.check_circles(units=False)
    if circles_of == "units" and not any(m.key.startswith("circle") for m in tree.mistakes):
        tree.check_circles(units=True)
    out(tree.dot() if dot else tree.picture())
    bad, used = [], set()
    arrows = {f"{f} -> {t.split('/', 1)[1]}": f"{tree.room(f)} -> {tree.room(t)}" for f, _, t in tree.arrows}
    for mistake in tree.mistakes:
        hit = {mistake.key, arrows.get(mistake.key)} & allowed
        used |= hit
        if not hit:
            bad.append(mistake)
    for key in sorted(allowed - used):
        out(f"no longer needed: {key}")
    if bad:
        out("")
    for mistake in bad:
        out(str(mistake))
    if not tree.files:
        out("no sources found")
        return 1
    return len(bad)


SELF_TESTS = [
    # what is added to which file, and what must be said
    ("an arrow upwards", "src/model/probe.cpp", '#include "case/probe.hpp"\n', "model may not include case"),
    ("app", "src/case/probe.cpp", '#include "app/probe.hpp"\n', "case may not include app"),
    ("a public header's arrow", "include/prismfield/fields.hpp", '#include "base/probe.hpp"\n', "not installed"),
    ("a public header's room", "src/base/probe.cpp", "#include <prismfield/fields.hpp>\n", "base may not include model"),
    ("models in kernels", "src/kernel/probe.hpp", '#include "model/probe.hpp"\n', "kernel may not include model"),
    ("files in computations", "src/compute/probe.cpp", '#include "formats/probe.hpp"\n', "compute may not include formats"),
    ("a circle", "src/base/probe.hpp", '#include "base/probe_user.hpp"\n', "a circle of includes"),
    ("MPI", "src/model/probe.cpp", "#include <mpi.h>\n", "includes MPI"),
    ("HDF5", "src/case/probe.cpp", "#include <hdf5.h>\n", "includes HDF5"),
    ("yaml-cpp", "src/app/probe.cpp", "#include <yaml-cpp/yaml.h>\n", "includes yaml-cpp"),
    ("CLI11", "src/case/probe.cpp", "  #  include <CLI/CLI.hpp>\n", "includes CLI11"),
    ("xxHash", "src/base/probe.cpp", "#include <xxhash.h>\n", "includes xxHash"),
    ("nlohmann-json", "src/formats/probe.cpp", "#include <nlohmann/json.hpp>\n", "includes nlohmann-json"),
    ("GDAL", "src/formats/probe.cpp", "#include <gdal.h>\n", "includes GDAL"),
    ("PROJ", "src/formats/probe.cpp", "#include <proj.h>\n", "includes PROJ"),
    ("Kokkos", "src/model/probe.cpp", "#include <Kokkos_Core.hpp>\n", "includes Kokkos"),
    ("../", "src/model/probe.cpp", '#include "../base/probe.hpp"\n', "never with ../"),
    ("no file", "src/model/probe.cpp", '#include "base/none.hpp"\n', "no file"),
    ("brackets", "src/model/probe.cpp", "#include <base/probe.hpp>\n", "otherwise than"),
    ("a macro", "src/model/probe.cpp", "#if defined(KOKKOS_ENABLE_HIP)\n#endif\n", "KOKKOS_ENABLE_HIP belongs"),
    ("a room", "src/new_room/probe.cpp", "", "belongs to no room"),
]
HARMLESS = [
    ("comments", "src/model/probe.cpp",
     '// #include "case/probe.hpp"\n/* KOKKOS_ENABLE_CUDA\n#include <mpi.h>\n*/\n// see ../base\n'),
    ("names in kernels", "src/kernel/probe.hpp", "#include <prismfield/fields.hpp>\n"),
    ("an instance", "src/engine/devices.cpp", "#if defined(KOKKOS_ENABLE_HIP)\n#endif\n"),
    ("MPI in parallel", "src/parallel/probe.cpp", "#include <mpi.h>\n"),
]


def self_test(root):
    """Puts one error at a time into a copy of the tree and sees that just this one more is found."""
    failures = []
    layers()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for part in ("src", "include"):
            shutil.copytree(root / part, copy / part)
        for room in RULE:
            (copy / "src" / room).mkdir(exist_ok=True)
            for suffix in cpp_text.SUFFIXES:
                (copy / "src" / room / f"probe{suffix}").write_text("// a file\n")
        (copy / "src/base/probe_user.hpp").write_text('#include "base/probe.hpp"\n')

        def mistakes():
            said = []
            check(copy, "files", out=said.append)
            return {text for text in said if "\n    [" in text}

        before = mistakes()
        for name, path, text, *expected in HARMLESS + SELF_TESTS:
            file = copy / path
            original = cpp_text.read(file) if file.is_file() else None
            file.parent.mkdir(exist_ok=True)
            file.write_text((original or "") + text)
            new = sorted(mistakes() - before)
            if original is None:
                file.unlink()
            else:
                file.write_text(original)
            line = (original or "").count("\n") + 1
            if not expected:
                if new:
                    failures.append(f"{name}: found {new}")
            elif len(new) != 1 or expected[0] not in new[0]:
                failures.append(f"{name}: expected one error with '{expected[0]}', found {new}")
            elif name != "a circle" and not new[0].startswith(f"{path}:{line}:"):
                failures.append(f"{name}: names another place than {path}:{line}: {new[0]}")
        failures += self_test_of_parts(copy)
    for failure in failures:
        print(f"self-test: {failure}")
    print(f"self-test: {len(SELF_TESTS)} errors put in, {'all found' if not failures else 'not as it should be'}")
    return len(failures)


def self_test_of_parts(copy):
    """Circles of units, the allow file and PUBLIC_HEADERS, on a small tree of its own."""
    failures = []
    small = copy / "small"
    for path, text in {
        "src/model/a.hpp": "", "src/model/b.hpp": "",
        "src/model/a.cpp": '#include "model/a.hpp"\n#include "model/b.hpp"\n',
        "src/model/b.cpp": '#include "model/a.hpp"\n#include "model/b.hpp"\n#include "readers/f.hpp"\n',
        "src/readers/f.hpp": "#include <prismfield/new.hpp>\n",
        "include/prismfield/new.hpp": "",
        "src/CMakeLists.txt": "add_room(prismfield_parallel SOURCES x.cpp PUBLIC_HEADERS new.hpp  # a word\n  USES base)\n",
    }.items():
        (small / path).parent.mkdir(parents=True, exist_ok=True)
        (small / path).write_text(text)

    def expect(name, n, **arguments):
        said = []
        found = check(small, out=said.append, **arguments)
        if found != n:
            failures.append(f"{name}: {found} errors, not {n}: {said}")

    expect("circle of units", 2)
    expect("no circle of files", 1, circles_of="files")
    expect("allowed file", 0, circles_of="files", allowed={"src/model/b.cpp -> readers/f.hpp"})
    expect("allowed rooms", 0, circles_of="files", allowed={"model -> readers"})
    lists = small / "src/CMakeLists.txt"
    before = cpp_text.read(lists)
    lists.write_text(before + "prismfield_room(readers SOURCES f.cpp USES model base LIBRARIES parallel)\n"
                     "prismfield_room(model\n  USES base)\nprismfield_room(base)\nprismfield_room(parallel USES base)\n")
    expect("a target that uses other rooms", 2, circles_of="files")
    lists.write_text(before)
    expect("allowed circle", 1, allowed={"circle model/a model/b"})
    if public_header_rooms(small).get("include/prismfield/new.hpp") != "parallel":
        failures.append("PUBLIC_HEADERS of src/CMakeLists.txt is not read")
    return failures


def main():
    here = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=here, help="folder that holds src/ and include/")
    parser.add_argument("--dot", action="store_true", help="write Graphviz instead of text")
    parser.add_argument("--allow", type=Path, help="file of known errors")
    parser.add_argument("--circles", choices=("files", "units"), default="units",
                        help="look for circles of files, or also of units: a header and its source")
    parser.add_argument("--self-test", action="store_true", help="see that errors put in are found")
    arguments = parser.parse_args()
    if arguments.self_test:
        return min(self_test(arguments.root), 1)
    allowed = read_allowed(arguments.allow) if arguments.allow else frozenset()
    return min(check(arguments.root, arguments.circles, allowed, arguments.dot), 1)


if __name__ == "__main__":
    sys.exit(main())
