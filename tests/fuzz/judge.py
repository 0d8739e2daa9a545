#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Tells what is ours of what a fuzzer found: replays every file and looks at where it crashed.

    judge.py FUZZER FOLDER

A crash, hang or waste of memory inside of HDF5, which does not survive every damaged file, is HDF5's; the program ends
with a message there (src/base/crash_guard.hpp). Everything else is ours. Exit codes: 0 nothing of ours, 1 something.
"""

import collections
import pathlib
import re
import subprocess
import sys

# Frames that were only called: of the sanitizers, the C library and the compiler's.
PASSED_ON = re.compile(r"__interceptor|__sanitizer|__asan|__lsan|fuzzer::|fuzz_\w+\+0x|lib(c|gcc_s|stdc\+\+|m|pthread)\.so|"
                       r"string/|sysdeps/|__libc|gsignal|abort|raise|operator (new|delete)")
LIMITS = ["-timeout=10", "-rss_limit_mb=1024"]
# The memory of the process is watched beside it, which leaves no trace of who asked for it; one request does.
REQUESTS = ["-timeout=10", "-rss_limit_mb=0", "-malloc_limit_mb=1024"]


def judge(fuzzer, file, limits=LIMITS):
    """"clear" for a file that is survived now, "HDF5", or what is wrong."""
    try:
        done = subprocess.run([fuzzer, *limits, file], capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "does not end"
    if done.returncode == 0:
        return "clear"
    text = done.stderr.decode(errors="replace")
    if limits is LIMITS and "out-of-memory (used:" in text:
        of_request = judge(fuzzer, file, REQUESTS)
        return "takes more than 1 GiB bit by bit" if of_request == "clear" else of_request
    frames = re.findall(r"^\s+#\d+ (?:0x[0-9a-f]+ )?(.*)$", text, re.MULTILINE)
    for frame in frames:
        frame = frame.removeprefix("in ").strip()
        if "prismfield" in frame.split("(/")[0] or "/src/" in frame:
            break
        if "libhdf5" in frame:
            return "HDF5"
        if not PASSED_ON.search(frame):
            break
    summary = re.findall(r"^(?:fuzz: .*|SUMMARY: .*|.*runtime error: .*)$", text, re.MULTILINE)
    return (summary or ["?"])[0] + "".join(f"\n    {frame[:160]}" for frame in frames[:12])


def main():
    fuzzer, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    verdicts = collections.Counter()
    for file in sorted(folder.iterdir() if folder.is_dir() else []):
        verdict = judge(fuzzer, file)
        kind = verdict if verdict in ("clear", "HDF5") else "ours"
        verdicts[kind] += 1
        if kind == "ours":
            print(f"{file}: {verdict}")
    print(f"{verdicts['ours']} of ours, {verdicts['HDF5']} of HDF5's own, {verdicts['clear']} survived")
    return 1 if verdicts["ours"] else 0


if __name__ == "__main__":
    sys.exit(main())
