# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""`prismfield study STUDY.yaml`: plans, runs and reports. The program checked the options and passes itself."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .folder import ReportFolder
from .machine import Machine, record_machine
from .plan import Plan, Start, case_text, default_threads, plan_study
from .program import Program, RunError, Stopped, stop_at_signals
from .runner import StudyOutcome, run_study
from .runs import RunFiles, Runs, run_environment, run_words
from .spec import Spec, read_study_file
from .study_data import STATUSES
from .texts import Progress, counted, duration_text, exit_code_of, grouped, shown, write_file

MOST_NAMED, MOST_SHOWN = 3, 10
LONGEST_CALIBRATION = 300  # seconds
USUAL_ERROR, ENOUGH = 1e-6, 1e-5  # of single precision, and a tolerance that allows it


def warn(text: str) -> None:
    print(f"warning: {shown(text)}", file=sys.stderr, flush=True)


def say(text: str, quiet: bool) -> None:
    if not quiet:
        print(text, flush=True)


def grouped_by_reason(remarks: Iterable[tuple[str, str]]) -> list[str]:
    """A line per reason with the first of its points: "point 2 (1, cuda), point 4 (2, cuda): no space cuda"."""
    lines = []
    for why, same in grouped(remarks, lambda remark: remark[1]).items():
        more = f" and {len(same) - MOST_NAMED:,} more" if len(same) > MOST_NAMED else ""
        lines.append(f"{', '.join(who for who, _ in same[:MOST_NAMED])}{more}: {why}")
    return lines


def calibrate(spec: Spec, machine: Machine, program: Program) -> dict[str, Any]:
    """The measured limits of the machine, {} where the program does not say them."""
    environment = run_environment(spec, machine, Start(threads=default_threads(machine, 1)))
    try:
        answer = json.loads(program.ask("info", "--calibrate", environment=environment, timeout=LONGEST_CALIBRATION))
    except (RunError, ValueError, OSError, subprocess.TimeoutExpired):
        return {}
    return answer if isinstance(answer, dict) else {}


def check_text(spec: Spec, plan: Plan) -> str:
    remarks = [(str(planned.point), why) for planned in plan.points if (why := plan.why_not(planned))]
    lines = [f"{shown(str(spec.file))}: no errors found; {plan.text(spec)}"]
    lines += [f"  not run: {shown(line)}" for line in grouped_by_reason(remarks)]
    if spec.launcher:
        lines.append(f"  ranks are started by: {shown(' '.join(spec.launcher))}")
    return "\n".join(lines)


def dry_run_text(spec: Spec, plan: Plan, machine: Machine, program: Program) -> str:
    """A table of the points, and how the first of them is started."""
    lines = [shown(spec.title), plan.text(spec), f"on {shown(machine.name)}: {shown(machine.kind)}"]
    width = max([6, *(len(shown(", ".join(planned.point.labels))) for planned in plan.points)])

    def add(*cells: Any) -> None:
        point, values, ranks, threads, memory, fields, remark = cells
        line = f"  {point:>5}  {values:<{width}}  {ranks:>5} {threads:>7}  {memory:>8}  {fields:>12}  {remark}"
        lines.append(line.rstrip(" "))

    add("point", "values", "ranks", "threads", "memory", "fields", "")
    runs, known = Runs(spec, machine, program), {}
    total, first = 0.0, None
    with tempfile.TemporaryDirectory(prefix="prismfield-") as folder:
        for planned in plan.points:
            start, number = planned.job.start, planned.job.case
            why = plan.why_not(planned)
            seconds, memory = float("nan"), ""
            if not why:
                first = first or planned
                key = (number, start.ranks, start.threads, start.devices)
                if key not in known:
                    files = RunFiles(*(Path(folder) / name for name in (f"case-{number + 1}.yaml", "r.h5", "log")))
                    write_file(files.input, case_text(spec, plan.cases[number], Path(folder)))
                    known[key] = runs.estimate(planned.job, files)
                seconds, memory = known[key]
            # sensitivity and invert say of no run how long it takes
            has_time = seconds == seconds
            total += seconds * (spec.repeats + spec.warmup) if has_time else 0
            remark = f"not run: {shown(why)}" if why else "oversubscribed" if start.oversubscribed else ""
            labels = shown(", ".join(planned.point.labels))
            time = duration_text(seconds) if has_time else ""
            add(planned.point.id, labels, start.ranks, start.threads, memory, time, remark)
    if first:
        if total > 0:
            lines.append(f"fields of all runs but references: {duration_text(total)}")
        start = first.job.start
        environment = run_environment(spec, machine, start)
        names = [name for name in ("OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES") if name in environment]
        files = RunFiles(Path("CASE.yaml"), Path("RESULT.h5"), Path())
        words = [f"{name}={environment[name]}" for name in names] + run_words(spec, machine, program, start, files)
        lines.append(f"point {first.point.id} is started as\n  {shown(' '.join(words))}")
    return "\n".join(lines)


def report_outcome(outcome: StudyOutcome, folder: Path, quiet: bool) -> bool:
    """What became of the runs, on standard output and standard error; whether none failed."""

    def report(kind: str, lines: list[str]) -> None:
        for line in lines[:MOST_SHOWN]:
            print(f"{kind}: {shown(line)}", file=sys.stderr)
        if len(lines) > MOST_SHOWN:
            print(f"{kind}: and {len(lines) - MOST_SHOWN:,} more like this", file=sys.stderr)

    remarks = {status: grouped_by_reason(found) for status, found in outcome.remarks.items()}
    if not quiet:
        report("note: not run", remarks.get("not run", []))
    warnings = [f"in {counted(n, 'run')}: {text.partition(': ')[2]}" for text, n in sorted(outcome.warnings.items())]
    report("warning", warnings)
    report("warning: no speed, beyond the tolerance", remarks.get("wrong", []))
    if n := outcome.out_of_budget:
        points = f"{counted(n, 'point')} {'is' if n == 1 else 'are'} without all of their repeats"
        warn(f"the time budget was spent: {points}; --resume with a larger time_budget goes on")
    report("error: failed", remarks.get("failed", []))
    if "failed" in remarks:
        print(f"error: {shown(str(folder / 'logs'))} has what these runs printed", file=sys.stderr)
    sys.stderr.flush()
    counts = ", ".join(f"{outcome.runs[status]:,} {status}" for status in STATUSES if outcome.runs[status])
    made, rows = counted(outcome.made_now, "run"), counted(outcome.runs.total(), "row")
    say(f"{shown(str(folder / 'runs.csv'))}: {made} made now; of {rows} in all: {counts}", quiet)
    return "failed" not in remarks


def warn_before(options: argparse.Namespace, spec: Spec, plan: Plan) -> None:
    """Of points that will have no speed, and of a folder outside the working folder that the user did not name."""
    n = sum(planned.is_rounded for planned in plan.points)
    if n and spec.tolerance < USUAL_ERROR:
        points = f"{counted(n, 'point')} {'is' if n == 1 else 'are'} in single precision"
        beyond = f"beyond the tolerance, {spec.tolerance:g}, a point has no speed: write tolerance: {ENOUGH:g}"
        warn(f"{points}, whose errors are 1e-7 to {USUAL_ERROR:g} of the largest value and more; {beyond}")
    folder = os.path.realpath(spec.report)
    if not options.output and os.path.commonpath([folder, os.path.realpath(".")]) != os.path.realpath("."):
        warn(f"report of {options.file} is outside the working folder: {folder}")


def finish(options: argparse.Namespace, folder: str) -> int:
    """Makes the report by the tool study.finish, a process of its own; returns its exit code."""
    quiet = ["--quiet"] if options.quiet else []
    words = [f"--version={options.version}", f"--git={options.git}", *quiet, "--", folder]
    code = subprocess.run([sys.executable, "-B", sys.argv[0], "study.finish", *words]).returncode
    if code not in (0, 2):
        print("error: the runs are kept: the same command with --resume writes the report", file=sys.stderr)
    return code if code in (0, 2) else 1


def run_and_report(options: argparse.Namespace, spec: Spec, plan: Plan, machine: Machine, program: Program) -> int:
    folder = ReportFolder(spec, plan, machine, options.resume)
    try:
        folder.take()
        name, quiet = shown(str(folder.path)), options.quiet
        if folder.replaces:
            goes_on = "which are replaced; --resume goes on from them. Their tables stay in"
            warn(f"{name} has runs of this study, {goes_on} {folder / 'previous'}")
        if options.resume and not folder.goes_on:
            say(f"{name}: no runs yet, the study begins at its start", quiet)
        say(f"{shown(spec.title)}\n{plan.text(spec)}; to {name}", quiet)
        if not folder.goes_on and (limits := calibrate(spec, machine, program)):
            machine.record["calibration"] = limits
        folder.begin(program)
        with Progress(quiet) as progress:
            outcome = run_study(spec, plan, machine, program, folder, progress.show)
        folder.remove_work()
        all_done = report_outcome(outcome, folder.path, quiet)
        code = finish(options, str(folder.path))
        return code or (0 if all_done else 1)
    finally:
        folder.release()


def study(options: argparse.Namespace) -> int:
    program = Program(options.program, options.kokkos)
    info = program.info()
    if options.kokkos:
        info["kokkos_options"] = " ".join(options.kokkos)
    spec = read_study_file(options.file, info["case_keys"], options.set, options.output, options.reduced)
    machine = record_machine(info, options.machine)
    plan = plan_study(spec, machine, program)
    ReportFolder(spec, plan, machine, options.resume).holds_this_study()
    warn_before(options, spec, plan)
    if options.dry_run:
        if not options.quiet:
            say(dry_run_text(spec, plan, machine, program), False)
        return 0
    if options.check:
        say(check_text(spec, plan), options.quiet)
        return 0
    return run_and_report(options, spec, plan, machine, program)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="study.command", description=__doc__, allow_abbrev=False)
    parser.add_argument("file", metavar="STUDY.yaml")
    parser.add_argument("--program", help="the file of prismfield, which every run starts")
    parser.add_argument("--kokkos", action="append", default=[], metavar="OPTION", help="of every run")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    for name in ("output", "machine", "version", "git"):
        parser.add_argument(f"--{name}", default="")
    for name in ("reduced", "check", "dry-run", "resume", "quiet"):
        parser.add_argument(f"--{name}", action="store_true")
    options = parser.parse_args(words)
    stop_at_signals()
    try:
        return exit_code_of(lambda: study(options))
    except Stopped as stopped:
        print(str(stopped) or "stopped by a signal", file=sys.stderr)
        return 130
    except RunError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
