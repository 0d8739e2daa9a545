# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""What report.py makes of studies: a page that stands alone and figures; of every kind, gaps told, texts escaped.

Usage: test_report.py PYTHON_FOLDER
"""

import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import made_studies

package = None
python = None
drawn = {}


def pick_python():
    """A Python that can draw, looked for as the program does."""
    for name in ("python3", "/usr/bin/python3"):
        found = shutil.which(name)
        if found and subprocess.run([found, "-c", "import h5py, jinja2, matplotlib, numpy"], capture_output=True).returncode == 0:
            return found
    return None


class Page(html.parser.HTMLParser):
    """Text, addresses and open tags of a page."""

    VOID = ("meta", "img", "br", "link")

    def __init__(self, text):
        super().__init__()
        self.words, self.addresses, self.open, self.tags = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self):
        return " ".join(self.words)


class Report(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="prismfield_report_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_tool(self, folder):
        # As the program does.
        command = [python, "-B", package, "study.report", str(folder)]
        return subprocess.run(command, capture_output=True, text=True, cwd=self.folder)

    def draw_in(self, folder):
        """It says which of how many figures it draws, and nothing else."""
        done = self.run_tool(folder)
        n = len(list((folder / "figures").glob("*.png")))
        said = "".join(f"drawing {i} of {n}\n" for i in range(1, n + 1))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, said, ""))

    def draw(self, data):
        """The page and the names of the figures; a study that another test drew already is not drawn again."""
        content = json.dumps(data)
        if content not in drawn:
            drawn[content] = self.draw_anew(data)
        return drawn[content]

    def draw_anew(self, data):
        shutil.rmtree(self.folder / "figures", ignore_errors=True)
        (self.folder / "study.json").write_text(json.dumps(data), encoding="utf-8")
        self.draw_in(self.folder)
        page = Page((self.folder / "report.html").read_text(encoding="utf-8"))
        self.assertEqual(page.open, [])
        return page, {path.name for path in (self.folder / "figures").iterdir()}

    def svg(self, name, folder=None):
        return ((folder or self.folder) / "figures" / f"{name}.svg").read_text(encoding="utf-8")

    def texts(self, name, folder=None):
        return re.findall(r"<!-- (.*?) -->", self.svg(name, folder))

    def test_a_figure_of_every_kind(self):
        wanted = {
            "block_size": {"field_seconds_by_block_size", "memory_by_slots"},
            "threads": {"field_seconds_by_threads", "speed_up_by_threads", "efficiency_by_threads", "roofline"},
            "joined": {"speed_up_by_threads", "portability", "roofline"},
            "partitions": {"field_seconds_by_partition"},
            "nothing_ran": {"field_seconds_by_cards", "speed_up_by_cards"},
            "errors": {"errors", "error_by_precision"},
            "histograms": {"histogram", "share_off"},
            "trace": {"trace"},
            "busy": {"busy"},
            "maps": {"maps", "map_differences_1", "zoom_gz", "zoom_gzz"},
        }
        self.assertEqual(set(made_studies.write(self.folder)), set(wanted))
        # Results are made by this Python's h5py and read by the other's.
        if not (self.folder / "maps" / "results").exists():
            del wanted["maps"]
        for name, figures in wanted.items():
            with self.subTest(name):
                self.draw_in(self.folder / name)
                content = (self.folder / name / "report.html").read_text(encoding="utf-8")
                made = {path.name for path in (self.folder / name / "figures").iterdir()}
                drawn[(self.folder / name / "study.json").read_text(encoding="utf-8")] = Page(content), made
                self.assertLessEqual({f"{f}.{kind}" for f in figures for kind in ("png", "svg")}, made)
                for path in (self.folder / name / "figures").glob("*.png"):
                    content = path.read_bytes()
                    self.assertEqual(content[:8], b"\x89PNG\r\n\x1a\n")
                    # All are as wide as a page: 7.2 inches of 170 pixels.
                    self.assertEqual(int.from_bytes(content[16:20], "big"), 1224, path.name)

    def test_page_stands_alone(self):
        page, figures = self.draw(made_studies.threads())
        # a picture and the same as SVG to keep
        for kind in ("png", "svg+xml"):
            held = [address for address in page.addresses if address.startswith(f"data:image/{kind};base64,")]
            self.assertEqual(len(held), len(figures) / 2, kind)
        self.assertEqual(len(page.addresses), len(figures))
        self.assertNotIn("script", page.tags)

    def test_same_study_same_figures(self):
        self.draw_anew(made_studies.partitions())
        first = self.svg("field_seconds_by_partition")
        self.draw_anew(made_studies.partitions())
        self.assertEqual(first, self.svg("field_seconds_by_partition"))
        left = [path for path in self.folder.rglob("*") if re.search(r"\.part-", path.name)]
        self.assertEqual(left, [])

    def test_points_that_did_not_run_are_named_with_why(self):
        page, _ = self.draw(made_studies.block_size())
        self.assertIn("this program has no space cuda", page.text)
        self.assertIn("outside the tolerance", page.text)
        self.assertRegex(page.text, r"9 of 20 points ran, 10 not run, 1 outside the tolerance")

    def test_oversubscribed_points_are_on_no_curve_of_scaling(self):
        data = made_studies.threads()
        # Even if there were a speed-up of such a point, it would not be drawn.
        for point in data["points"]:
            if point["oversubscribed"]:
                point["speed_up"] = made_studies.ratio(98765.0)
        self.draw_anew(made_studies.threads())
        before = self.svg("speed_up_by_threads")
        page, _ = self.draw_anew(data)
        self.assertEqual(self.svg("speed_up_by_threads"), before)
        self.assertIn("oversubscribed", page.text)

    def test_wrong_points_have_no_speed(self):
        data = made_studies.block_size()
        wrong = next(point for point in data["points"] if point["status"] == "wrong")
        self.draw_anew(data)
        before = self.svg("field_seconds_by_block_size")
        wrong["field_seconds"] = made_studies.spread(0.777123)
        self.draw_anew(data)
        self.assertEqual(self.svg("field_seconds_by_block_size"), before)

    def test_paper_beside_what_was_found(self):
        page, _ = self.draw(made_studies.block_size())
        self.assertRegex(
            page.text, r"Couder-Castañeda et al\. 2013, Fig\. 7: double\s+Threads per block 512\s+Field time"
        )
        # 81 s against 12 (1 + 20 / 512)
        self.assertRegex(page.text, r"81\.0 s\s+12\.5 s\s+6\.50")

    def test_texts_of_a_study_are_no_markup_and_no_formulas(self):
        data = made_studies.partitions()
        data["title"] = "<b>$x_ & \\frac</b>"
        data["machine"] = dict(made_studies.MACHINE, name="<i>$^$</i>", processor="$_{</td>")
        data["points"][0].update(status="failed", why="</table><script>$\\ {}")
        data["compare_with"][0]["note"] = "$<a href='x'>"
        page, _ = self.draw(data)
        self.assertIn("<b>$x_ & \\frac</b>", page.text)
        self.assertNotIn("script", page.tags)
        self.assertNotIn("i", page.tags)

    def test_rules_and_machine(self):
        page, _ = self.draw(made_studies.threads())
        for words in ("1e-09 of the largest value", "5 timed runs a point", "random, seed 1", "AVX-512", "GNU 12.2.0"):
            self.assertIn(words, page.text)
        data = made_studies.threads()
        data["rules"].update(budget_forbade=True, notes=["cut short"])
        data["points"][0]["runs"] = 3
        page, _ = self.draw(data)
        for words in ("3 to 5 timed runs a point", "Fewer than five repeats", "time budget forbade", "cut short"):
            self.assertIn(words, page.text)

    def test_what_is_unknown_is_left_out(self):
        data = made_studies.threads()
        for point in data["points"]:
            for key in ("roofline", "arithmetic_rate", "speed_up", "memory_bytes", "core_seconds", "processor_seconds"):
                point[key] = None
        data.update(fits=[], errors=[], portability=[], compare_with=None, figures=None, machine=None, rules=None)
        page, figures = self.draw(data)
        self.assertIn("field_seconds_by_threads.png", figures)
        self.assertNotIn("roofline.png", figures)

    def test_a_missing_map_is_told(self):
        data = made_studies.partitions()
        data["maps"] = [{"point": 1, "file": "results/nowhere.h5", "fields": ["gz"]}]
        page, _ = self.draw(data)
        self.assertRegex(page.text, r"no maps of results/nowhere\.h5: ")

    def test_a_joined_report_names_each_curve_after_its_machine(self):
        page, _ = self.draw(made_studies.joined())
        self.assertIn("made", page.text)
        self.assertRegex(page.text, r"larger, kernel auto|larger\s+auto")

    def test_runs_on_a_processor_are_called_after_it(self):
        data = made_studies.joined()
        cards = [{"name": "NVIDIA H200"}] * 4
        data["machines"][1] = dict(data["machines"][1], name="4 x H200", gpus=cards)
        changed = json.loads(json.dumps(data).replace('"larger"', '"4 x H200"'))
        self.draw_anew(changed)
        for name in ("speed_up_by_threads", "portability"):
            texts = self.texts(name)
            self.assertTrue(any("AMD EPYC 9B45, 16 cores" in text for text in texts), texts)
            self.assertEqual([text for text in texts if "H200" in text], [])
        self.assertTrue(any("(2.0 % serial)" in text and "EPYC" in text for text in self.texts("speed_up_by_threads")))
        # those on the cards keep the machine's name
        for point in changed["points"]:
            point["space"] = "cuda"
        self.draw_anew(changed)
        self.assertTrue(any("4 x H200" in text for text in self.texts("speed_up_by_threads")))

    def test_the_last_value_of_an_axis_is_labelled(self):
        data = made_studies.threads()
        counts = {"4": "32", "8": "33"}
        for point in data["points"]:
            point["labels"]["threads"] = counts.get(point["labels"]["threads"], point["labels"]["threads"])
        data["axes"] = [dict(axis, values=[counts.get(v, v) for v in axis["values"]]) for axis in data["axes"]]
        data["figures"] = [{"x": "threads", "y": "field_seconds", "log": log} for log in ("", "xy")]
        data["compare_with"] = []
        self.draw_anew(data)
        for name in ("field_seconds_by_threads", "field_seconds_by_threads_"):
            texts = self.texts(name)
            self.assertIn("33", texts, name)
            self.assertNotIn("32", texts, name)

    def test_maps_of_a_part_have_a_colour_bar(self):
        made_studies.write(self.folder)
        if not (self.folder / "maps" / "results").exists():
            self.skipTest("no h5py to make results")
        self.assertEqual(self.run_tool(self.folder / "maps").returncode, 0)
        texts = self.texts("zoom_gz", self.folder / "maps")
        self.assertIn("$g_z$ (mGal)", texts)

    def test_mistakes(self):
        done = self.run_tool(self.folder / "nowhere")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\AFileNotFoundError: [^\n]*\n\Z")
        for content in ({"schema": "other"}, {"schema": "prismfield-study", "version": 2}):
            (self.folder / "study.json").write_text(json.dumps(content), encoding="utf-8")
            done = self.run_tool(self.folder)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"\AValueError: [^\n]*study\.json[^\n]*\n\Z")
        self.assertFalse((self.folder / "report.html").exists())

    def test_a_module_that_is_missing_is_77(self):
        bare = self.folder / "bare"
        bare.mkdir()
        for name in ("matplotlib", "numpy"):
            (bare / f"{name}.py").write_text("raise ImportError('not here')\n")
        command = [python, "-B", package, "study.report", str(self.folder)]
        done = subprocess.run(command, capture_output=True, text=True, env={"PYTHONPATH": str(bare)})
        self.assertEqual((done.returncode, done.stderr), (77, "not here\n"))


if __name__ == "__main__":
    package = pathlib.Path(sys.argv.pop(1)).resolve()
    python = pick_python()
    if python is None:
        print("no Python with matplotlib, Jinja2, h5py and numpy: reports are not tested")
        sys.exit(77)
    unittest.main(verbosity=2)
