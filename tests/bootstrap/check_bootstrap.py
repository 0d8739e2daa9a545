#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""bootstrap.sh may run as root: nothing runs that a package index or the working folder slips in. And it ends well in
any order, several at once, and after it was killed.

check_bootstrap.py SOURCE: a copy of the script and of cmake/ is called beside an index of one's own on this machine, or
beside a cmake, a ninja and compilers that only write down what they were called for.
"""

import hashlib
import http.server
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import unittest
import zipfile

source = pathlib.Path(sys.argv.pop(1)).resolve()
ARCHIVE = "pygenten-0.1.5.tar.gz"


def source_archive(files):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(f"pygenten-0.1.5/{name}")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    return data.getvalue()


def wheel(name, version, files):
    data = io.BytesIO()
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(data, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return data.getvalue()


class Index:
    """A package index that serves these files: {project: {file name: bytes}}."""

    def __init__(self, projects):
        pages = {f"/simple/{p}/": "".join(f'<a href="/files/{n}">{n}</a>' for n in f).encode() for p, f in projects.items()}
        files = {f"/files/{name}": data for held in projects.values() for name, data in held.items()}
        self.asked = asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                body = pages.get(self.path, files.get(self.path))
                self.send_response(404 if body is None else 200)
                self.send_header("Content-Type", "text/html" if self.path in pages else "application/octet-stream")
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/simple/"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Bootstrap(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="prismfield_bootstrap_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.tree = self.folder / "tree"
        shutil.copytree(source / "cmake", self.tree / "cmake")
        self.working = self.folder / "working"
        self.working.mkdir()
        self.ran = self.folder / "ran"
        self.attack = f"open({str(self.ran)!r}, 'a').write(__file__ + chr(10))\n"

    def bootstrap(self, index, **variables):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "Kokkos", "PYTHON"))}
        environment.pop("CMAKE_PREFIX_PATH", None)
        environment.update(PIP_INDEX_URL=index.url, PIP_CONFIG_FILE=os.devnull, PIP_RETRIES="0", no_proxy="127.0.0.1",
                           PIP_NO_CACHE_DIR="1", **variables)
        script = self.tree / "cmake/bootstrap.sh"
        done = subprocess.run(
            ["bash", script, "library", "--backend", "serial", "--no-packages", "--", "-DPRISMFIELD_ENABLE_MPI=OFF"],
            cwd=self.working, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=300)
        if "missing here" in done.stdout:
            self.skipTest(done.stdout)
        if "Kokkos: source archive" not in done.stdout:
            self.skipTest("CMake finds a Kokkos here, so that none is fetched: " + done.stdout)
        self.assertNotEqual(done.returncode, 0, "the archive of the test's index is not Kokkos")
        return done.stdout

    def index(self, archive):
        backend = {"scikit_build_core/__init__.py": "", "scikit_build_core/build.py": self.attack}
        index = Index({
            "pygenten": {ARCHIVE: archive},
            "scikit-build-core": {"scikit_build_core-9.9-py3-none-any.whl": wheel("scikit_build_core", "9.9", backend)},
        })
        self.addCleanup(index.close)
        return index

    def nothing_ran(self):
        self.assertFalse(self.ran.exists(), self.ran.exists() and self.ran.read_text())

    def test_an_archive_of_another_checksum_is_not_run(self):
        index = self.index(source_archive({
            "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "attack"\nbackend-path = ["."]\n'
                              '[project]\nname = "pygenten"\nversion = "0.1.5"\n',
            "attack.py": self.attack,
            "setup.py": self.attack,
        }))
        said = self.bootstrap(index)
        self.assertIn(f"/files/{ARCHIVE}", index.asked)
        self.assertIn("HASHES", said)
        self.nothing_ran()
        self.assertFalse((self.tree / "build/dependencies" / ARCHIVE).exists())

    def test_the_index_provides_nothing_that_runs_beside_the_archive(self):
        """The checksum is that of the archive served, as if it were the pinned one."""
        archive = source_archive({
            "pyproject.toml": '[build-system]\nrequires = ["scikit-build-core"]\n'
                              'build-backend = "scikit_build_core.build"\n[project]\nname = "pygenten"\n'
                              'version = "0.1.5"\n',
            "tpls/kokkos/CMakeLists.txt": "message(FATAL_ERROR stop)\n",
            "tpls/kokkos-kernels/CMakeLists.txt": "message(FATAL_ERROR stop)\n",
        })
        script = self.tree / "cmake/bootstrap.sh"
        text, n = re.subn(r"archive_sha256=\w+", "archive_sha256=" + hashlib.sha256(archive).hexdigest(),
                          script.read_text(), count=1)
        self.assertEqual(n, 1)
        script.write_text(text)
        index = self.index(archive)
        said = self.bootstrap(index)
        self.assertTrue((self.tree / "build/dependencies" / ARCHIVE).exists(), said)
        self.assertFalse([path for path in index.asked if "scikit" in path])
        self.nothing_ran()

    def test_without_a_network_it_says_soon_what_to_do(self):
        index = self.index(b"")
        index.close()
        begin = time.monotonic()
        said = self.bootstrap(index)
        self.assertIn("without a network, put\n", said)
        self.assertIn(f"{ARCHIVE} (SHA-256 ", said)
        self.assertIn(f"into {self.tree}/build/dependencies", said)
        self.assertLess(time.monotonic() - begin, 120)

    def test_a_folder_that_is_not_there_is_named(self):
        """It would lead to a Kokkos of one's own without a word."""
        index = self.index(b"")
        index.close()
        said = self.bootstrap(index, CMAKE_PREFIX_PATH=f"{self.working}:{self.folder}/mistyped")
        self.assertIn(f"names {self.folder}/mistyped, and there is no such folder\n", said)
        self.assertNotIn(f"names {self.working},", said)
        self.assertIn("Kokkos and Kokkos Kernels are not both in CMAKE_PREFIX_PATH or Kokkos_ROOT", said)

    def test_a_damaged_archive_is_named(self):
        index = self.index(b"")
        index.close()
        archive = self.tree / "build/dependencies" / ARCHIVE
        archive.parent.mkdir(parents=True)
        archive.write_bytes(b"half an arch")
        said = self.bootstrap(index)
        self.assertIn(f"{archive} is damaged, or another one: its SHA-256 is not ", said)
        self.assertIn("source archive from PyPI", said)

    def test_progress_is_told_a_quarter_at_a_time_in_a_file(self):
        """The two functions of the script that print, with a step that counts as ninja does."""
        script = self.tree / "cmake/bootstrap.sh"
        text = script.read_text()
        functions = text[text.index("fail() {"):text.index("# ---- the command line")]
        counting = 'count() { for i in $(seq 8); do echo "[$i/8] compiling"; sleep 0.7; done; }\n'
        hasty = functions.replace("-lt 20 ]", "-lt 0 ]")
        self.assertNotEqual(hasty, functions)
        done = subprocess.run(["bash", "-c", f"set -euo pipefail\nlogs=.\n{hasty}\n{counting}step counted 'A build' count"],
                              cwd=self.working, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"^A build \.\.\. \n    \[2/8\] after \d+ s \.\.\. \n    \[4/8\] after \d+ s \.\.\. \n"
                                      r"    \[6/8\] after \d+ s \.\.\. \d+ s\n$")

    def test_modules_of_the_working_folder_are_not_imported(self):
        for name in ("venv", "ensurepip", "pip", "random", "sitecustomize", "usercustomize", "xarray", "matplotlib"):
            (self.working / f"{name}.py").write_text(self.attack)
        self.bootstrap(self.index(source_archive({"PKG-INFO": "Name: pygenten\n"})))
        self.nothing_ran()


# A cmake that builds nothing: a line of $CALLS for each call. It finds all but Kokkos; $FAIL makes the configuration fail
# as a missing Kokkos does, and a file that $HOLD names delays the step that $HELD names until it is gone.
FAKE_CMAKE = r"""#!/usr/bin/env bash
[ "$1" != --version ] || { echo "cmake version $(cat "$(dirname "$0")/version")"; exit; }
[ "$1" != -P ] || exit 0
value() { for word in "${words[@]}"; do case $word in "-D$1="*) printf '%s' "${word#*=}" ;; esac; done; }
words=("$@")
case "$1 $2" in
  "-S "*/probe)
    for name in MPI HDF5 yaml-cpp CLI11 fmt xxHash Pocketfft nlohmann_json PROJ; do echo "found $name 1"; done
    exit 0 ;;
  "-S "*) what="configure ${2##*/}" ;;
  "--preset "*) what="configure prismfield" ;;
  "--build "*) what="build ${2##*/}${5:+ $5 $6}" ;;
  "--install "*) what="install ${2##*/}" ;;
esac
build=$4
[ "$1" != --preset ] || [ ! -f "$build/CMakeCache.txt" ] || what="$what anew"
echo "begin $what" >>"$CALLS"
[[ $what != "${HELD:-nothing}"* ]] || while [ -e "$HOLD" ]; do sleep 0.05; done
case $what in
  "install kokkos") mkdir -p "${2%/*}/install/lib" && touch "${2%/*}/install/lib/KokkosConfig.cmake" ;;
  "install kokkos-kernels") touch "${2%/*}/install/lib/KokkosKernelsConfig.cmake" ;;
  "configure prismfield"*)
    mkdir -p "$build"
    kokkos=$(value Kokkos_DIR)
    [ -z "${FAIL:-}" ] || kokkos=Kokkos_DIR-NOTFOUND
    printf '%s\n' "CMAKE_COMMAND:INTERNAL=$0" "CMAKE_MAKE_PROGRAM:FILEPATH=$(value CMAKE_MAKE_PROGRAM)" \
      "Kokkos_DIR:PATH=$kokkos" "KokkosKernels_DIR:PATH=$(value KokkosKernels_DIR)" >"$build/CMakeCache.txt"
    [ -z "${FAIL:-}" ] || { echo 'Could not find a package configuration file provided by "Kokkos"'; exit 1; } ;;
esac
echo "end $what" >>"$CALLS"
"""
FAKE_COMPILER = "#!/usr/bin/env bash\necho \"${0##*/} (Test) VERSION\"\n"


class Orders(unittest.TestCase):
    """What is compiled again, and what is not, with tools that only say what they were called for."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="prismfield_bootstrap_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.tree = self.folder / "tree"
        shutil.copytree(source / "cmake", self.tree / "cmake")
        for file in ("build/dependencies/source/unpacked", "build/dependencies/pocketfft/pocketfft_hdronly.h"):
            (self.tree / file).parent.mkdir(parents=True)
            (self.tree / file).touch()
        self.build = self.tree / "build/openmp"
        self.calls = self.folder / "calls"
        self.hold = self.folder / "hold"
        self.tools = self.folder / "tools"
        self.make_cmake(self.tools, "3.25.1")
        self.make_compilers("12.2.0")

    def write(self, file, text):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        file.write_text(text)
        file.chmod(0o755)

    def make_cmake(self, folder, version):
        self.write(folder / "cmake", FAKE_CMAKE)
        self.write(folder / "ninja", "#!/usr/bin/env bash\necho 1.11.1\n")
        self.write(folder / "version", version)

    def make_compilers(self, version):
        for name, others in {"g++-12": ("c++", "g++", "x86_64-linux-gnu-g++"), "gcc-12": ("cc", "gcc")}.items():
            self.write(self.tools / name, FAKE_COMPILER.replace("VERSION", version))
            for other in others:
                (self.tools / other).unlink(missing_ok=True)
                (self.tools / other).symlink_to(name)

    def start(self, command="build", path=(), **variables):
        environment = {k: v for k, v in os.environ.items()
                       if k not in ("CC", "CXX", "CMAKE_PREFIX_PATH", "CMAKE_GENERATOR") and "FLAGS" not in k
                       and not k.startswith("Kokkos")}
        environment.update(PATH=":".join(map(str, [*path, self.tools, os.environ["PATH"]])), CALLS=str(self.calls),
                           HOLD=str(self.hold), **variables)
        return subprocess.Popen(["bash", self.tree / "cmake/bootstrap.sh", command, "--no-packages"], env=environment,
                                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def finish(self, process, code=0):
        said, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, code, said)
        return said

    def called(self, *words, code=0, **variables):
        """What cmake was called for in one call of bootstrap.sh."""
        self.calls.write_text("")
        self.said = self.finish(self.start(*words, **variables), code)
        return [line[4:] for line in self.calls.read_text().splitlines() if line.startswith("end ")]

    def await_call(self, text):
        for _ in range(600):
            if self.calls.exists() and text in self.calls.read_text().splitlines():
                return
            time.sleep(0.05)
        self.fail(f"no '{text}'")

    KOKKOS = ["configure kokkos", "build kokkos", "install kokkos", "configure kokkos-kernels", "build kokkos-kernels",
              "install kokkos-kernels"]
    PROGRAM = "build openmp --target prismfield"

    def test_other_names_of_compilers_and_another_cmake_build_nothing_anew(self):
        self.assertEqual(self.called(), [*self.KOKKOS, "configure prismfield", self.PROGRAM])
        self.assertEqual(self.called(CC="gcc", CXX="x86_64-linux-gnu-g++"), [self.PROGRAM])
        pip = self.folder / "pip-build-env-x/bin"
        self.make_cmake(pip, "4.1.0")
        self.assertEqual(self.called(path=[pip]), [self.PROGRAM])
        # as pip calls it: another folder, the same Kokkos
        self.assertEqual(self.called("capi", path=[pip], CC="gcc", CXX="g++"),
                         ["configure prismfield", "build openmp-capi-native --target prismfield_c"])
        shutil.rmtree(pip)
        self.assertEqual(self.called("capi"), ["configure prismfield anew", "build openmp-capi-native --target prismfield_c"])
        self.assertIn("dependencies/ninja\n", (self.tree / "build/openmp-capi-native/CMakeCache.txt").read_text())

    def test_another_compiler_compiles_all_anew(self):
        self.called()
        self.make_compilers("12.3.0")
        everything = [*self.KOKKOS, "configure prismfield", "build openmp --target clean", self.PROGRAM]
        self.assertEqual(self.called(), everything)
        self.write(self.tools / "clang++", FAKE_COMPILER)
        self.assertEqual(self.called(CXX="clang++"), everything)
        self.assertEqual(self.called(CXX="clang++", CXXFLAGS="-O1"), everything)
        self.assertEqual(self.called(CXX="clang++", CXXFLAGS="-O1"), [self.PROGRAM])

    def test_a_failed_configuration_is_discarded(self):
        said = self.finish(self.start(FAIL="1"), 1)
        self.assertIn("this step failed", said)
        self.assertFalse((self.build / "CMakeCache.txt").exists())
        self.assertEqual((self.build / "bootstrap.stamp").read_text(), "unfinished\n")
        self.assertEqual(self.called(), ["configure prismfield", self.PROGRAM])

    def test_a_cache_without_its_kokkos_is_not_believed(self):
        self.called()
        cache = self.build / "CMakeCache.txt"
        cache.write_text(re.sub("(?m)^Kokkos_DIR:PATH=.*", "Kokkos_DIR:PATH=Kokkos_DIR-NOTFOUND", cache.read_text()))
        self.assertEqual(self.called(), ["configure prismfield", self.PROGRAM])

    def test_two_at_once_take_turns(self):
        self.hold.touch()
        first = self.start(HELD="build kokkos")
        self.await_call("begin build kokkos")
        second = self.start("capi", CXX="g++")
        self.assertEqual(second.stdout.readline(), f"bootstrap: waiting for {first.pid} (bash "
                                                   f"{self.tree}/cmake/bootstrap.sh build --no-packages), which builds here\n")
        self.hold.unlink()
        self.finish(first)
        self.finish(second)
        calls = self.calls.read_text().splitlines()
        self.assertEqual([line.split(" ", 1)[0] for line in calls], ["begin", "end"] * (len(calls) // 2))
        self.assertEqual(calls.count("begin build kokkos"), 1)

    def test_killed_while_it_configures(self):
        self.called()
        (self.build / "bootstrap.stamp").unlink()
        self.hold.touch()
        first = self.start(HELD="configure prismfield")
        self.await_call("begin configure prismfield anew")
        first.kill()
        first.wait()
        second = self.start()
        line = second.stdout.readline()
        self.assertTrue(line.startswith(f"bootstrap: waiting for what is left of {first.pid} (bash "), line)
        self.hold.unlink()
        self.finish(first, -9)
        self.finish(second)
        self.assertEqual(self.calls.read_text().splitlines()[-4:],
                         [f"{at} {what}" for what in ("configure prismfield", self.PROGRAM) for at in ("begin", "end")])

    def test_killed_while_it_builds_kokkos(self):
        self.hold.touch()
        first = self.start(HELD="build kokkos")
        self.await_call("begin build kokkos")
        first.kill()
        first.wait()
        self.hold.unlink()
        self.finish(first, -9)
        self.assertEqual(self.called(), [*self.KOKKOS, "configure prismfield", self.PROGRAM])


if __name__ == "__main__":
    unittest.main(verbosity=2)
