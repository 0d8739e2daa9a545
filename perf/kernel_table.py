#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Turns a result of benchmark_kernel into Markdown tables, nanoseconds of processor time.

    benchmark_kernel --benchmark_out=kernel.json --benchmark_out_format=json
    kernel_table.py kernel.json

With --benchmark_repetitions the median is shown.
"""

import json
import statistics
import sys

SETS = ("gz", "vector", "tensor", "vector_tensor", "all")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        entries = json.load(file)["benchmarks"]
    times = {}
    for entry in entries:
        if entry.get("run_type") == "iteration" and not entry.get("error_occurred"):
            seconds = entry.get("per_pair", entry.get("per_value"))
            times.setdefault(entry["run_name"], []).append(1e9 * seconds)
    functions, forms = {}, {}
    for name, values in times.items():
        *what, second_last, last = name.split("/")
        middle = statistics.median(values)
        if second_last in SETS:
            forms.setdefault(last, {}).setdefault(what[0], {})[second_last] = middle
        else:
            functions.setdefault("/".join(what), {})[f"{second_last}, {last}"] = middle

    def table(head, rows, columns):
        print(f"\n| {head} | " + " | ".join(columns) + " |\n|" + "---|" * (len(columns) + 1))
        for name, row in rows.items():
            print(f"| {name} | " + " | ".join(f"{row[c]:.3g}" if c in row else "" for c in columns) + " |")

    if functions:
        table("ns per value", functions, list(dict.fromkeys(kind for row in functions.values() for kind in row)))
    for precision, rows in forms.items():
        columns = [name for name in SETS if any(name in row for row in rows.values())]
        table(f"ns per pair, {precision}", rows, columns)


if __name__ == "__main__":
    main()
