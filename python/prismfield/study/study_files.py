# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""An analysed study as JSON, HDF5 and for the P3 Analysis Library; what study.json holds as tables and FOM lines."""

import csv
import dataclasses
import io
import math
import re
import textwrap

import h5py
import numpy

from ..field_names import UNITS, in_order, is_field
from .analysis import fast_points, has_speed, kept_labels, platform_of
from .spec import last_word
from .study_data import ERROR_COLUMNS, FORMS, MEASURES, POINT_TABLES, SAMPLES, csv_lines, quantities_of
from .texts import counted, grouped, json_text, number_text, short_text, shown

TERMINAL_WIDTH = 80
LONGEST_LABEL = 28


@dataclasses.dataclass
class Column:
    heading: str
    cells: list[str]
    # Text is on the left, numbers on the right; columns of text come first and are never left out.
    is_text: bool = False

    @property
    def width(self):
        return max(len(shown(cell)) for cell in [self.heading, *self.cells])


@dataclasses.dataclass
class Table:
    """Columns of the same number of cells; those of numbers without a value in any row are left out."""

    title: str
    columns: list[Column]

    def __post_init__(self):
        self.columns = [c for c in self.columns if c.is_text or any(c.cells)]

    @property
    def header(self):
        return [column.heading for column in self.columns]

    @property
    def rows(self):
        return [list(row) for row in zip(*(column.cells for column in self.columns))]

    @property
    def width(self):
        return sum(column.width for column in self.columns) + 2 * (len(self.columns) - 1)


def interval_text(found, factor=1):
    """A median or an estimate of study.json."""
    if found is None:
        return ""
    low, high = (short_text(found[key], factor=factor) for key in ("low", "high"))
    middle = short_text(middle_of(found), factor=factor)
    return f"{middle} ({low} to {high})" if low and high else middle


def middle_of(found):
    """The number of a part of study.json, which may have an interval."""
    return found.get("median", found.get("value")) if isinstance(found, dict) else found


def settings_text(settings, between=", "):
    return between.join(f"{key}={text}" for key, text in settings.items())


def machines_of(study):
    return study.get("machines") or [study["machine"]]


def axes_of(study):
    """The names of the axes, with that of machines in a joined study."""
    return (["machine"] if "machines" in study else []) + [axis["name"] for axis in study["axes"]]


def label_of(point, axis):
    return point["machine"] if axis == "machine" else point["labels"][axis]


def axis_columns(study, points):
    axes = axes_of(study)
    if not axes:
        return [Column("point", [str(point["id"]) for point in points], True)]
    return [Column(axis, [label_of(point, axis) for point in points], True) for axis in axes]


def state_of(point):
    state = "" if point["status"] == "ok" else point["status"]
    if point["why"]:
        state += (": " if state else "") + point["why"]
    if point["oversubscribed"]:
        state += ", oversubscribed" if state else "oversubscribed"
    return state


def number_columns(study, points, on_terminal=False):
    """Columns of the numbers of points, on a terminal of those that are looked at first."""
    columns = [Column("runs", [str(point["runs"] or "") for point in points])]
    for own in quantities_of(study["command"]).values():
        if not own.heading or (on_terminal and not own.on_terminal):
            continue
        if own.interval == "all" or (own.interval and not on_terminal):
            cells = [interval_text(own.of(point), own.factor) for point in points]
        else:
            cells = [short_text(middle_of(own.of(point)), own.digits, own.factor) for point in points]
        columns.append(Column(own.heading, cells))
    return columns


def serial_text(law):
    """More than all of it is no share: the run got slower."""
    if law is None:
        return ""
    found = {"value": law["serial"], "low": law.get("low"), "high": law.get("high")}
    return "no speed-up" if law["serial"] > 1 else interval_text(found, 100)


def fit_table(study, groups=None):
    """Serial fractions; `groups` says what each is of, otherwise all labels of its group do."""
    fits = study["fits"]
    groups = groups or [settings_text(fit["group"]) for fit in fits]
    columns = [
        Column("along", [fit["along"] for fit in fits], True),
        *([Column("of", groups, True)] if any(groups) else []),
        Column("Amdahl (%)", [serial_text(fit["amdahl"]) for fit in fits]),
        Column("Gustafson (%)", [serial_text(fit["gustafson"]) for fit in fits]),
        Column("time of one (s)", [short_text(fit["seconds_of_one"]) for fit in fits]),
        Column("points", [str(len(fit["points"])) for fit in fits]),
    ]
    return Table("Serial fractions", columns)


def error_table(study, title, number):
    """One number of every field, a row per point."""
    errors = {(error["point"], error["field"]): error for error in study["errors"]}
    units = {error["field"]: UNITS.get(error["unit"], error["unit"]) for error in study["errors"] if error["unit"]}
    with_errors = {error["point"] for error in study["errors"] if is_field(error["field"])}
    points = [point for point in study["points"] if point["id"] in with_errors]
    columns = axis_columns(study, points)
    for field in in_order({error["field"] for error in study["errors"]}):
        own = [errors.get((point["id"], field)) for point in points]
        heading = f"{field} ({units[field]})" if field in units and number != "relative" else field
        columns.append(Column(heading, [short_text(e[number], 3) if e else "" for e in own]))
    return Table(title, columns)


def portability_table(study):
    rows = study["portability"]
    columns = [
        Column("problem", [row["problem"][:12] for row in rows], True),
        Column("application", [settings_text(row["application"]) for row in rows], True),
        Column("efficiency", [row["efficiency"] for row in rows], True),
    ]
    for platforms in zip(*(row["platforms"] for row in rows)):
        cells = [short_text(own["efficiency"], 3, 100) for own in platforms]
        columns.append(Column(platforms[0]["platform"], cells))
    columns.append(Column("harmonic mean", [short_text(row["value"], 3, 100) for row in rows]))
    return Table("Performance portability (%)", columns)


def study_tables(study):
    """Points, serial fractions, errors by field and performance portability, each where there is any."""
    points = study["points"]
    columns = axis_columns(study, points) + number_columns(study, points)
    tables = [
        Table("Points", [*columns, Column("state", [state_of(point) for point in points])]),
        fit_table(study),
        error_table(study, "RMS difference from the reference", "rms_difference"),
        error_table(study, "Largest difference from the reference", "largest_difference"),
        error_table(study, "Largest difference, relative to the largest value", "relative"),
        portability_table(study),
    ]
    return [table for table in tables if table.rows]


# ---- Markdown and LaTeX


def markdown_text(text):
    """Text of users outside tables, of which nothing is taken for a heading, a link or an image."""
    return re.sub(r"([\\`*_\[\]<>])", r"\\\1", shown(text))


def markdown(table):
    def line(cells):
        # what looks like HTML would be taken for it
        return f"| {' | '.join(shown(cell).replace('|', bar).replace('<', '&lt;') for cell in cells)} |\n"

    bar = "\\|"
    rule = "|".join("---" if column.is_text else "---:" for column in table.columns)
    return f"## {markdown_text(table.title)}\n\n{line(table.header)}|{rule}|\n{''.join(map(line, table.rows))}"


def tables_as_markdown(study):
    """The tables with title, machines and notes."""
    rules = study["rules"]
    text = f"# {markdown_text(study['title'])}\n\n"
    for machine in machines_of(study):
        name, version, git = (markdown_text(machine[key]) for key in ("name", "version", "git"))
        text += f"- {name}: prismfield {version} (git {git})\n"
    text += (
        f"- medians of {rules['repeats']} repeats after {counted(rules['warmup'], 'warm-up')}, in brackets 95 %"
        f" intervals by bootstrap; accuracy gate {rules['tolerance']:g}\n"
    )
    text += "".join("\n" + markdown(table) for table in study_tables(study))
    if rules["notes"]:
        text += "\n## Notes\n\n" + "".join(f"- {markdown_text(note)}\n" for note in rules["notes"])
    return text


LATEX = {c: "\\" + c for c in "&%$#_{}"} | {
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "\\": "\\textbackslash{}",
}


def latex_cell(text):
    """Text for LaTeX; 1.2e-09 is written as a power of ten."""
    parts = re.split(r"(?<=\d)e([-+]\d+)", shown(text))
    parts[::2] = ["".join(LATEX.get(c, c) for c in part) for part in parts[::2]]
    parts[1::2] = [f"$\\times 10^{{{int(power[:5])}}}$" for power in parts[1::2]]
    return "".join(parts)


def latex(table, title):
    def line(cells):
        return f"    {' & '.join(map(latex_cell, cells))} \\\\\n"

    return (
        f"\\begin{{table}}\n  \\centering\n  \\caption{{{latex_cell(f'{title}: {table.title}')}}}\n"
        f"  \\begin{{tabular}}{{{''.join('l' if column.is_text else 'r' for column in table.columns)}}}\n"
        f"    \\hline\n{line(table.header)}    \\hline\n{''.join(map(line, table.rows))}    \\hline\n"
        "  \\end{tabular}\n\\end{table}\n"
    )


def tables_as_latex(study):
    """The tables alone, each a table environment that needs no package."""
    return "\n".join(latex(table, study["title"]) for table in study_tables(study))


# ---- the terminal


def cut(text, longest=LONGEST_LABEL):
    return text if len(text) <= longest else text[: longest - 2] + ".."


def wrapped(text):
    """Lines of a terminal's width, those behind the first set in."""
    lines = textwrap.wrap(text, TERMINAL_WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def short_axis(study, axis):
    """The last part of a key path, where no other axis ends the same."""
    last = last_word(axis)
    return last if [last_word(other) for other in axes_of(study)].count(last) == 1 else axis


def labels_text(study, point, axes):
    parts = [f"{short_axis(study, axis)}={cut(shown(label_of(point, axis)))}" for axis in axes]
    return ", ".join(parts) or f"point {point['id']}"


def narrow(table, least):
    """Leaves columns out of a table that is too wide for a terminal, `least` first, then cuts its widest texts."""
    for heading in least:
        if table.width > TERMINAL_WIDTH:
            table.columns = [column for column in table.columns if column.heading != heading]
    for longest in range(LONGEST_LABEL, 7, -1):
        if table.width <= TERMINAL_WIDTH:
            break
        for column in table.columns:
            if column.is_text:
                column.cells = [cut(shown(cell), longest) for cell in column.cells]
    return table


def terminal_point_table(study, varying):
    """The points that have numbers, with what tells them apart and what is looked at first."""
    points = [p for p in study["points"] if p["runs"] or p["largest_error"] is not None]
    columns = [
        Column(short_axis(study, axis), [cut(shown(label_of(point, axis))) for point in points], True)
        for axis in varying
    ] or [Column("point", [str(point["id"]) for point in points], True)]
    states = [p["status"] if p["status"] != "ok" else "oversubscribed" if p["oversubscribed"] else "" for p in points]
    table = Table("Points", [*columns, *number_columns(study, points, True), Column("state", states)])
    least = ("peak memory (MB)", "of peak (%)", "efficiency (%)", "runs", "RMS residual / sigma", "G' d (s)", "pairs/s")
    return narrow(table, (*least, "largest error", "G m anew (s)"))


def terminal_fit_table(study, varying):
    """The serial fractions, told apart by what differs between them."""
    varied = [{axis: label for axis, label in fit["group"].items() if axis in varying} for fit in study["fits"]]
    groups = [
        settings_text({short_axis(study, axis): cut(shown(label)) for axis, label in group.items()}) for group in varied
    ]
    return narrow(fit_table(study, groups), ("points", "time of one (s)", "along"))


def aligned(table):
    """Columns side by side, text on the left, numbers on the right."""
    text = ""
    for cells in (table.header, *table.rows):
        padded = []
        for column, cell in zip(table.columns, map(shown, cells)):
            left = column.is_text or column.heading == "state"
            padded.append(cell.ljust(column.width) if left else cell.rjust(column.width))
        text += "  ".join(padded).rstrip() + "\n"
    return text


def gaps_text(study, varying):
    """Why points have no numbers, a line per reason; reasons that differ in their digits alone are one."""
    gaps = (point for point in study["points"] if point["status"] != "ok")
    reasons = grouped(gaps, lambda point: (point["status"], re.sub(r"\d", "", point["why"])))
    text = ""
    for (status, _), points in reasons.items():
        where = labels_text(study, points[0], varying)
        which = where if len(points) == 1 else f"{len(points)} points, the first {where}"
        text += wrapped(f"{status}: {which}{': ' if points[0]['why'] else ''}{shown(points[0]['why'])}")
    return text


def tables_as_text(study):
    """The points and serial fractions for a terminal: what is the same everywhere stands above, why points have no
    numbers below, and what does not fit is in tables_as_markdown alone."""
    points = study["points"]
    varying = [axis for axis in axes_of(study) if len({label_of(point, axis) for point in points}) > 1]
    same = [axis for axis in axes_of(study) if axis not in varying]
    parts = [wrapped("everywhere: " + labels_text(study, points[0], same))] if points and same else []
    tables = (terminal_point_table(study, varying), terminal_fit_table(study, varying))
    parts += [aligned(table) for table in tables if table.rows]
    parts += [gaps_text(study, varying), "".join(wrapped("note: " + shown(note)) for note in study["rules"]["notes"])]
    return "\n".join(part for part in parts if part)


# ---- figures of merit


def p3_csv(study):
    """Columns as the P3 Analysis Library reads them, a row per timed run: pairs per second of the fastest point of each
    application, problem and platform."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("date", "fom", "application", "problem", "platform"))

    def place(point):
        return platform_of(point), point["problem"], tuple(kept_labels(study, point).items())

    for points in grouped(fast_points(study), place).values():
        point = max(points, key=lambda point: middle_of(point["pairs_per_second"]))
        application = " ".join(["prismfield", settings_text(kept_labels(study, point), " ")]).strip()
        for run in study.runs:
            if run.point == point["id"] and run.kind == "timed" and run.status == "ok" and run.pairs_per_second > 0:
                rate = number_text(run.pairs_per_second)
                problem = f"{study.title} {point['problem'][:12]}"
                writer.writerow((run.started, rate, application, problem, platform_of(point)))
    return text.getvalue()


def fom_lines(study):
    """A line `FOM name[labels]: value unit` for each figure of merit of each point that ran."""
    text = ""
    for point in filter(has_speed, study["points"]):
        labels = {axis: label_of(point, axis) for axis in axes_of(study)}
        place = shown(settings_text(labels, ",")).replace(":", "=")  # a colon ends the name
        place = f"[{place}]" if place else ""
        for own in quantities_of(study["command"]).values():
            if (value := middle_of(own.of(point))) is not None:
                text += f"FOM {own.name}{place}: {number_text(value)} {own.unit}\n"
    return text


def errors_csv(study):
    """errors.csv: a line per point and field."""
    return csv_lines([ERROR_COLUMNS, *([row[name] for name in ERROR_COLUMNS] for row in study.errors)])


# ---- JSON


def problem_list(study):
    pairs = {}
    for point in filter(lambda point: point["problem"], study.points):
        pairs[point["problem"]] = max(point["pairs"] or -1, pairs.get(point["problem"], -1))
    return [{"id": name, "hash": name, "pairs": None if most < 0 else most} for name, most in pairs.items()]


def study_json(study, analysed_by):
    """The text of study.json; `analysed_by`: version and git hash of the program that analysed it."""
    machines, rules = study.machines, vars(study.rules)
    root = {
        "schema": "prismfield-study",
        "version": 1,
        "title": study.title,
        "command": study.rules.command,
        "study_hash": study.hash,
        "program": {key: machines[0][key] for key in ("version", "git")},
        "analysed_by": analysed_by,
        **{name: getattr(study, name) for name in ("started", "ended", "reduced")},
        **({"machines": machines} if study.joined else {"machine": machines[0]}),
        "rules": {key: value for key, value in rules.items() if key != "command"},
        "axes": [{"name": axis.name, "values": axis.values} for axis in study.axes],
        "problems": problem_list(study),
        **{name: getattr(study, name) for name in ("points", "fits", *POINT_TABLES, "portability", "figures")},
        "compare_with": study.compare_with,
    }
    return json_text(root, 1)


# ---- HDF5: groups points, runs and errors, whose variables have one dimension, as in netCDF-4


# of a name that holds the word; others have none
DIMENSIONS = {"_seconds": "s", "busy_": "s", "_bytes": "byte", "_joules": "J", "_per_second": "s-1", "_rate": "s-1"}
DIMENSIONS["intensity"] = "byte-1"
COUNTS = "ranks threads devices slots batch block pairs".split()


def label_values(texts):
    """Labels of an axis: numbers where all are, otherwise words."""
    try:
        return list(map(float, texts))
    except ValueError:
        return texts


def unit_of(name):
    return next((unit for word, unit in DIMENSIONS.items() if word in name and not name.startswith("axis_")), "1")


def write_group(file, name, dimension, columns):
    """A group whose variables have one dimension, of its own name; words are places in a list, an attribute."""
    group = file.create_group(name, track_order=True)
    n = len(columns[0][1])
    scale = group.create_dataset(dimension, (n,), ">f4")
    scale.make_scale(f"This is a netCDF dimension but not a netCDF variable.{n:10}")
    scale.attrs["_Netcdf4Dimid"] = numpy.int32(len(file) - 1)
    for column, values in columns:
        words = {text: place for place, text in enumerate(dict.fromkeys(values)) if isinstance(text, str)}
        values = [words[text] for text in values] if words else values
        kind = "i8" if all(isinstance(value, int) for value in values) else "f8"
        dataset = group.create_dataset(column, data=numpy.array(values, kind), fletcher32=True)
        dataset.dims[0].attach_scale(scale)
        dataset.attrs["units"] = numpy.bytes_(unit_of(column))
        if words:
            dataset.attrs["flag_values"] = numpy.arange(len(words), dtype="f8")
            # meanings are told apart by blanks
            meanings = " ".join(text.replace(" ", "_") or "_" for text in words)
            dataset.attrs["flag_meanings"] = numpy.bytes_(meanings.encode("utf-8", "surrogateescape"))


def columns_of(points, names):
    """(name, values) of members of the points, three of one that has an interval; -1 for a count that is not known."""
    for name in names:
        values = [point[name] for point in points]
        if name in (*SAMPLES, "speed_up", "efficiency", "karp_flatt"):
            yield name, [middle_of(value) if value else math.nan for value in values]
            for end in ("low", "high"):
                yield f"{name}_{end}", [value[end] if value else math.nan for value in values]
        else:
            yield name, [-1 if value is None and name in COUNTS else value for value in values]


def measured(study):
    """What the runs of the study's command report beside times and memory."""
    return [measure.name for measure in MEASURES] if study.rules.command != "run" else []


def columns_of_points(study):
    points = study.points
    # no axis takes the name of another column
    labels = ((f"axis_{axis.name.replace('/', '_')}", [p["labels"][axis.name] for p in points]) for axis in study.axes)
    sized = ("memory_bytes", "scratch_bytes", "energy_joules", "largest_error", "load", "core_seconds")
    rates = ("double_operations", "single_operations", "arithmetic_rate", "fraction_of_peak")
    return [
        *columns_of(points, ("id", "machine")),
        *((name, label_values(texts)) for name, texts in labels),
        *columns_of(points, "status oversubscribed runs problem space device partition precision kernel".split()),
        *columns_of(points, [*COUNTS, *SAMPLES, "speed_up", "efficiency", "karp_flatt"]),
        *columns_of(points, [*sized, *measured(study), *rates]),
        ("intensity", [point["roofline"]["intensity"] if point["roofline"] else math.nan for point in points]),
    ]


def columns_of_runs(study):
    runs = study.runs
    numbers = "setup_seconds field_seconds output_seconds total_seconds process_seconds processor_seconds busy_least"
    numbers += " busy_most pairs_per_second energy_joules load largest_error"
    counts = ["peak_memory_bytes", "scratch_bytes", "pairs", *(f"pairs_{form}" for form in FORMS)]
    # times of fields that are not those asked for are no speed; runs.csv alone keeps them
    wrong = {point["id"] for point in study.points if point["status"] == "wrong"}
    hidden = [run.kind != "reference" and run.point in wrong for run in runs]

    def column(name):
        return name, [getattr(run, name) for run in runs]

    return [
        ("number", [run.run for run in runs]),
        *map(column, ("point", "repeat", "kind", "status", "started")),
        *(
            (name, [math.nan if h and unit_of(name) not in ("1", "byte") else float(v) for v, h in zip(values, hidden)])
            for name, values in map(column, [*numbers.split(), *measured(study)])
        ),
        *map(column, counts),
    ]


def write_study_hdf5(study, text, name):
    """Writes a file of this name; `text`: that of study.json, which it holds too."""
    with h5py.File(name, "w", track_order=True) as file:
        file.attrs["title"] = shown(study.title)
        file.attrs["schema"] = numpy.bytes_("prismfield-study")
        file.attrs["version"] = 1
        if study.points:
            write_group(file, "points", "point", columns_of_points(study))
        if study.runs:
            write_group(file, "runs", "run", columns_of_runs(study))
        if study.errors:
            columns = [(name, [row[name] for row in study.errors]) for name in ERROR_COLUMNS]
            write_group(file, "errors", "error", columns)
        file["study"] = text
