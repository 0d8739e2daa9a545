# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""The folder of a study's report: whose it is, what moves aside, and one study at a time in it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
from pathlib import Path

from .machine import Machine, machine_json
from .plan import Plan, rules_text, study_text
from .program import Program
from .spec import Spec
from .texts import InputError, Problem, excerpt, write_file

LOCK = ".lock"
# tables and records that move to previous/ when a study is replaced, and what follows from them
KEPT = "machine.json study.yaml rules.json runs.csv points.jsonl errors.csv".split()
DERIVED = "study.json study.h5 tables.md tables.tex p3.csv foms.txt report.html".split()
OWN_FOLDERS = "work cases logs results figures".split()
LEFT_BEHIND = re.compile(rf"{re.escape(LOCK)}|\.({'|'.join(map(re.escape, KEPT))})\.part-\w+")
OTHER_FOLDER = "choose another folder by --output"


def same_file(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


class ReportFolder:
    """Raises InputError for a folder that cannot be made or holds anything but a report of the same study."""

    def __init__(self, spec: Spec, plan: Plan, machine: Machine, resume: bool):
        self.spec, self.plan, self.machine, self.resume = spec, plan, machine, resume
        self.path = spec.report
        self.goes_on = self.replaces = False  # it holds runs to go on from, or whose tables moved to previous/
        self.lock = -1

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def refusal(self, what: str) -> InputError:
        place = self.spec.place_of("report")
        return InputError([Problem(place, "" if place == "--output" else "report", f"{self.spec.report} {what}")])

    def holds_this_study(self) -> bool:
        """False for a folder that is not there, or empty. Changes nothing."""
        path = self.path
        if not os.path.lexists(path):
            if not path.parent.is_dir():
                raise self.refusal(f"cannot be made: the folder {path.parent} does not exist; make it first")
            return False
        if path.is_symlink() and not path.exists():
            raise self.refusal(f"is a link to nothing; {OTHER_FOLDER}")
        if not path.is_dir():
            raise self.refusal(f"is no folder, and a study has many files; {OTHER_FOLDER}")
        if not self.resume and same_file(path / "study.yaml", self.spec.file):
            raise self.refusal(f"holds {self.spec.file} itself, which would be replaced; {OTHER_FOLDER}")
        try:
            found = json.loads((path / "machine.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            found = None
        entries = found.items() if isinstance(found, dict) else ()
        record = {key: value for key, value in entries if isinstance(value, str)}
        if not record.get("study_hash"):
            if all(LEFT_BEHIND.fullmatch(name) for name in os.listdir(path)):
                return False
            raise self.refusal(f"holds files that are no report of a study, and is left alone; {OTHER_FOLDER}")
        if why := self.why_another(record):
            raise self.refusal(why)
        return True

    def why_another(self, record: dict[str, str]) -> str:
        """Why runs cannot be added to those of this record, or ""."""
        version, git = (self.machine.program.get(key, "") for key in ("version", "git"))
        had = record.get("version", ""), record.get("git", "")
        kind, end = record.get("machine_kind", ""), OTHER_FOLDER
        if record["study_hash"] != self.plan.hash and had != (version, git):
            what = f"runs of prismfield {had[0]} (git {had[1]}), this is {version} (git {git})"
        elif record["study_hash"] != self.plan.hash:
            title = excerpt(record.get("study_title", ""))
            what = f"another study, {title}, or this one with other points, inputs, rules or OMP_NUM_THREADS"
        elif self.resume and kind != self.machine.kind:
            what = f"runs of another machine, {kind}, this is {self.machine.kind}"
            end += ", and --join makes one report of both"
        else:
            return ""
        return f"holds {what}; {end}"

    def take(self) -> None:
        """Makes the folder, or goes on with the one that is there, or moves its tables aside."""
        self.holds_this_study()
        self.path.mkdir(exist_ok=True)
        while not self.has_lock():
            self.release()
        # as it is now that nobody else has it
        holds = self.holds_this_study()
        self.goes_on, self.replaces = holds and self.resume, holds and not self.resume
        if self.replaces:
            self.put_aside()
        for name in os.listdir(self.path):
            if name != LOCK and LEFT_BEHIND.fullmatch(name):
                os.unlink(self / name)

    def has_lock(self) -> bool:
        """False if the study before took its file away meanwhile."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        self.lock = os.open(self / LOCK, flags, 0o666)
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return os.path.samestat(os.fstat(self.lock), os.stat(self / LOCK))
        except FileNotFoundError:
            return False
        except BlockingIOError:
            os.close(self.lock)
            self.lock = -1
            raise self.refusal(f"is used by another study; wait for its end, or {OTHER_FOLDER}") from None

    def release(self) -> None:
        if self.lock >= 0:
            found = os.fstat(self.lock)
            with contextlib.suppress(OSError):
                # one that holds anything is somebody else's
                if found.st_size == 0 and os.path.samestat(found, os.stat(self / LOCK)):
                    os.unlink(self / LOCK)
            os.close(self.lock)
            self.lock = -1

    def put_aside(self) -> None:
        """Moves the tables of a study that is replaced out of the way."""
        previous = self / "previous"
        if (self / "runs.csv").exists():
            for name in KEPT:
                (previous / name).unlink(missing_ok=True)
        previous.mkdir(exist_ok=True)
        for name in filter(lambda name: (self / name).exists(), KEPT):
            # by machine.json the folder is known to be ours, so it stays until there is a new one
            (shutil.copyfile if name == "machine.json" else os.replace)(self / name, previous / name)
        for name in DERIVED:
            (self / name).unlink(missing_ok=True)
        for name in OWN_FOLDERS:
            path = self / name
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)

    def begin(self, program: Program) -> None:
        """Writes study.yaml, rules.json and, for a study that begins, machine.json, and makes the folders within."""
        if not self.goes_on:
            record = {"study_hash": self.plan.hash, "study_title": self.spec.title, "reduced": self.spec.reduced}
            write_file(self / "machine.json", machine_json(self.machine, record))
        if not same_file(self / "study.yaml", self.spec.file):
            write_file(self / "study.yaml", study_text(self.spec, program, self.path))
        write_file(self / "rules.json", rules_text(self.spec))
        for name in ("work", "cases", "logs", *(["results"] if self.spec.keeps_results else [])):
            (self / name).mkdir(exist_ok=True)

    def remove_work(self) -> None:
        """Removes what only the study needed."""
        shutil.rmtree(self / "work", ignore_errors=True)
        with contextlib.suppress(OSError):
            (self / "logs").rmdir()  # an empty one only
