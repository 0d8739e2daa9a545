# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""docs/gallery.md and its pictures: every case of inputs/ and two studies, run and drawn.

    python3 docs/make_gallery.py build/openmp/bin/prismfield             # some minutes: docs/gallery.md, docs/gallery/
    python3 docs/make_gallery.py build/openmp/bin/prismfield --reduced --to FOLDER       # small sizes, for a test
    python3 docs/make_gallery.py --check                # the page is what this program would write, and complete

Needs Python's standard library alone; the program draws with the Python that it finds.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
PAGE = "gallery.md"
PICTURES = "gallery"

# In this order on the page: (case, settings that make it small). A case that is not named here fails the check.
CASES = [
    ("quickstart", ["observations.grid.easting=[0, 3000, 13]", "observations.grid.northing=[0, 3000, 13]"]),
    (
        "seven_spheres",
        [
            "model.voxels.easting=[0, 22000, 70]",
            "model.voxels.northing=[0, 22000, 70]",
            "model.voxels.upward=[-8000, 0, 10]",
            "observations.grid.easting=[0, 22000, 15]",
            "observations.grid.northing=[0, 22000, 10]",
        ],
    ),
    ("one_sphere", ["observations.grid.easting=[0, 10100, 12]", "observations.grid.northing=[0, 10100, 12]"]),
    ("irregular", ["observations.grid.easting=[0, 20000, 11]", "observations.grid.northing=[0, 20000, 11]"]),
    ("topography", []),
    ("terrain", []),
    ("stations", []),
    ("underground", ["model.voxels.easting=[0, 2000, 20]", "model.voxels.northing=[0, 2000, 20]"]),
    ("magnetic_dyke", []),
    ("random_mesh", []),
    ("invert_block", ["inversion.uncertainty={samples: 2}"]),
    ("invert_magnetic", ["inversion.norm=2"]),
    ("invert_survey", ["inversion.uncertainty={samples: 2}", "inversion.norm=2", "inversion.trend=none"]),
]

# less than a printed page wants: a page with all pictures is to load at once
DPI, INVERSION_DPI = 150, 110

# (study, the figure of its report that is shown)
STUDIES = [("b4_trace", "trace"), ("b5_histogram", "histogram")]

HEAD = """\
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- SPDX-FileCopyrightText: The prismfield authors -->
# Gallery: every input and its picture

The last command above a picture draws it, there at a higher resolution. `python3 docs/make_gallery.py
build/openmp/bin/prismfield` makes all pictures again. [studies.md](studies.md) has the figures of all studies.
"""


class Case:
    """A YAML file as the page shows it."""

    def __init__(self, file):
        self.file = file
        text = file.read_text(encoding="utf-8")
        lines = text.splitlines()
        first = next(i for i, line in enumerate(lines) if not line.startswith("#"))
        words = [line.lstrip("#").removeprefix(" ") for line in lines[:first] if "SPDX-" not in line]
        self.about = "\n".join(words).strip()
        self.body = "\n".join(lines[first:]).strip()
        self.title = re.search(r"^title: *(.*)$", text, re.MULTILINE).group(1).strip("\"'")
        self.inverts = re.search(r"^inversion:", text, re.MULTILINE) is not None

    @property
    def command(self):
        return "invert" if self.inverts else "run"


def described(about):
    """The comment of a file as Markdown: commands, which stand indented, as code."""
    blocks = []
    for block in re.split(r"\n\s*\n", about):
        parts = [[]]
        for line in block.splitlines():
            is_code = line.startswith("  ")
            if parts[-1] and parts[-1][-1].startswith("  ") != is_code:
                parts.append([])
            parts[-1].append(line)
        for lines in filter(None, parts):
            if lines[0].startswith("  "):
                blocks.append("```\n" + "\n".join(line[2:] for line in lines) + "\n```")
            else:
                blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def entry(case, command, picture, shows_file=True):
    told = described(case.about)
    if command not in told:
        told += f"\n\n```\n{command}\n```"
    text = f"""
## {case.title}

{told}

![{case.title}]({PICTURES}/{picture})
"""
    if not shows_file:
        return text
    return f"""{text}
<details><summary>{case.file.relative_to(SOURCE)}</summary>

```yaml
{case.body}
```

</details>
"""


def page():
    parts = [HEAD]
    for name, _ in CASES:
        case = Case(SOURCE / "inputs" / f"{name}.yaml")
        parts.append(entry(case, f"prismfield {case.command} inputs/{name}.yaml", f"{name}.png"))
    for name, figure in STUDIES:
        case = Case(SOURCE / "perf" / "studies" / f"{name}.yaml")
        parts.append(entry(case, f"prismfield study perf/studies/{name}.yaml", f"{name}_{figure}.png", False))
    return "".join(parts)


def run(command, folder):
    print("$", " ".join(map(str, command)), flush=True)
    result = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{result.stderr}ended with {result.returncode}")


def draw(program, pictures, reduced):
    """Runs everything in a folder that goes, keeping the pictures."""
    with tempfile.TemporaryDirectory(prefix="prismfield gallery ") as folder:
        folder = pathlib.Path(folder)
        made = []
        for name, small in CASES:
            case = Case(SOURCE / "inputs" / f"{name}.yaml")
            picture = folder / f"{name}.png"
            command = [program, case.command, case.file, "--quiet", "--output", f"{name}.h5"]
            command += ["--set", f"output.figure={{file: {picture.name}, dpi: {INVERSION_DPI if case.inverts else DPI}}}"]
            for setting in small if reduced else []:
                command += ["--set", setting]
            run(command, folder)
            made.append(picture)
        for name, figure in STUDIES:
            study = SOURCE / "perf" / "studies" / f"{name}.yaml"
            run([program, "study", study, "--quiet", "--output", name] + (["--reduced"] if reduced else []), folder)
            picture = folder / f"{name}_{figure}.png"
            shutil.copyfile(folder / name / "figures" / f"{figure}.png", picture)
            made.append(picture)
        missing = [picture.name for picture in made if not picture.is_file() or picture.stat().st_size < 5000]
        if missing:
            sys.exit(f"not drawn: {', '.join(missing)}; is there a Python with matplotlib and h5py?")
        pictures.mkdir(parents=True, exist_ok=True)
        for picture in made:
            shutil.copyfile(picture, pictures / picture.name)


def check():
    """The errors of the page as it stands: none when it is whole."""
    found = []
    in_inputs = {file.stem for file in (SOURCE / "inputs").glob("*.yaml")}
    listed = {name for name, _ in CASES}
    found += [f"inputs/{name}.yaml is not in CASES of docs/make_gallery.py" for name in sorted(in_inputs - listed)]
    found += [f"docs/make_gallery.py names inputs/{name}.yaml, which is not there" for name in sorted(listed - in_inputs)]
    if found:
        return found
    folder = SOURCE / "docs"
    text = page()
    if not (folder / PAGE).is_file() or (folder / PAGE).read_text(encoding="utf-8") != text:
        found.append(f"docs/{PAGE} is not what docs/make_gallery.py writes from the inputs; run it")
    shown = {pathlib.Path(name).name for name in re.findall(rf"\]\(({PICTURES}/[^)]*)\)", text)}
    there = {file.name for file in (folder / PICTURES).glob("*")}
    found += [f"docs/{PICTURES}/{name} is missing" for name in sorted(shown - there)]
    found += [f"docs/{PICTURES}/{name} is on no page" for name in sorted(there - shown)]
    return found


def main():
    parser = argparse.ArgumentParser(description="the gallery: every input and its picture")
    parser.add_argument("program", nargs="?", type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("--to", type=pathlib.Path, default=SOURCE / "docs", help="the folder of the page; default docs")
    parser.add_argument("--reduced", action="store_true", help="small sizes")
    parser.add_argument("--check", action="store_true", help="the page in docs is complete and up to date")
    arguments = parser.parse_args()
    if arguments.check:
        found = check()
        print("\n".join(found) or "the gallery is complete")
        return 1 if found else 0
    if arguments.program is None:
        parser.error("the program, or --check, is needed")
    draw(arguments.program, arguments.to / PICTURES, arguments.reduced)
    (arguments.to / PAGE).write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
