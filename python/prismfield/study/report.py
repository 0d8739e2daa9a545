# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Draws a study: study.report FOLDER

Reads FOLDER/study.json, and the results that it names for maps, and writes FOLDER/report.html, which needs no other
file, and FOLDER/figures/NAME.png and NAME.svg.
"""

import base64
import io
import pathlib
from typing import NamedTuple

import jinja2
import matplotlib.pyplot as plt

from ..field_names import in_order
from ..figures.drawing import UNITS
from . import report_data
from .report_charts import PAGE_WIDTH, SETTINGS, all_charts, errors_of
from .report_data import STATUS_WORDS, Study, axis_name, finite, same_text, short
from .study_data import MEASURES
from .texts import write_file

PIXELS = PAGE_WIDTH * SETTINGS["figure.dpi"]


class Table(NamedTuple):
    """Cells are texts, or tuples of a text that is a number and stands on the right."""

    heads: list
    rows: list
    pale: set = frozenset()


def right(text):
    return (str(text),)


def with_interval(found, digits=3, unit=""):
    if found is None:
        return right("")
    middle, low, high = found
    text = short(middle, digits) + unit
    return right(text if low == high else f"{text} [{short(low, digits)}, {short(high, digits)}]")


def points_table(study):
    axes = study.varying(study.points) or list(study.axes)
    wanted = "field_seconds total_seconds pairs_per_second speed_up efficiency memory error fraction_of_peak energy"
    wanted = wanted.split()
    if study.command != "run":
        wanted += ["setup_seconds", *(measure.name for measure in MEASURES)]
    shown = [q for q in wanted if any(study.quantity(p, q) for p in study.points)]
    rows, pale = [], set()
    for number, point in enumerate(study.points):
        texts = [study.label(point, a) or "" for a in axes]
        state = STATUS_WORDS[point["status"]] + (", oversubscribed" if point["oversubscribed"] else "")
        if point["status"] != "ok":
            pale.add(number)
        row = [text if report_data.number_of(text) is None else right(text) for text in texts]
        row += [state.replace("not run", "not\N{NO-BREAK SPACE}run"), right(point["runs"] or "")]
        rows.append(row + [with_interval(study.quantity(point, q)) for q in shown])
    return Table([*map(axis_name, axes), "State", "Runs", *map(study.quantity_label, shown)], rows, pale)


def fits_table(study):
    def cell(law):
        serial = (law or {}).get("serial")
        found = [100 * law.get(key, serial) for key in ("serial", "low", "high")] if finite(serial) else None
        return right("no speed-up") if finite(serial) and serial > 1 else with_interval(found, 2, " %")

    rows = []
    for fit in study.fits:
        group = report_data.curve_name(fit["group"], fit["group"].values())
        rows.append([axis_name(fit["along"]), group, *map(cell, (fit["amdahl"], fit["gustafson"]))])
        rows[-1].append(right(len(fit["points"])))
    return Table(["Along", "For", "Serial fraction by Amdahl", "by Gustafson", "Points"], rows)


def errors_tables(study):
    """(words, table) of each kind of difference."""
    found = errors_of(study)
    names = study.varying_of(found)
    fields = in_order({f for rows in found.values() for f in rows})
    units = [next(own[f].get("unit", "") for own in found.values() if f in own) for f in fields]
    named = ", ".join(dict.fromkeys(UNITS.get(unit, unit) for unit in units))

    def rows(key):
        for i, own in found.items():
            values = (own.get(f, {}).get(key) for f in fields)
            yield [study.point_text(study.by_id[i], names), *(right(f"{v:.1e}" if finite(v) else "") for v in values)]

    kinds, heads = {"RMS difference": "rms_difference", "Largest difference": "largest_difference"}, ["Point", *fields]
    text = f"from the reference, {named}"
    return [(f"{words} {text}", Table(heads, list(rows(key)))) for words, key in kinds.items() if found]


def paper_table(study):
    """The papers' values beside those found at the same place: the best of them, if several are there."""
    rows = []
    for number, spec in enumerate(study.figures()):
        x, y = spec["x"], spec["y"]
        if y not in study.quantities:
            continue
        _, words, unit, factor = study.quantities[y]
        best_of = max if y in ("speed_up", "efficiency", "pairs_per_second") else min
        for source, name, values in study.paper_series(y, number == 0):
            for at, value in values.items():
                points = [p for p in study.points if same_text(study.label(p, x), at)]
                own = [p for p in points if name and any(same_text(name, t) for t in p["labels"].values())]
                good = [(q[0], p) for p in own or points if (q := study.quantity(p, y))]
                best, point = best_of(good, key=lambda pair: pair[0], default=(None, None))
                theirs = f"{short(value * factor)} {unit}".strip()
                here = f"{short(best)} {unit}".strip() if point else "not run"
                ratio = short(value * factor / best) if best else ""
                row = [source + (f": {name}" if name else ""), f"{axis_name(x)} {at}", words]
                rows.append([*row, *map(right, (theirs, here, ratio)), study.point_text(point) if point else ""])
    return Table(["Paper", "At", "Quantity", "Paper's", "Here", "Paper's / here", "Point"], rows)


def trace_table(study):
    rows = []
    for r in study.rows("trace"):
        largest, scale = r["largest"], r["scale"]
        relative = largest / scale if finite(largest) and finite(scale) and scale else None
        numbers = (r["n"], short(r["rms"], 2), short(largest, 2), short(scale, 3), short(relative, 2))
        rows.append([study.point_text(study.by_id[r["point"]]), r["where"], *map(right, numbers)])
    heads = ["Point", "Where", "Points", "RMS (Eötvös)", "Largest (Eötvös)", "Scale (Eötvös)", "Largest / scale"]
    return Table(heads, rows)


def gaps_table(study):
    axes, points = study.varying(study.points), study.points
    reasons = report_data.gap_reasons(points)
    rows = [[state, why, study.named_points(points, gone, axes, len(gone))] for state, why, gone in reasons]
    return Table(["State", "Why", "Points"], rows)


def known(record):
    """The keys and values of a machine's record, or of a part of it, that the machine stated."""
    return [(key, value) for key, value in record.items() if value not in (None, "", [], {})]


def flat(value):
    """A value of the machine record as text."""
    if isinstance(value, dict):
        return ", ".join(f"{k}: {flat(v)}" for k, v in known(value))
    if isinstance(value, list):
        return "; ".join(flat(v) for v in value)
    if isinstance(value, float):
        return short(value, 4)
    is_large = isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10000
    return f"{value:,}" if is_large else str(value)


def rules_lines(study):
    rules = study.data.get("rules") or {}
    lines = [f"The study is fixed by the hash {study.data['study_hash']}."] if study.data.get("study_hash") else []
    for problem in study.data.get("problems") or []:
        pairs = "" if problem["pairs"] is None else f"{problem['pairs']:,} pairs, "
        lines.append(f"Problem {problem['id']}: {pairs}hash {problem['hash']}.")
    if finite(rules.get("tolerance")):
        what = "model differs" if study.command == "invert" else "fields differ"
        size = f"more than {rules['tolerance']:g} of the largest value"
        lines.append(f"A run whose {what} from the reference by {size} has no speed.")
    if runs := study.runs_a_point():
        warmup = f"{rules.get('warmup', 0)} warm-ups before them, which do not count"
        lines.append(f"{report_data.range_text(runs)} timed runs a point, {warmup}.")
    if order := rules.get("order"):
        seed = f", seed {rules['seed']}" if order == "random" else ""
        lines.append(f"Order of the runs: {order.replace('_', ' ')}{seed}, repeat by repeat.")
    if rules.get("budget_forbade"):
        lines.append("The time budget forbade some repeats: such points have fewer runs, as their column says.")
    if runs and runs[0] < 5:
        lines.append("Fewer than five repeats: intervals are wide or missing, and small differences mean nothing.")
    lines += rules.get("notes") or []
    return [*lines, "Intervals are 95 %, by bootstrap of the median. Every run is in runs.csv."]


def in_short(study):
    states = [p["status"] for p in study.points]
    parts = [f"{states.count('ok')} of {len(states)} points ran"]
    for state in ("not run", "wrong", "failed", "too slow", "out of budget"):
        if states.count(state):
            parts.append(f"{states.count(state)} {STATUS_WORDS[state]}")
    if over := sum(p["oversubscribed"] for p in study.points if p["status"] == "ok"):
        parts.append(f"{over} oversubscribed")
    lines = [", ".join(parts) + "."]
    timed = [(q[0], p) for p in study.points if not p["oversubscribed"] and (q := study.quantity(p, "field_seconds"))]
    if len(timed) > 1 and len({p.get("problem") for _, p in timed}) == 1:
        seconds, fastest = min(timed, key=lambda pair: pair[0])
        of = {"sensitivity": "a product", "invert": "inversion"}.get(study.command, "field time")
        lines.append(f"Fastest: {study.point_text(fastest)}, {short(seconds)} s of {of}.")
    return lines


def write_html(study, pictures, problems):
    program = study.data.get("program") or {}
    version = " ".join(program[key] for key in ("version", "git") if program.get(key))
    when = " to ".join(t for t in dict.fromkeys([study.data.get("started"), study.data.get("ended")]) if t)
    reduced = "reduced size" if study.data.get("reduced") else ""
    parts = (", ".join(study.names), f"prismfield {version}" if version else "", when, reduced)
    template = pathlib.Path(__file__).with_name("report.html.j2").read_text(encoding="utf-8")
    text = (
        jinja2.Environment(autoescape=True, keep_trailing_newline=True)
        .from_string(template, {"zip": zip})
        .render(
            study=study,
            sub="  ·  ".join(filter(None, parts)),
            in_short=in_short(study),
            pictures=pictures,
            problems=problems,
            paper=paper_table(study),
            points=points_table(study),
            fits=fits_table(study),
            errors=errors_tables(study),
            trace=trace_table(study),
            gaps=gaps_table(study),
            rules=rules_lines(study),
            machines=[
                (name, Table(["", ""], [[key.replace("_", " "), flat(value)] for key, value in known(machine)]))
                for name, machine in zip(study.names, study.machines)
            ],
        )
    )
    write_file(study.folder / "report.html", text)


def draw(folder, tell):
    """Draws the study in a folder; `tell` gets a text before each figure."""
    plt.rcParams.update(SETTINGS)
    study = Study(folder)
    figures = study.folder / "figures"
    figures.mkdir(exist_ok=True)
    problems, pictures = [], []
    pages = list(all_charts(study, problems))
    for number, page in enumerate(pages, 1):
        tell(f"drawing {number} of {len(pages)}")
        contents = []
        for kind, metadata in (("png", None), ("svg", {"Date": None})):
            stream = io.BytesIO()
            # the same number of pixels, however wide a figure is
            dpi = (PIXELS + 1e-3) / page.figure.get_figwidth()
            page.figure.savefig(stream, format=kind, facecolor="white", metadata=metadata, dpi=dpi)
            write_file(figures / f"{page.name}.{kind}", stream.getvalue())
            contents.append(base64.b64encode(stream.getvalue()).decode())
        plt.close(page.figure)
        pictures.append((page, *contents))
    write_html(study, pictures, problems)


def main(words):
    """Draws the study in the folder words[0]."""
    draw(words[0], lambda text: print(text, flush=True))
