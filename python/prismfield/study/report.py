# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Draws a study: study.report FOLDER

Reads FOLDER/study.json, and the results that it names for maps, and writes FOLDER/report.html, which needs no other
file, and FOLDER/figures/NAME.png and NAME.svg.
"""

import base64
import io
import pathlib

import jinja2
import matplotlib.pyplot as plt

from . import report_data
from .report_charts import PAGE_WIDTH, SETTINGS, all_charts
from .report_data import STATUS_WORDS, Study, axis_name, finite, same_text, short
from .study_files import Column, Table, study_tables
from .texts import write_file

PIXELS = PAGE_WIDTH * SETTINGS["figure.dpi"]


def table_of(title, heads, rows):
    """A table of texts, on the left, and of numbers, on the right, in columns whose heads end with #."""
    cells = zip(*rows) if rows else [()] * len(heads)
    return Table(title, [Column(head.removesuffix("#"), [*own], head[-1] != "#") for head, own in zip(heads, cells)])


def paper_table(study):
    """The papers' values beside those found at the same place: the best of them, if several are there."""
    rows = []
    for number, spec in enumerate(study.figures()):
        x, y = spec["x"], spec["y"]
        if y not in study.quantities:
            continue
        own = study.quantities[y]
        best_of = max if y in ("speed_up", "efficiency", "pairs_per_second") else min
        for source, name, values in study.paper_series(y, number == 0):
            for at, value in values.items():
                points = [p for p in study.points if same_text(study.label(p, x), at)]
                named = [p for p in points if name and any(same_text(name, t) for t in p["labels"].values())]
                good = [(q[0], p) for p in named or points if (q := study.quantity(p, y))]
                best, point = best_of(good, key=lambda pair: pair[0], default=(None, None))
                theirs = f"{short(value * own.factor)} {own.axis_unit}".strip()
                here = f"{short(best)} {own.axis_unit}".strip() if point else "not run"
                ratio = short(value * own.factor / best) if best else ""
                row = [source + (f": {name}" if name else ""), f"{axis_name(x)} {at}", own.words]
                rows.append([*row, theirs, here, ratio, study.point_text(point) if point else ""])
    heads = ("Paper", "At", "Quantity", "Paper's#", "Here#", "Paper's / here#", "Point")
    return table_of("Beside the paper", heads, rows)


def trace_table(study):
    rows = []
    for r in study.rows("trace"):
        largest, scale = r["largest"], r["scale"]
        relative = largest / scale if finite(largest) and finite(scale) and scale else None
        numbers = (str(r["n"]), short(r["rms"], 2), short(largest, 2), short(scale, 3), short(relative, 2))
        rows.append([study.point_text(study.by_id[r["point"]]), r["where"], *numbers])
    heads = ("Point", "Where", "Points#", "RMS (Eötvös)#", "Largest (Eötvös)#", "Scale (Eötvös)#", "Largest / scale#")
    return table_of("Trace", heads, rows)


def gaps_table(study):
    axes, points = study.varying(study.points), study.points
    reasons = report_data.gap_reasons(points)
    rows = [[state, why, study.named_points(points, gone, axes, len(gone))] for state, why, gone in reasons]
    return table_of("What did not run", ("State", "Why", "Points"), rows)


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
    for state in ("not run", "wrong", "failed", "out of budget"):
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
            tables=[paper_table(study), *study_tables(study.data), trace_table(study), gaps_table(study)],
            rules=rules_lines(study),
            machines=[
                (name, [(key.replace("_", " "), flat(value)) for key, value in known(machine)])
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
