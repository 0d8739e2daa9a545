#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Draws when the slots of every rank, or its device, were busy (Couder-Castaneda 2014, Fig. 20).

    busy_figure.py RESULT.nc FIGURE.png

One bar a slot (host) or device, from /performance/busy_rank, busy_slot, busy_begin and busy_end of a result; a white
gap is time in which it had nothing to do. On a host gaps below a millisecond are not kept. Prints the share of the
field time in which they were busy.
"""

import sys

import h5py
import numpy as np


def main(result, target):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with h5py.File(result) as file:
        performance = file["performance"]
        rank, slot, begin, end = (performance[f"busy_{name}"][:] for name in ("rank", "slot", "begin", "end"))
        field_seconds = float(performance.attrs["field_seconds"])
        space = performance.attrs["space"]
        device = performance.attrs["device"]
    decoded = lambda text: text.decode() if isinstance(text, bytes) else str(text)
    workers = sorted(set(zip(rank.tolist(), slot.tolist())))
    shares = []
    figure, axes = plt.subplots(figsize=(7, 1 + 0.25 * min(len(workers), 60)), constrained_layout=True)
    for row, (of_rank, of_slot) in enumerate(workers):
        mine = (rank == of_rank) & (slot == of_slot)
        widths = end[mine] - begin[mine]
        shares.append(widths.sum() / field_seconds)
        axes.broken_barh(list(zip(begin[mine], widths)), (row - 0.4, 0.8), color=f"C{of_rank % 10}", linewidth=0)
    labels = [f"rank {r}" if s < 0 else f"rank {r}, slot {s}" for r, s in workers]
    step = max(1, len(workers) // 60)
    axes.set_yticks(range(0, len(workers), step), labels[::step], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, max(field_seconds, float(np.max(end))))
    axes.set_xlabel("seconds since the fields began")
    axes.set_title(f"{decoded(space)}, {decoded(device)}: busy {100 * np.mean(shares):.1f} % of the field time", fontsize=9)
    figure.savefig(target, dpi=120)
    print(f"{len(workers)} bars, busy {100 * np.mean(shares):.2f} % of {field_seconds:.4g} s on average, the least "
          f"{100 * min(shares):.2f} %")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
