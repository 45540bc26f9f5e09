"""Steps that programs print: each format of docs/guide/progress.md is counted to the last, and where none is known the
run says what to do."""
import pathlib
import re
import subprocess

from trainscope_test import BIN, Case, main, python

STEPS = 23
# What is printed for step i of 23, counted from 0; the values of loss are told too where the format has one.
FORMATS = {
    "mnist": 'f"Train Epoch: 1 [{i * 64}/{23 * 64} ({100 * i / 23:.0f}%)]\\tLoss: {loss:.6f}"',
    "tutorial": 'f"Epoch [1/1], Step [{i + 1}/23], Loss: {loss:.4f}"',
    "batch": 'f"Epoch 1/1, Batch {i + 1}/23, Loss: {loss:.4f}, Accuracy: {90.5}%"',
    "quickstart": 'f"loss: {loss:>7f}  [{(i + 1) * 64:>5d}/{23 * 64:>5d}]"',
    "cifar10": 'f"[1, {i + 1:5d}] loss: {loss:.3f}"',
    "dcgan": 'f"[0/1][{i}/23]\\tLoss_D: {loss:.4f}\\tLoss_G: 5.1288\\tD(x): 0.8922\\tD(G(z)): 0.1 / 0.01"',
    "word_language_model": 'f"| epoch   1 | {i + 1:5d}/   23 batches | lr 20.00 | ms/batch 12.34 | loss {loss:5.2f} | ppl 2.00"',
    "step": 'f"Step {i + 1}/23, Loss: {loss:.4f}"',
    "timm": 'f"Train: 0 [{i:>4d}/23 ({100 * (i + 1) / 23:>3.0f}%)]  Loss: {loss:#.3g} ({loss:#.3g})  Time: 0.421s, '
            '2432.11/s  (0.430s, 2381.40/s)  LR: 1.000e-05  Data: 0.010 (0.012)"',
    "torchvision": 'f"Epoch: [0]  [{i:2d}/23]  eta: 0:00:01  lr: 0.1  img/s: 300.5  loss: {loss:.4f} ({loss:.4f})  '
                   'acc1: 1.5 (1.2)  acc5: 5.0 (5.0)  time: 9.9  data: 9.9  max mem: 4096"',
    "json": 'json.dumps({"step": i + 1, "loss": loss})',
    "json_global": 'json.dumps({"loss": loss, "global_step": i + 1})',
    "dictionary": 'str({"iteration": i, "loss": loss})',
    "deepspeed": 'f"[2026-11-16 12:00:00,123] [INFO] [logging.py:107:log_dist] [Rank 0] step={i + 1}, skipped=0, '
                 'lr=[0.001], mom=[(0.9, 0.999)]"',
    "deepspeed_pipeline": 'f"steps: {i + 1} loss: {loss:0.4f} iter time (s): 0.010 samples/sec: 260.163"',
    "mmengine": 'f"11/16 12:00:00 - mmengine - INFO - Epoch(train)  [1][{i + 1:>2}/23]  lr: 1.0000e-02  eta: 0:00:01  '
                'time: 9.9  data_time: 9.9  loss: {loss:.4f}"',
    "fairseq": 'f"2022-06-01 12:00:00 | INFO | train_inner | epoch 001:  {i + 1:5d} / 23 loss={loss:.3f}, '
               'num_updates={i + 1}, lr=1e-05"',
    "fairseq_json": '"2022-06-01 12:00:00 | INFO | train_inner | " + json.dumps({"epoch": 1, "update": 0.5, '
                    '"loss": f"{loss:.3f}", "num_updates": str(i + 1)})',
    "ultralytics": '("%11s" * 2 + "%11.4g" * 5) % ("1/1", "2.1G", 1.2, 1.5, 1.1, 12, 640) + '
                   'f": {100 * (i + 1) // 23}% ━━━━━━━━━━━━ {i + 1}/23 12.3it/s 0.2s"',
    "xgboost": 'f"[{i}]\\ttrain-logloss:{loss:.5f}\\teval-logloss:{loss:.5f}"',
    "lightgbm": 'f"[{i + 1}]\\ttraining\'s binary_logloss: {loss:g}\\tvalid_1\'s l2: 0.5"',
}
WITHOUT_LOSS = {"deepspeed", "ultralytics", "dcgan"}
# Lines around the steps that are none.
OTHERS = ["Downloading [ 50/1251]", "[ 50/1251]", "2026-11-16 12:00:00 INFO batch size 64", "Found 60000 images"]
TRAINER = """
import json, time
for line in {others!r}: print(line)
for i in range({steps}):
    loss = 2.25 / (1 + i)
    print({line}, flush=True)
    time.sleep(0.002)
for line in {others!r}: print(line)
"""


class PrintedFormats(Case):
    def trainer(self, line):
        return python(TRAINER.format(others=OTHERS, steps=STEPS, line=line))

    def test_every_step_of_every_format_is_counted(self):
        for name, line in FORMATS.items():
            with self.subTest(name):
                self.record(self.trainer(line), "--name", name)
                info = self.info(name)
                steps = info["steps"]
                self.assertEqual((steps["source"], steps["count"], steps["observed"]), ("output", STEPS, STEPS))
                losses = [m["last"] for m in info["metrics"] if m["name"] == "train.loss" and m["labels"]["set"] == "train"]
                if name not in WITHOUT_LOSS:
                    self.assertAlmostEqual(losses[0], 2.25 / STEPS, delta=0.005)
                # The averages of the program are not durations of steps.
                self.assertLess(steps["mean_s"] or 0, 5)

    def test_items_are_not_steps(self):
        """PyTorch's MNIST example prints every tenth step, as items: the note states what is counted."""
        self.record(self.trainer('f"Train Epoch: 1 [{i * 640}/60000 ({i}%)]\\tLoss: {loss:.6f}"'))
        info = self.info()
        self.assertEqual(info["steps"]["count"], STEPS)
        self.assertIn("counts as a step", self.trainscope("info", "latest").stdout.decode())

    # Where no step is found.

    def summary(self, *words, **keywords):
        words = [BIN, "run", *words]
        keywords = {"env": self.environment(), "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, **keywords}
        done = subprocess.run(words, stderr=subprocess.PIPE, timeout=60, **keywords)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr.decode()

    def line_of_steps(self, text):
        lines = [line for line in text.splitlines() if line.strip().startswith("steps ")]
        self.assertEqual(len(lines), 1, text)
        return lines[0]

    def assert_shown(self, summary, *parts):
        """The summary and info have the same line, with these parts; info --json has it as the reason."""
        told = self.info()["steps"]["reason"]
        for line in (self.line_of_steps(summary), self.line_of_steps(self.trainscope("info", "latest").stdout.decode())):
            self.assertIn(told, line)
            for part in parts:
                self.assertIn(part, line)
        return self.line_of_steps(summary)

    def test_a_run_without_lines_names_the_three_ways(self):
        line = self.assert_shown(self.summary("--", "true"), "no steps", "trainscope send", "--tensorboard", "--steps-from")
        self.assertLessEqual(len(line), 80)

    def test_the_guessed_pattern_counts_the_steps(self):
        job = self.trainer('f"[2026-11-16 12:00:{i:02}] it={i + 1:>3} | objective {loss:.4f} | 12 GB"')
        line = self.assert_shown(self.summary("--", *job), "trainscope send", "--tensorboard")
        pattern = re.search("--steps-from '([^']*)'", line)[1]
        self.record(job, "--steps-from", pattern)
        self.assertEqual(self.info()["steps"]["count"], STEPS)
        # The loss is found too where it is named.
        named = self.trainer('f"it={i + 1:>3} | loss: {loss:.4f} | 12 GB"')
        with_loss = re.search("--steps-from '([^']*)'", self.line_of_steps(self.summary("--", *named)))[1]
        self.record(named, "--steps-from", with_loss)
        self.assertEqual(self.info()["steps"]["count"], STEPS)
        losses = [m["last"] for m in self.info()["metrics"] if m["name"] == "train.loss"]
        self.assertAlmostEqual(losses[0], 2.25 / STEPS, places=4)
        self.record(job)
        # One that the user gave and that matches nothing is replaced by one that does.
        self.assert_shown(self.summary("--steps-from", "nothing (?<step>\\d+)", "--", *job), pattern)

    def test_output_to_dev_null_is_the_reason(self):
        job = self.trainer(FORMATS["step"])
        line = self.assert_shown(self.summary("--", *job, stdout=subprocess.DEVNULL), "stdout is /dev/null")
        self.assertLessEqual(len(line), 80)
        script = ["sh", "-c", "exec \"$@\" >&-", "sh", BIN, "run", "--", "true"]
        done = subprocess.run(script, env=self.environment(), stderr=subprocess.PIPE, check=True)
        self.assertLessEqual(len(self.assert_shown(done.stderr.decode(), "stdout is closed")), 80)

    def test_output_to_dev_null_does_not_matter_where_steps_are_known(self):
        job = self.trainer(FORMATS["step"])
        subprocess.run(self.run_words(job), env=self.environment(), stdout=subprocess.DEVNULL, check=True)
        self.record("import os; open(os.environ['TRAINSCOPE_PIPE'], 'w').write('step 1\\nstep 2\\n')",
                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, capture_output=False)
        self.assertEqual(self.info()["steps"]["count"], 2)

    def test_step_time_that_is_not_explained_fits_the_terminal(self):
        summary = self.summary("--", *self.trainer(FORMATS["step"]))
        lines = [line for line in summary.splitlines() if "no phases reported" in line]
        self.assertEqual(len(lines), 1, summary)
        self.assertLessEqual(len(lines[0]), 80)
        command = re.search("see (trainscope [a-z]+ --help)", lines[0])[1]
        told = self.trainscope(*command.split()[1:]).stdout.decode()
        self.assertIn("phase", told)

    def test_a_python_job_without_phases_is_told_how_to_get_them(self):
        job = self.trainer(FORMATS["step"])
        self.record(job)
        command = "trainscope run --instrument -- " + job[0]
        for shown in (self.summary("--", *job), self.trainscope("info", "latest").stdout.decode(),
                      self.trainscope("diagnose", "latest").stdout.decode()):
            self.assertIn("phases", shown)
            self.assertIn(command, shown)
        for words in (["--instrument", "--", *job], ["--", "sh", "-c", "echo step 1 loss 0.5; echo step 2 loss 0.4"]):
            self.assertNotIn("--instrument --", self.summary(*words))

    def test_the_guide_shows_what_is_tested(self):
        guide = (pathlib.Path(__file__).resolve().parents[2] / "docs/guide/progress.md").read_text()
        for name in ("timm", "XGBoost", "LightGBM", "MMEngine", "fairseq", "DeepSpeed", "Ultralytics", "JSON lines"):
            self.assertIn(f"| {name} |", guide)


if __name__ == "__main__":
    main()
