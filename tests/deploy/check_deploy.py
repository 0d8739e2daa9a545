# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""What can be checked of cmake/deploy and inputs/slurm without Spack, Apptainer and a cluster.

Usage: check_deploy.py SOURCE BUILD CMAKE

SOURCE is the folder of the sources, BUILD a configured build, CMAKE the cmake that configured it.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

source = build = cmake = None

# Spack's own packages that the recipe names: variants and values it may ask for, a version that its range has to hold
# (spack-packages, builtin repository, November 2025).
SPACK_PACKAGES = {
    "benchmark": ({}, "1.9.1"),
    "c": ({}, ""),
    "cli11": ({}, "2.5.0"),
    "cmake": ({}, "3.31.9"),
    "cxx": ({}, ""),
    "fmt": ({}, "11.2.0"),
    "gdal": ({}, "3.8.5"),
    "googletest": ({"gmock"}, "1.17.0"),
    "hdf5": ({"hl"}, "1.14.6"),
    "kokkos": ({"serial", "openmp", "cuda", "wrapper", "pic", "cxxstd", "cuda_arch"}, "4.7.02"),
    "kokkos-kernels": ({"serial", "openmp", "cuda", "cuda_arch"}, "4.7.02"),
    "mpi": ({}, ""),
    "nlohmann-json": ({}, "3.12.0"),
    "pocketfft": ({}, "2023.02.14"),
    "proj": ({}, "9.4.1"),
    "py-matplotlib": ({}, ""),
    "py-netcdf4": ({}, ""),
    "py-h5py": ({}, ""),
    "py-pyyaml": ({}, ""),
    "py-jinja2": ({}, ""),
    "py-xarray": ({}, ""),
    "xxhash": ({}, "0.8.3"),
    "yaml-cpp": ({}, "0.8.0"),
}


def project_version():
    return re.search(r"^  VERSION ([0-9.]+)$", (source / "CMakeLists.txt").read_text(), re.MULTILINE)[1]


def run(*command, **keywords):
    return subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **keywords
    )


class Recorder:
    """A stand-in for Spack that writes down what a recipe says."""

    def __init__(self):
        self.calls = []

    def directive(self, name):
        return lambda *arguments, **keywords: self.calls.append((name, arguments, keywords))

    def of(self, name):
        return [(arguments, keywords) for called, arguments, keywords in self.calls if called == name]


class Spec:
    def __init__(self, *variants):
        self.variants = variants

    def satisfies(self, wanted):
        return wanted in self.variants


def load_recipe(recorder):
    """Runs package.py with Spack's names, as far as it uses them; an unknown name is an error."""
    spack = types.ModuleType("spack")
    package = types.ModuleType("spack.package")
    names = ["conflicts", "depends_on", "license", "variant", "version"]
    for name in names:
        setattr(package, name, recorder.directive(name))
    package.__all__ = names

    class CMakePackage:
        def define(self, name, value):
            return f"-D{name}={value}"

        def define_from_variant(self, name, variant):
            assert variant in [arguments[0] for arguments, _ in recorder.of("variant")], variant
            return f"-D{name}={f'+{variant}' in self.spec.variants}"

    class CudaPackage:
        cuda_arch_values = ("80", "90")

    modules = {"spack": spack, "spack.package": package}
    for path in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        modules[path] = types.ModuleType(path)
    for name, content in (("cmake", {"CMakePackage": CMakePackage}), ("cuda", {"CudaPackage": CudaPackage})):
        module = types.ModuleType(f"spack_repo.builtin.build_systems.{name}")
        module.__dict__.update(content)
        modules[module.__name__] = module
    before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        path = source / "cmake/deploy/spack/spack_repo/prismfield/packages/prismfield/package.py"
        scope = {}
        exec(compile(path.read_text(), str(path), "exec"), scope)
        return scope["Prismfield"]
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def number(version):
    return [int(part) for part in re.findall(r"\d+", version)]


def holds(version_range, version):
    """Spack's ranges: 4.7 is every 4.7.x, 4.7.01: is that or newer."""
    low, colon, high = version_range.partition(":")
    if not colon:
        return number(version)[: len(number(low))] == number(low)
    below = high and number(version)[: len(number(high))] > number(high)
    return number(version) >= number(low) and not below


class Spack(unittest.TestCase):
    def setUp(self):
        self.recorder = Recorder()
        self.recipe = load_recipe(self.recorder)

    def test_version_is_that_of_the_project(self):
        self.assertEqual([arguments[0] for arguments, _ in self.recorder.of("version")], [project_version()])

    def test_dependencies_exist_with_their_variants_and_versions(self):
        seen = set()
        for (spec,), keywords in self.recorder.of("depends_on"):
            name, *variants = spec.split()
            name, _, version_range = name.partition("@")
            self.assertIn(name, SPACK_PACKAGES)
            seen.add(name)
            known, version = SPACK_PACKAGES[name]
            for variant in variants:
                self.assertIn(re.match(r"[+~]?(\w+)", variant)[1], known, spec)
            if version_range:
                self.assertTrue(holds(version_range, version), f"{spec} leaves out {version}")
            for condition in re.findall(r"[+~](\w+)", keywords.get("when", "")):
                own = [arguments[0] for arguments, _ in self.recorder.of("variant")] + ["cuda"]
                self.assertIn(condition, own)
        self.assertEqual(seen, set(SPACK_PACKAGES))

    def test_every_dependency_of_the_build_is_named(self):
        files = ("cmake/dependencies.cmake", "cmake/file_dependencies.cmake", "CMakeLists.txt")
        text = "".join((source / name).read_text() for name in files)
        found = set(re.findall(r"^ *(?:prismfield_dependency|prismfield_optional_dependency\(\w+|find_package)[( ](\w[\w-]*)[ )]", text,
                               re.MULTILINE))
        spack_name = {
            "CLI11": "cli11",
            "GDAL": "gdal",
            "HDF5": "hdf5",
            "Kokkos": "kokkos",
            "KokkosKernels": "kokkos-kernels",
            "MPI": "mpi",
            "PROJ": "proj",
            "Pocketfft": "pocketfft",
            "fmt": "fmt",
            "nlohmann_json": "nlohmann-json",
            "xxHash": "xxhash",
            "yaml-cpp": "yaml-cpp",
        }
        # Parts of the compiler and of the developer's tools.
        self.assertEqual(found - {"Threads", "Git"}, set(spack_name))
        for name in spack_name.values():
            specs = [arguments[0] for arguments, _ in self.recorder.of("depends_on")]
            self.assertTrue(any(re.match(rf"{re.escape(name)}(@|$)", spec) for spec in specs), name)

    def test_options_exist_in_the_build(self):
        text = (source / "CMakeLists.txt").read_text()
        for variants, device in ((("+cuda", "+openmp"), "CUDA"), (("+openmp",), "OPENMP"), ((), "SERIAL")):
            package = self.recipe()
            package.spec = Spec(*variants)
            arguments = package.cmake_args()
            self.assertIn(f"-DPRISMFIELD_REQUIRE_DEVICE={device}", arguments)
            for argument in arguments:
                name = re.match(r"-D(\w+)=", argument)[1]
                self.assertRegex(text, rf"(option|set)\({name} ")

    def test_environments_name_the_recipe_and_the_sources(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("no PyYAML")
        variants = {arguments[0] for arguments, _ in self.recorder.of("variant")} | {"cuda", "cuda_arch"}
        for path in sorted((source / "cmake/deploy/spack").glob("*/spack.yaml")):
            environment = yaml.safe_load(path.read_text())["spack"]
            repository = pathlib.Path(environment["repos"]["prismfield"].replace("$env", str(path.parent)))
            namespace = yaml.safe_load((repository / "repo.yaml").read_text())["repo"]["namespace"]
            self.assertEqual(namespace, repository.name)
            self.assertTrue((repository / "packages" / "prismfield" / "package.py").exists())
            self.assertTrue((path.parent / environment["develop"]["prismfield"]["path"]).samefile(source))
            for spec in environment["specs"]:
                name, *asked = spec.split()
                self.assertEqual(name, f"prismfield@{project_version()}")
                for variant in asked:
                    self.assertIn(re.match(r"[+~]?(\w+)", variant)[1], variants)


class Apptainer(unittest.TestCase):
    def definitions(self):
        paths = sorted((source / "cmake/deploy/apptainer").glob("*.def"))
        self.assertEqual([path.name for path in paths], ["prismfield-cuda.def", "prismfield.def"])
        for path in paths:
            header, *rest = re.split(r"^%", path.read_text(), flags=re.MULTILINE)
            sections = {}
            for part in rest:
                name, _, body = part.partition("\n")
                self.assertNotIn(name, sections)
                sections[name] = body
            header = [line for line in header.splitlines() if line and not line.startswith("#")]
            yield path, dict(line.split(": ", 1) for line in header), sections

    def test_sections(self):
        known = {"arguments", "files", "post", "environment", "runscript", "test", "labels", "help"}
        for path, header, sections in self.definitions():
            self.assertEqual(list(header), ["Bootstrap", "From"])
            self.assertLessEqual(set(sections), known)
            self.assertGreaterEqual(set(sections), {"files", "post", "runscript", "test"})
            for name in ("post", "environment", "runscript", "test"):
                script = re.sub(r"{{ *\w+ *}}", "value", sections[name])
                checked = run("sh", "-n", "-c", script)
                self.assertEqual(checked.returncode, 0, f"{path.name} %{name}: {checked.stdout}")
            for argument in re.findall(r"{{ *(\w+) *}}", sections["post"]):
                self.assertRegex(sections["arguments"], rf"(?m)^    {argument}=\w+$")

    def test_everything_that_the_build_needs_is_copied(self):
        for path, _, sections in self.definitions():
            copied = [line.split() for line in sections["files"].splitlines() if line]
            for origin, target in copied:
                self.assertTrue((source / origin).exists(), origin)
                self.assertEqual(target, f"/opt/source/{origin}")
            needed = {"CMakeLists.txt", "CMakePresets.json", "cmake", "include", "src", "python", "docs", "inputs"}
            needed |= {"LICENSE", "THIRD_PARTY.md", "CHANGELOG.md", "CITATION.cff", "README.md"}
            self.assertLessEqual(needed, {origin for origin, _ in copied})

    def test_options_of_bootstrap_exist(self):
        usage = run("bash", source / "cmake/bootstrap.sh", "--help").stdout
        for path, _, sections in self.definitions():
            line = re.search(r"bash cmake/bootstrap.sh (.*)", sections["post"])[1]
            for option in re.findall(r"--[\w-]+", line):
                self.assertIn(option, usage)


class Modules(unittest.TestCase):
    def setUp(self):
        self.prefix = pathlib.Path(tempfile.mkdtemp(prefix="prismfield_modules_"))
        self.addCleanup(shutil.rmtree, self.prefix, ignore_errors=True)
        done = run(cmake, "--install", build, "--prefix", self.prefix, "--component", "modulefiles")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.folder = self.prefix / "share/prismfield/modulefiles"
        self.wanted = {
            "PATH": str(self.prefix / "bin"),
            "CMAKE_PREFIX_PATH": str(self.prefix),
            "PRISMFIELD_ROOT": str(self.prefix),
            "XDG_DATA_DIRS": str(self.prefix / "share"),
        }

    def check(self, output):
        # of several lines about one variable the last comes first in it
        values = dict(line.split("=", 1) for line in output.splitlines() if re.match(r"\w+=", line))
        for name, value in self.wanted.items():
            self.assertEqual(values.get(name), value, output)

    def refused_elsewhere(self, interpreter, stubs, module):
        """A module whose installation was moved away says so."""
        moved = self.prefix / f"moved{module.suffix}"
        moved.write_text(module.read_text().replace(str(self.prefix), f"{self.prefix}/gone"))
        done = run(interpreter, stubs, moved)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn(f"prismfield is not in {self.prefix}/gone any more", done.stdout)

    def test_nothing_is_left_to_fill_in(self):
        for name in (project_version(), f"{project_version()}.lua"):
            text = (self.folder / "prismfield" / name).read_text()
            self.assertNotRegex(text, r"@\w+@")
            self.assertIn(project_version(), text)

    def test_tcl(self):
        if not shutil.which("tclsh"):
            self.skipTest("no tclsh")
        stubs = """
            proc module-whatis {text} {}
            proc conflict {name} {}
            proc prepend-path {name value} {puts "$name=$value"}
            proc setenv {name value} {puts "$name=$value"}
            proc module-info {what which} {return 1}
            source $argv
            ModulesHelp
        """
        (self.prefix / "stubs.tcl").write_text(stubs)
        module = self.folder / "prismfield" / project_version()
        done = run("tclsh", self.prefix / "stubs.tcl", module)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.check(done.stdout)
        self.refused_elsewhere("tclsh", self.prefix / "stubs.tcl", module)

    def test_lua(self):
        lua = shutil.which("lua") or shutil.which("lua5.4") or shutil.which("lua5.3")
        if not lua:
            self.skipTest("no lua")
        stubs = """
            function help(text) end
            function whatis(text) end
            function conflict(name) end
            function pathJoin(a, b) return a .. "/" .. b end
            function prepend_path(name, value) print(name .. "=" .. value) end
            function setenv(name, value) print(name .. "=" .. value) end
            function mode() return "load" end
            function isDir(path) return os.rename(path, path) ~= nil end
            LmodError = error
            dofile(arg[1])
        """
        (self.prefix / "stubs.lua").write_text(stubs)
        module = self.folder / "prismfield" / f"{project_version()}.lua"
        done = run(lua, self.prefix / "stubs.lua", module)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.check(done.stdout)
        self.refused_elsewhere(lua, self.prefix / "stubs.lua", module)

    def test_lmod_itself(self):
        lmod = os.environ.get("LMOD_CMD", "/usr/share/lmod/lmod/libexec/lmod")
        if not os.access(lmod, os.X_OK):
            self.skipTest("no Lmod")
        done = run(
            "bash",
            "-c",
            'module() { eval "$("$lmod" bash "$@")"; }; module load prismfield && '
            'echo "PATH=${PATH%%:*}" && echo "CMAKE_PREFIX_PATH=${CMAKE_PREFIX_PATH%%:*}" && '
            'echo "PRISMFIELD_ROOT=$PRISMFIELD_ROOT" && echo "XDG_DATA_DIRS=${XDG_DATA_DIRS%%:*}"',
            env={"PATH": os.environ["PATH"], "HOME": str(self.prefix), "MODULEPATH": str(self.folder), "lmod": lmod},
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        self.check(done.stdout)


class Installation(unittest.TestCase):
    """All that is installed, in the folders where a system looks for it, and used from there."""

    @classmethod
    def setUpClass(cls):
        cls.prefix = pathlib.Path(tempfile.mkdtemp(prefix="prismfield_installed_"))
        cls.done = run(cmake, "--install", build, "--prefix", cls.prefix)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.prefix, ignore_errors=True)

    def setUp(self):
        self.assertEqual(self.done.returncode, 0, self.done.stdout)
        self.program = self.prefix / "bin/prismfield"
        if not self.program.exists():
            self.skipTest("a build without the program")

    def test_everything_has_its_place(self):
        share = self.prefix / "share"
        for name in ("LICENSE", "THIRD_PARTY.md", "CHANGELOG.md", "CITATION.cff", "README.md", "docs/case.md"):
            self.assertTrue((share / "doc/prismfield" / name).is_file(), name)
        self.assertEqual(
            sorted(f.relative_to(source) for f in (source / "inputs").rglob("*") if f.is_file()),
            sorted(f.relative_to(share / "prismfield") for f in (share / "prismfield/inputs").rglob("*") if f.is_file()),
        )
        python = source / "python"
        self.assertEqual(
            sorted(f.relative_to(python) for f in python.rglob("*")
                   if f.suffix in (".py", ".json", ".j2", ".typed") and "tests" not in f.parts),
            sorted(f.relative_to(share / "prismfield/python") for f in (share / "prismfield/python").rglob("*")
                   if f.is_file()),
        )
        self.assertTrue(os.access(share / "prismfield/inputs/slurm/cpu.sh", os.R_OK))
        self.assertTrue((share / "bash-completion/completions/prismfield").is_file())
        self.assertTrue((share / "zsh/site-functions/_prismfield").is_file())

    def test_links_of_the_pages_hold(self):
        folder = self.prefix / "share/doc/prismfield"
        for page in (folder / "README.md", *sorted((folder / "docs").glob("*.md"))):
            for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
                self.assertTrue((page.parent / target).exists(), f"{page.name}: {target}")
        for named in ("CONTRIBUTING.md", "perf/README.md", "cmake/deploy/spack/openmp"):
            self.assertTrue((folder / named).exists(), named)

    def test_the_program_needs_nothing_of_the_sources(self):
        # debugging and sanitizers name them, and so does nvcc
        cache = (build / "CMakeCache.txt").read_text()
        has_cuda = re.search(r"^execution spaces +[^;]*cuda", run(self.program, "info", cwd=self.prefix).stdout, re.MULTILINE)
        if re.search(r"^CMAKE_BUILD_TYPE:[A-Z]+=Release$", cache, re.MULTILINE) and not has_cuda:
            names_them = str(source.resolve()).encode() in self.program.read_bytes()
            self.assertFalse(names_them, f"{self.program} holds the path {source.resolve()}")
        page = self.prefix / "share/man/man1/prismfield.1"
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, OMP_NUM_THREADS="2", OMP_PROC_BIND="false")
            written = run(self.program, "help", "--man", cwd=folder, env=environment)
            if written.returncode != 0:
                self.skipTest("the program does not run here")
            self.assertEqual(page.read_text(), written.stdout)
            case = self.prefix / "share/prismfield/inputs/irregular.yaml"
            done = run(self.program, "run", case, "--check", cwd=folder, env=environment)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_it_draws_where_it_was_moved_to_and_writes_nothing_there(self):
        python = next((python for python in ("python3", "/usr/bin/python3")
                       if shutil.which(python) and run(python, "-c", "import matplotlib, h5py").returncode == 0), None)
        if not python:
            self.skipTest("no Python with matplotlib and h5py")
        with tempfile.TemporaryDirectory() as folder:
            moved = pathlib.Path(folder) / "moved here"
            shutil.copytree(self.prefix, moved, symlinks=True)
            before = sorted(moved.rglob("*"))
            environment = dict(os.environ, PRISMFIELD_PYTHON=python)
            environment.pop("PYTHONDONTWRITEBYTECODE", None)
            table = "easting,northing,upward,gz [mGal]\n" + "".join(f"{i % 7},{i // 7},1,{i}\n" for i in range(49))
            (pathlib.Path(folder) / "r.csv").write_text(table)
            done = run(moved / "bin/prismfield", "plot", "r.csv", cwd=folder, env=environment)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertTrue((pathlib.Path(folder) / "r.png").read_bytes().startswith(b"\x89PNG"))
            self.assertEqual(sorted(moved.rglob("*")), before)

    def test_versions_agree(self):
        version = project_version()
        self.assertIn(f"\nversion: {version}\n", (source / "CITATION.cff").read_text())
        self.assertRegex((source / "CHANGELOG.md").read_text(), rf"(?m)^## {re.escape(version)}$")


class BatchScripts(unittest.TestCase):
    def test_syntax_and_the_lines_that_restart_a_job(self):
        paths = sorted((source / "inputs/slurm").glob("*.sh"))
        self.assertEqual([path.name for path in paths], ["array.sh", "cpu.sh", "gpu.sh"])
        for path in paths:
            done = run("bash", "-n", path)
            self.assertEqual(done.returncode, 0, done.stdout)
            lines = path.read_text().splitlines()
            first = next(i for i, line in enumerate(lines) if line and not line.startswith("#"))
            options = [i for i, line in enumerate(lines) if line.startswith("#SBATCH ")]
            # Slurm reads none behind the first command.
            self.assertLess(max(options), first)
            for line in ("#SBATCH --signal=B:USR1@30", "#SBATCH --requeue", "#SBATCH --open-mode=append"):
                self.assertIn(line, lines)
            text = path.read_text()
            for part in (" --resume", "output.checkpoint=", "scontrol requeue", "kill -USR1 $!"):
                self.assertIn(part, text)


class Presets(unittest.TestCase):
    def test_cmake_reads_them_and_each_has_a_build_and_a_test(self):
        presets = json.loads((source / "CMakePresets.json").read_text())
        listed = run(cmake, "--list-presets", cwd=source)
        self.assertEqual(listed.returncode, 0, listed.stdout)
        names = [preset["name"] for preset in presets["configurePresets"] if not preset.get("hidden")]
        for name in names:
            self.assertIn(f'"{name}"', listed.stdout)
        without_tests = [
            preset["name"]
            for preset in presets["configurePresets"]
            if preset.get("cacheVariables", {}).get("PRISMFIELD_BUILD_TESTS") == "OFF"
        ]
        self.assertEqual(without_tests, ["fuzz"])
        tested = [name for name in names if name not in without_tests]
        for kind, wanted in (("buildPresets", names), ("testPresets", tested)):
            self.assertEqual([preset["configurePreset"] for preset in presets[kind]], wanted)
        for name in ("site-cpu", "site-portable", "site-cuda-80", "site-cuda-90"):
            self.assertIn(name, names)


if __name__ == "__main__":
    source, build, cmake = (pathlib.Path(argument) for argument in sys.argv[1:4])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
