# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Studies: they are planned, run, analysed and reported here. `prismfield study` becomes command.py.

A study drives the program as users do: `prismfield info --json` and `info --cases` say what it needs to know of machine
and cases, and each run is a process of measure.py and the program. The report folder is the seam between the runs
(runner.py) and the report: read_study.py reads rules.json (rules_text of plan.py) and the tables into the classes of
study_data.py, analysis.py makes the points of study.json, study_files.py writes them and their tables, report.py draws.

Where to add:
- A key of a study: a heading behind `study:` in docs/case.md; KEYS, READERS and Spec in spec.py. What changes a run or
  its tables goes into study_hash of plan.py too, by which --resume recognises runs.
- An axis that says how a run is started: PLACEMENTS in spec.py, Start in plan.py, runs.py.
- A column of runs.csv: the lists of columns in study_data.py. A table of a point in points.jsonl: write_tables of
  runner.py.
- A number of a point, for tables, figures and FOM lines: QUANTITIES or MEASURES in study_data.py, point_of of
  analysis.py.
- Tests: test_spec.py, test_plan.py and test_runs.py in python/tests; tests/study/test_study.py, end to end with kills.
"""
