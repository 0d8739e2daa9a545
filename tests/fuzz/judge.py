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
# The memory of the process is watched next to it, which does not show who asked for it. One request does, larger than
# the machine that the readers see (memory.cpp); otherwise the list of what is allocated does, largest first.
REQUESTS = ["-timeout=10", "-rss_limit_mb=0", "-malloc_limit_mb=64"]
ALLOCATED = "Live Heap Allocations"


def verdict_of(stack):
    """"HDF5" or "ours" by the frames of one stack, innermost first; "" where neither is among them."""
    for frame in re.findall(r"^\s+#\d+ (?:0x[0-9a-f]+ )?(.*)$", stack, re.MULTILINE):
        frame = frame.removeprefix("in ").strip()
        if "prismfield" in frame.split("(/")[0] or "/src/" in frame:
            return "ours"
        if "libhdf5" in frame:
            return "HDF5"
        if not PASSED_ON.search(frame):
            return "ours"
    return ""


def verdict_of_allocations(text):
    """By the largest allocation that is not the fuzzer's own."""
    stacks = re.split(r"^\d+ byte\(s\).*$", text.partition(ALLOCATED)[2], flags=re.MULTILINE)[1:]
    return next((verdict for verdict in map(verdict_of, stacks) if verdict), "ours")


def judge(fuzzer, file, limits=LIMITS):
    """"clear" for a file that is survived now, "HDF5", or what is wrong."""
    try:
        done = subprocess.run([fuzzer, *limits, file], capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "does not end"
    if done.returncode == 0:
        return "clear"
    text = done.stderr.decode(errors="replace")
    if ALLOCATED in text:
        of_request = judge(fuzzer, file, REQUESTS)
        if of_request != "clear":
            return of_request
        verdict = verdict_of_allocations(text)
    else:
        verdict = verdict_of(text)
    if verdict == "HDF5":
        return verdict
    summary = re.findall(r"^(?:fuzz: .*|SUMMARY: .*|.*runtime error: .*)$", text, re.MULTILINE)
    frames = re.findall(r"^\s+#\d+ .*$", text.partition(ALLOCATED)[2] or text, re.MULTILINE)
    return "\n    ".join([(summary or ["?"])[0], *(frame.strip()[:160] for frame in frames[:30])])


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
