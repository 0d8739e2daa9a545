#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""bootstrap.sh may run as root: nothing runs that a package index or the working folder slips in.

check_bootstrap.py SOURCE: a copy of the script and of cmake/ is called beside an index of one's own on this machine.
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


if __name__ == "__main__":
    unittest.main(verbosity=2)
