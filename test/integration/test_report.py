"""report: one file that an independent reader understands, pictures that XML parsers read, and nothing that runs."""
import atexit
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

from report_file import Page, columns
from trainscope_test import BIN, Case, command, main

ROUNDED = 2e-5  # of a number in a report, relative
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)

STEPS = """
import os, sys, time
P = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY)
say = lambda text: os.write(P, f"{{text}} t={{time.monotonic_ns()}}\\n".encode())  # They may arrive together.
for k in range(1, {steps} + 1):
    say("begin input"); time.sleep({wait}); say("end input")
    until = time.process_time() + {work}
    while time.process_time() < until: sum(range(1000))
    say(f"step {{k}} loss={{1 / k}}")
    print(f"line {{k}}", flush=True)
"""


def job(steps=60, wait=0.03, work=0.01):
    return STEPS.format(steps=steps, wait=wait, work=work)


@functools.cache
def recorded_home():
    """A home with two runs, slow and then fast, that tests only read."""
    folder = tempfile.mkdtemp(prefix="trainscope-test-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    kept = {k: v for k, v in os.environ.items() if not k.startswith("TRAINSCOPE_")}
    for name, wait in (("slow", 0.03), ("fast", 0.001)):
        subprocess.run([BIN, "run", "--quiet", "--name", name, "--", *command(job(wait=wait))], check=True,
                       env={**kept, "XDG_CONFIG_HOME": folder, "TRAINSCOPE_HOME": folder}, stdin=subprocess.DEVNULL, capture_output=True)
    return folder


class ReportCase(Case):
    def use_recorded_runs(self):
        self.home = recorded_home()

    def write(self, *words, name="report.html", **keywords):
        path = self.path(name)
        done = self.trainscope("report", *words, "-o", path, **keywords)
        with open(path, encoding="utf-8", newline="") as file:
            return file.read(), done


class Html(ReportCase):
    def test_an_independent_reader_finds_what_was_recorded(self):
        self.use_recorded_runs()
        text, _ = self.write("slow")
        page = Page(text)
        data = page.data()
        self.assertEqual(data["version"], 1)
        info = self.info("slow")
        run = data["runs"][info["run"]["id"]]
        self.assertEqual(run["run"]["name"], "slow")
        self.assertEqual([m["name"] for m in run["info"]["metrics"]], [m["name"] for m in info["metrics"]])
        diagnosis = json.loads(self.trainscope("diagnose", "slow", "--json").stdout)
        for key in ("verdict", "cause", "breakdown", "findings"):
            self.assertEqual(run["diagnosis"][key], diagnosis[key])
        self.assertIn("line 60", [line["text"] for line in run["output"]["lines"]])
        self.assertIsNone(data["compare"])
        self.assertIn("trainscope run", data["reproduce"])
        self.assertTrue(data["environment"] and data["method"])
        self.check_samples(info["run"]["duration_s"], *columns(run["columns"]))
        steps = columns(run["steps"])[1]["step"]
        exported = self.series("train.step", "source=pipe", "slow")
        self.assertEqual(list(steps["value"]), [float(value) for _, value in exported])
        for have_s, (time_s, _) in zip(steps["time"], exported):
            self.assertAlmostEqual(have_s, time_s, delta=2e-6)  # the digits of `export`

    def check_samples(self, duration_s, header, series):
        """A short run has its samples: gauges as `export` prints them, but for one that a busy machine took after the end."""
        self.assertIsNone(header["window_s"])
        for metric, labels in (("job.memory.usage", ""), ("train.loss", "set=train;source=pipe"),
                               ("system.memory.usage", "state=used")):
            exported = [row for row in self.series(metric, labels, "slow") if row[0] <= duration_s]
            self.assertGreater(len(exported), 10, metric)
            arrays = series[metric + (f"{{{labels}}}" if labels else "")]
            self.assertEqual(len(arrays["time"]), len(exported), metric)
            for (time_s, value), have_s, have in zip(exported, arrays["time"], arrays["value"]):
                self.assertAlmostEqual(have_s, time_s, delta=time_s * ROUNDED + 1e-6)
                self.assertAlmostEqual(have, value, delta=abs(value) * ROUNDED + 1e-12)

    def test_many_samples_become_windows_that_keep_every_spike(self):
        process = self.start(["cat"], "--every", "1ms", stdin=subprocess.PIPE)
        self.wait_for_samples(3000, "recorder.lateness", process="recorder")
        process.communicate(timeout=60)
        text, _ = self.write("latest")
        run = next(iter(Page(text).data()["runs"].values()))
        header, series = columns(run["columns"])
        self.assertGreater(header["window_s"], 0.001)
        rows = self.series("recorder.lateness", "process=recorder")
        arrays = series["recorder.lateness{process=recorder}"]
        self.assertLessEqual(len(arrays["time"]), 1501)
        largest = max(value for _, value in rows)
        self.assertAlmostEqual(max(arrays["max"]), largest, delta=abs(largest) * ROUNDED)
        for low, mean, high in zip(arrays["min"], arrays["mean"], arrays["max"]):
            self.assertTrue(low <= mean <= high)

    def test_it_is_readable_without_scripts(self):
        self.use_recorded_runs()
        text, _ = self.write("slow")
        page = Page(text)
        diagnosis = json.loads(self.trainscope("diagnose", "slow", "--json").stdout)
        self.assertIn(diagnosis["verdict"].replace("_", "-"), page.text)
        for part in diagnosis["breakdown"]:
            self.assertIn(part["part"], page.text)
        self.assertGreaterEqual(page.tags().count("svg"), 3)

    def test_nothing_outside_is_referred_to(self):
        self.use_recorded_runs()
        text, _ = self.write("slow", "fast")
        for tag, attributes in Page(text).elements:
            for name, value in attributes.items():
                if name in ("src", "href", "action", "poster", "data", "srcset"):
                    self.assertTrue((value or "").startswith(("data:", "#")), (tag, name, value))
                self.assertFalse(name.startswith("on"), (tag, name))
        self.assertNotRegex(text, r'(src|href)="https?://')

    def test_the_same_run_gives_the_same_bytes(self):
        self.use_recorded_runs()
        self.assertEqual(self.write("slow")[0], self.write("slow", name="again.html")[0])

    def test_two_runs_are_compared(self):
        self.use_recorded_runs()
        text, _ = self.write("slow", "fast")
        data = Page(text).data()
        compared = json.loads(self.trainscope("compare", "slow", "fast", "--json", "--explain").stdout)
        self.assertEqual(data["compare"]["document"], compared)
        ids = [self.info(name)["run"]["id"] for name in ("slow", "fast")]
        self.assertEqual((data["compare"]["a"], data["compare"]["b"]), ([ids[0]], [ids[1]]))
        self.assertEqual(sorted(data["runs"]), sorted(ids))
        self.assertIn(compared["speed"]["sentence"], Page(text).text)

    def test_each_further_run_is_compared_with_the_first(self):
        for name, wait in (("first", 0.002), ("second", 0.004), ("third", 0.006)):
            self.record(job(steps=30, wait=wait, work=0.002), "--name", name)
        text, _ = self.write("first", "second", "third")
        data = Page(text).data()
        ids = [self.info(name)["run"]["id"] for name in ("first", "second", "third")]
        self.assertEqual(sorted(data["runs"]), sorted(ids))
        self.assertEqual([(one["a"], one["b"]) for one in (data["compare"], *data["more_comparisons"])],
                         [([ids[0]], [ids[1]]), ([ids[0]], [ids[2]])])
        compared = json.loads(self.trainscope("compare", "first", "third", "--json", "--explain").stdout)
        self.assertEqual(data["more_comparisons"][0]["document"], compared)

    def test_kept_images_are_in_it(self):
        work = self.path("work")
        os.mkdir(work)
        self.record(f"open('a.png', 'wb').write({PNG!r}); open('b.txt', 'w').write('x')", "--keep", "*", cwd=work)
        run = next(iter(Page(self.write("latest")[0]).data()["runs"].values()))
        self.assertEqual([f["path"] for f in run["files"]], ["a.png", "b.txt"])
        self.assertTrue(run["files"][0]["data"].startswith("data:image/png;base64,"))
        self.assertNotIn("data", run["files"][1])

    def test_a_run_that_is_nearly_empty(self):
        self.record(["true"])
        text, _ = self.write("latest")
        self.assertTrue(Page(text).data()["runs"])

    def edit(self, folder, name, change):
        path = pathlib.Path(folder, name)
        before = path.read_text()
        self.assertNotEqual(change(before), before)
        path.write_text(change(before))

    def test_a_hostile_run_is_inert(self):
        hostile = "</script><img src=x onerror=alert(1)><!--\"'\x1b[31m"
        source = "import sys\nprint(sys.argv[1], flush=True)\n" + job(steps=40)
        self.record(["python3", "-c", source, hostile], "--tag", f"t={hostile}", "--note", hostile)
        folder = self.info()["run"]["path"]
        # As a recorder of somebody else could have written it.
        self.edit(folder, "manifest.json", lambda text: json.dumps(
            json.loads(text) | dict.fromkeys(("name", "host_name"), "n" + hostile) | {"working_directory": "/n" + hostile}))
        page = Page(self.write("latest", name="hostile.html")[0])
        markdown = self.trainscope("report", "latest", "--markdown").stdout.decode()
        svg = self.trainscope("report", "latest", "--svg", "step_time").stdout
        # The same recording with other words: what elements there are must not differ.
        self.edit(folder, "manifest.json", lambda text: text.replace(json.dumps(hostile)[1:-1], "harmless"))
        self.edit(folder, "output.log", lambda text: text.replace(hostile, "harmless"))
        harmless = Page(self.write("latest", name="harmless.html")[0])
        self.assertEqual(page.tags(), harmless.tags())
        self.assertNotIn("img", page.tags())
        run = next(iter(page.data()["runs"].values()))
        self.assertEqual(run["run"]["name"], "n" + hostile)
        self.assertNotIn("<img", markdown.replace("\\<img", ""))
        self.assertNotIn("img", [e.tag.rpartition("}")[2] for e in xml.etree.ElementTree.fromstring(svg).iter()])


class Files(ReportCase):
    def test_an_existing_file_is_kept_unless_forced(self):
        self.record(["true"])
        path = self.path("r.html")
        self.trainscope("report", "latest", "-o", path)
        done = self.trainscope("report", "latest", "-o", path, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--force", done.stderr)
        self.trainscope("report", "latest", "-o", path, "--force")
        self.assertEqual(sorted(os.listdir(self.folder)), ["home", "r.html"])

    def test_without_a_name_it_is_report_html(self):
        self.record(["true"])
        done = self.trainscope("report", cwd=self.folder)
        self.assertTrue(os.path.exists(self.path("report.html")))
        self.assertIn(b"report.html", done.stderr)
        self.assertEqual(done.stdout, b"")

    def test_json_says_what_was_written(self):
        self.record(["true"])
        done = json.loads(self.trainscope("report", "-o", self.path("a.html"), "--json").stdout)
        self.assertEqual(done["schema"], "trainscope.report/1")
        self.assertEqual((done["path"], done["bytes"]), (self.path("a.html"), os.path.getsize(self.path("a.html"))))

    def test_a_full_disk_leaves_no_half_file(self):
        self.record(["true"])
        done = self.trainscope("report", "-o", "/dev/full", "--force", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"No space left", done.stderr)

    def test_bad_input_is_exit_2(self):
        self.record(["true"])
        for words in (["nowhere"], ["--svg", "nonsense"], ["--svg", "loss", "--markdown"], ["--svg", "loss", "--png", "loss"]):
            done = self.trainscope("report", *words, "-o", self.path("x"), check=False)
            self.assertEqual(done.returncode, 2, words)
            self.assertFalse(os.path.exists(self.path("x")))


class Pictures(ReportCase):
    def test_svg_of_every_chart_that_can_be_drawn(self):
        self.use_recorded_runs()
        drawn = []
        for chart in ("step_time", "loss", "processor", "memory", "disk", "network", "gpu", "temperature", "power",
                      "pressure", "breakdown"):
            done = self.trainscope("report", "slow", "--svg", chart, check=False)
            if done.returncode == 0:
                root = xml.etree.ElementTree.fromstring(done.stdout)
                self.assertEqual(root.get("width"), "84mm")
                drawn.append(chart)
            else:
                self.assertEqual(done.returncode, 2)
                self.assertIn(f"nothing to draw for {chart}: ".encode(), done.stderr)
        self.assertLessEqual({"step_time", "loss", "processor", "memory", "breakdown"}, set(drawn))

    def test_the_picture_shows_the_largest_value(self):
        self.record(job(steps=40) + "\ntime.sleep(0.7); say('step 41 loss=0.1')\n")
        svg = self.trainscope("report", "--svg", "step_time").stdout.decode()
        description = xml.etree.ElementTree.fromstring(svg).find("{*}desc").text
        largest = float(re.search(r"step time: from [\d.]+ to ([\d.]+)", description)[1])
        exported = max(value for _, _, value in self.rows("train.step.duration"))
        self.assertAlmostEqual(largest, exported, delta=exported * 0.01)

    def test_two_runs_in_one_picture(self):
        self.use_recorded_runs()
        svg = self.trainscope("report", "slow", "fast", "--svg", "step_time").stdout.decode()
        text = " ".join(xml.etree.ElementTree.fromstring(svg).itertext())
        self.assertIn("A: step time", text)
        self.assertIn("B: step time", text)

    def test_png_without_the_program_names_the_remedy(self):
        self.use_recorded_runs()
        done = self.trainscope("report", "--png", "step_time", "-o", self.path("x.png"), check=False,
                               env=self.environment(PATH="/nonexistent:."))
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"librsvg2-bin", done.stderr)
        self.assertFalse(os.path.exists(self.path("x.png")))

    def test_a_program_in_the_working_directory_is_not_run(self):
        self.use_recorded_runs()
        trap = self.path("rsvg-convert")
        with open(trap, "w") as file:
            file.write(f"#!/bin/sh\ntouch {self.path('trapped')}\n")
        os.chmod(trap, 0o755)
        self.trainscope("report", "--png", "step_time", "-o", "x.png", check=False, cwd=self.folder,
                        env=self.environment(PATH=".::"))
        self.assertFalse(os.path.exists(self.path("trapped")))

    @unittest.skipUnless(shutil.which("rsvg-convert"), "rsvg-convert is not here")
    def test_png(self):
        self.use_recorded_runs()
        self.trainscope("report", "--png", "step_time", "-o", self.path("x.png"))
        with open(self.path("x.png"), "rb") as file:
            start = file.read(24)
        self.assertTrue(start.startswith(b"\x89PNG"))
        width = int.from_bytes(start[16:20], "big")
        self.assert_between(980, width, 1000, "pixels at 300 dots per inch")


class Markdown(ReportCase):
    def test_of_one_run_and_of_two(self):
        self.use_recorded_runs()
        text = self.trainscope("report", "slow", "--markdown").stdout.decode()
        diagnosis = json.loads(self.trainscope("diagnose", "slow", "--json").stdout)
        self.assertTrue(text.startswith("**" + diagnosis["verdict"].replace("_", "\\_")))
        self.assertIn("| where the time went | share | time |", text)
        both = self.trainscope("report", "slow", "fast", "--markdown").stdout.decode()
        self.assertTrue(both.startswith(self.trainscope("compare", "slow", "fast", "--markdown").stdout.decode()))
        self.assertEqual(both.count("| where the time went |"), 2)


if __name__ == "__main__":
    main()
