# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Makes every run of a study that its folder does not hold yet, and adds a row each to runs.csv.

A run whose row is not there was not made: the row is the last that a run writes.
"""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from math import nan
from pathlib import Path

from . import runs
from .folder import ReportFolder
from .machine import Machine
from .plan import Plan, PlannedPoint, PlannedRun, case_text
from .program import Program, Stopped
from .runs import RunFiles, Runs, warnings_in
from .spec import Spec
from .study_data import Row, RunRow, append_lines, point_line, read_points, read_runs, run_header, run_line
from .texts import InputError, Problem, duration_text, shown, write_file

IS_ALLOWED = " is allowed"
MOST_FAILURES = 2
Key = tuple[str, int, int]  # kind, point, repeat
Tell = Callable[[float, str], None]


def has_fields(row: RunRow) -> bool:
    """Whether a run brought fields, which a wrong one did too."""
    return row.status in ("ok", "wrong")


def judge_error(row: RunRow, tolerance: float, what: str) -> None:
    """Gives a row with an error the status and the reason that it has by the tolerance; `what` differs."""
    row.status, row.why = "ok", ""
    if not row.largest_error <= tolerance:
        sizes = f"{row.largest_error:.2g} of its largest value, {tolerance:.2g}"
        row.status, row.why = "wrong", f"{what} differs from the reference by {sizes}{IS_ALLOWED}"


def judge_again(row: RunRow, tolerance: float) -> None:
    """Judges a row of runs.csv anew, as the tolerance may be another one. What no tolerance allows stays wrong."""
    is_wrong = row.status == "wrong" and row.why.endswith(IS_ALLOWED)
    if not math.isnan(row.largest_error) and (row.status == "ok" or is_wrong):
        judge_error(row, tolerance, row.why.partition(" differs")[0] if is_wrong else "its result")


@dataclass
class PointState:
    """What is known of a point from its runs until now."""

    failures: int = 0
    failed_run: int = 0  # number of the run that failed last
    is_out: bool = False  # its one row says that it is not run
    has_fields: bool = False
    has_tables: bool = False
    seconds: float = 0
    runs: int = 0

    def mean(self, otherwise: float) -> float:
        return self.seconds / self.runs if self.runs else otherwise


@dataclass
class StudyOutcome:
    """What became of a study's runs."""

    runs: Counter[str] = field(default_factory=Counter)  # of the whole study by status
    made_now: int = 0
    # points, and references, by status, with their reasons
    remarks: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    out_of_budget: int = 0  # points that lack timed runs because the time was spent
    warnings: Counter[str] = field(default_factory=Counter)  # of runs that went well


class Runner:
    def __init__(self, spec: Spec, plan: Plan, machine: Machine, program: Program, folder: ReportFolder, tell: Tell):
        self.spec, self.plan, self.machine, self.folder, self.program = spec, plan, machine, folder, program
        self.show = tell
        self.runs = Runs(spec, machine, program)
        self.planned = plan.schedule(spec)
        self.points = {planned.point.id: planned for planned in plan.points}
        self.states = {number: PointState() for number in self.points}
        self.all = PointState()
        self.problem_numbers = {problem.hash: i for i, problem in enumerate(plan.problems)}
        self.references: dict[int, str] = {}  # by problem, why it failed, "" for one that is there
        self.rows: list[RunRow] = []
        self.done: set[Key] = set()
        self.cases_written: set[int] = set()
        self.warnings: Counter[str] = Counter()
        self.last_run = self.made_now = 0
        self.spent = 0.0
        self.with_measures = spec.command != "run"
        self.axes = [axis.name for axis in spec.axes]

    def point_of(self, run: PlannedRun) -> PlannedPoint:
        return self.plan.points[run.point]

    def key_of(self, run: PlannedRun) -> Key:
        return run.kind, self.point_of(run).point.id, run.repeat

    def state_of(self, run: PlannedRun) -> PointState:
        return self.states[self.point_of(run).point.id]

    def reference_file(self, problem: int) -> Path:
        folder = "results" if self.spec.keeps_results else "work"
        return self.folder / folder / f"reference-{self.plan.problems[problem].hash}.h5"

    def files_for(self, run: int, number: int) -> RunFiles:
        file = self.folder / "cases" / f"case-{number + 1}.yaml"
        # anew, because the folder may have moved since it was written
        if number not in self.cases_written:
            self.cases_written.add(number)
            write_file(file, case_text(self.spec, self.plan.cases[number], self.folder / "cases"))
        return RunFiles(file, self.folder / "work" / f"run-{run}.h5", self.folder / "logs" / f"run-{run}.txt")

    # ---- rows that there are

    def is_kept(self, row: RunRow) -> bool:
        """Whether a row that was found is of a run that need not be made again."""
        # what was spent, and what can run here, is found anew; what failed is tried again
        if row.status in ("out of budget", "failed"):
            return False
        if row.kind == "reference":
            return row.problem in self.problem_numbers and has_fields(row)
        if row.point not in self.points:
            return False
        return row.status != "not run" or row.why == shown(self.plan.why_not(self.points[row.point]))

    def load(self) -> None:
        """Takes the rows of runs.csv that count; it then has no others, and points.jsonl no points without them."""
        file = self.folder / "runs.csv"
        found: list[RunRow] = []
        # without it points.jsonl may still be there: a study that is replaced is moved table by table
        if file.exists():
            axes, found, _ = read_runs(file)
            if axes != self.axes:
                raise InputError([Problem(f"{file}:1", "", "has other axes than the study")])
        seen: dict[Key | str, RunRow] = {}
        for row in filter(self.is_kept, found):
            is_reference = row.kind == "reference"
            if not is_reference:
                judge_again(row, self.spec.tolerance)
            seen.setdefault(row.problem if is_reference else (row.kind, row.point, row.repeat), row)
        # a reference whose result is gone is made again where a run needs it
        needed = {self.point_of(run).problem for run in self.planned if self.key_of(run) not in seen}
        for row in seen.values():
            problem = self.problem_numbers.get(row.problem, -1)
            if row.kind == "reference":
                if self.reference_file(problem).exists():
                    self.references[problem] = ""
                elif problem in needed:
                    continue
            self.rows.append(row)
            self.note(row)
        header = run_header(self.axes, self.with_measures)
        write_file(file, header + "".join(run_line(row, self.with_measures) for row in self.rows))
        with_tables = {number for number, state in self.states.items() if state.has_tables}
        points = self.folder / "points.jsonl"
        kept = [point for point in read_points(points) if point["point"] in with_tables]
        write_file(points, "".join(map(point_line, kept)))

    def note(self, row: RunRow) -> None:
        self.last_run = max(self.last_run, row.run)
        if row.process_seconds > 0:
            self.spent += row.process_seconds
        if row.kind == "reference":
            return
        self.done.add((row.kind, row.point, row.repeat))
        state = self.states[row.point]
        if row.status == "failed":
            state.failures, state.failed_run = state.failures + 1, row.run
        state.is_out |= row.status == "not run"
        if has_fields(row):
            state.has_fields = True
            state.has_tables |= row.kind == "timed"
            for counted in (state, self.all):
                counted.seconds += row.process_seconds
                counted.runs += 1

    def add(self, row: RunRow, sync: bool = True) -> None:
        row.run = self.last_run + 1
        append_lines(self.folder / "runs.csv", run_line(row, self.with_measures), sync)
        self.note(row)
        self.rows.append(row)

    # ---- progress

    def tell(self, what: str) -> None:
        """How far the study is; while a run goes on the time left passes."""
        mean = self.all.mean(nan)
        done, left = 0, 0.0
        for run in self.planned:
            state = self.state_of(run)
            if state.is_out or self.key_of(run) in self.done:
                done += 1
            else:
                left += state.mean(mean)
        possible = [i for i, p in enumerate(self.plan.problems) if not p.reference.start.why_not]
        done += sum(i in self.references for i in possible)
        total = len(self.planned) + len(possible)
        if self.spec.time_budget is not None:
            left = min(left, max(0.0, self.spec.time_budget - self.spent))
        begin = time.monotonic()

        def tell_again() -> None:
            part = done / total if total else 1.0
            text = f"{100 * part:3.0f} %, {done:,} of {total:,} run{'' if total == 1 else 's'}"
            now = max(0.0, left - (time.monotonic() - begin))
            if now > 0:
                text += f", {duration_text(now)} left"
            self.show(part, text + (f", {shown(what)}" if what else ""))

        self.tell_again = tell_again
        tell_again()

    # ---- runs

    def new_row(self, run: PlannedRun, status: str, why: str) -> RunRow:
        """The row of a run that is not made."""
        start = self.point_of(run).job.start
        members = {"ranks": start.ranks, "threads": start.threads, "oversubscribed": start.oversubscribed}
        return self.placed(RunRow(**members, status=status, why=why), run)

    def placed(self, row: RunRow, run: PlannedRun) -> RunRow:
        planned = self.point_of(run)
        row.kind, row.point, row.repeat = self.key_of(run)
        row.problem, row.values = self.plan.problems[planned.problem].hash, planned.point.labels
        return row

    def leave_out(self, point: int, why: str) -> None:
        """The one row of a point that is not run."""
        run = PlannedRun("timed", point, 1)
        if not self.state_of(run).is_out:
            self.add(self.new_row(run, "not run", why), sync=False)

    def tidy(self, files: RunFiles, row: RunRow) -> None:
        """Removes what a run leaves that nobody needs."""
        files.result.unlink(missing_ok=True)
        if has_fields(row):
            self.warnings.update(warnings_in(files.log))
            files.log.unlink(missing_ok=True)

    def make_reference(self, number: int) -> None:
        problem = self.plan.problems[number]
        self.tell("the reference" if len(self.plan.problems) == 1 else f"the reference of problem {number + 1}")
        files = self.files_for(self.last_run + 1, problem.reference.case)
        row = self.runs.make(problem.reference, files, self.tell_again)
        row.kind, row.problem, row.values = "reference", problem.hash, [""] * len(self.axes)
        if row.status == "ok":
            os.replace(files.result, self.reference_file(number))
        self.references[number] = "" if row.status == "ok" else row.why
        self.tidy(files, row)
        self.made_now += 1
        self.add(row)

    def write_tables(self, planned: PlannedPoint, files: RunFiles, differences: list[tuple[Row, Row]]) -> None:
        """Of a point's first timed run."""
        spec, number, trace = self.spec, planned.point.id, []
        if spec.trace:
            case = files.input.read_text(encoding="utf-8", errors="surrogateescape")
            facts = self.program.facts(files.input, planned.job.start.command, [case], str(files.result))[0]
            if "problems" in facts:
                raise InputError([Problem(*problem) for problem in facts["problems"]])
            trace = list(runs.trace_rows(files.result, facts["densities"], facts["gravitational_constant"]))
        point = {
            "point": number,
            "errors": [error for error, _ in differences],
            "histograms": [histogram for _, histogram in differences] if spec.histogram else [],
            "trace": trace,
            "maps": [{"file": f"results/point-{number}.h5", "fields": spec.maps}] if spec.maps else [],
            "busy": runs.busy_rows(files.result) if spec.busy else [],
        }
        append_lines(self.folder / "points.jsonl", point_line(point))

    def judge(self, run: PlannedRun, files: RunFiles, row: RunRow) -> None:
        """Compares a run with the reference; the fields of a point's first timed run go to the tables."""
        planned = self.point_of(run)
        reference = self.reference_file(planned.problem)
        is_first = run.kind == "timed" and not self.state_of(run).has_tables
        differences, wrong = [], ""
        try:
            if self.spec.command == "invert":
                row.largest_error = runs.model_difference(files.result, reference)
                judge_error(row, self.spec.tolerance, "its model")
            else:
                differences, wrong = runs.compare_fields(files.result, reference)
        except runs.Unreadable as error:
            row.status, row.why = "failed", f"its result cannot be compared: {error}"
            return
        if differences:
            worst = max((error for error, _ in differences), key=lambda error: error["relative"])
            row.largest_error = worst["relative"]
            judge_error(row, self.spec.tolerance, worst["field"])
        if wrong:
            row.status, row.why = "wrong", wrong
        if is_first and self.spec.command != "invert":
            self.write_tables(planned, files, differences)
        if is_first and self.spec.keeps_results:
            os.replace(files.result, self.folder / f"results/point-{planned.point.id}.h5")

    def make(self, run: PlannedRun) -> None:
        """Makes a run, whose row is added when all else is written."""
        planned = self.point_of(run)
        kind, of = ("warm-up", self.spec.warmup) if run.kind == "warmup" else ("run", self.spec.repeats)
        self.tell(f"{planned.point}, {kind} {run.repeat} of {of}")
        files = self.files_for(self.last_run + 1, planned.job.case)
        row = self.placed(self.runs.make(planned.job, files, self.tell_again), run)
        if row.status == "ok":
            self.judge(run, files, row)
        # it ran before, so the machine can run it
        if row.status == "not run" and self.state_of(run).has_fields:
            row.status = "failed"
        self.tidy(files, row)
        self.made_now += 1
        if row.status == "not run":
            row.kind, row.repeat = "timed", 1
        self.add(row)

    def skip(self, run: PlannedRun) -> bool:
        """Whether a run is not made; adds the row that says why."""
        state = self.state_of(run)
        if state.is_out:
            return True
        budget = self.spec.time_budget
        if state.failures >= MOST_FAILURES:
            status, why = "failed", f"not tried again after run {state.failed_run} failed too"
        elif budget is not None and self.spent + state.mean(0) >= budget:
            status, why = "out of budget", f"{duration_text(self.spent)} of {duration_text(budget)} were spent"
        else:
            return False
        self.add(self.new_row(run, status, why), sync=False)
        return True

    def outcome(self) -> StudyOutcome:
        result = StudyOutcome(Counter(row.status for row in self.rows), self.made_now, warnings=self.warnings)
        timed = [row for row in self.rows if row.kind == "timed"]
        result.out_of_budget = len({row.point for row in timed if row.status == "out of budget"})
        reported = set()
        for row in self.rows:
            is_reference = row.kind == "reference"
            if row.status in ("ok", "out of budget") or (not is_reference and (row.status, row.point) in reported):
                continue
            reported.add((row.status, row.point))
            who = "the reference" if is_reference else str(self.points[row.point].point)
            result.remarks.setdefault(row.status, []).append((who, row.why))
        return result

    def run(self) -> StudyOutcome:
        self.load()
        for i, planned in enumerate(self.plan.points):
            if why := self.plan.why_not(planned):
                self.leave_out(i, why)
        for run in self.planned:
            if self.key_of(run) in self.done or self.skip(run):
                continue
            problem = self.point_of(run).problem
            if problem not in self.references:
                self.make_reference(problem)
                # the reference may have taken the rest of the time
                if self.skip(run):
                    continue
            if why := self.references[problem]:
                self.leave_out(run.point, f"its reference: {why}")
            else:
                self.make(run)
        append_lines(self.folder / "runs.csv", "")
        self.tell("")
        return self.outcome()


def run_study(
    spec: Spec, plan: Plan, machine: Machine, program: Program, folder: ReportFolder, tell: Tell
) -> StudyOutcome:
    """Raises Stopped when a signal arrived, OSError if the folder cannot be written, InputError for changed tables."""
    try:
        return Runner(spec, plan, machine, program, folder, tell).run()
    except Stopped:
        raise Stopped(f"{folder.path} holds the runs that were made, --resume goes on from them") from None
