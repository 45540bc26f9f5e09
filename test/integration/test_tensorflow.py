# ctest-timeout: 600
"""Real TensorFlow: what a run says of its steps is what Keras itself reports, by each of the three ways in."""
import json
import pathlib
import subprocess
import sys
import unittest

from trainscope_test import Case, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples/tensorflow"
WORKLOAD = ROOT / "build/trainscope-workload"
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")


def tensorflow_python():
    found = subprocess.run([ROOT / "scripts/fetch-tensorflow", "--where"], capture_output=True, text=True, check=False)
    return found.stdout.strip() if found.returncode == 0 else None


PYTHON = tensorflow_python()

READ_EVENTS = """
import json, sys, tensorflow
events = tensorflow.compat.v1.train.summary_iterator(sys.argv[1])
print(json.dumps([(e.step, v.tag, v.simple_value) for e in events for v in e.summary.value]))
"""


@unittest.skipUnless(PYTHON, "TensorFlow is not there: scripts/fetch-tensorflow")
class TensorFlow(Case):
    def train(self, script, *options):
        """What Keras says, and what the run says."""
        done = self.record([PYTHON, str(EXAMPLES / script), *options], cwd=self.folder, timeout=300)
        lines = [line for line in done.stdout.decode(errors="replace").splitlines() if line.startswith('{"steps"')]
        return json.loads(lines[-1]), self.info()

    def steps(self):
        lines = self.trainscope("sql", "latest", "select step, loss from steps order by step").stdout.decode().split()
        return [(int(step), float(loss)) for step, loss in (line.split(",") for line in lines[1:])]

    def check_every_step(self, keras, info, source, places=6):
        self.assertEqual(info["steps"]["source"], source)
        self.assertEqual(info["steps"]["count"], keras["steps"])
        self.assertEqual(info["steps"]["observed"], keras["steps"])
        for (_, told), own in zip(self.steps(), keras["losses"], strict=True):
            self.assertAlmostEqual(told, own, places=places)

    def check_epochs(self, keras, info, places):
        self.assertEqual(len(info["epochs"]), keras["epochs"])
        for i, epoch in enumerate(info["epochs"]):
            for name in keras["history"]:
                self.assertAlmostEqual(epoch["values"][name], keras["history"][name][i], places=places, msg=name)

    @unittest.skipUnless(FASHION.exists(), "dataset-fashion-mnist is not installed")
    def test_by_the_callback(self):
        keras, info = self.train("digits_dense.py", "--epochs", "2", "--steps", "30", "--verbose", "0", "--progress")
        self.check_every_step(keras, info, "pipe")
        self.check_epochs(keras, info, 6)
        self.assertEqual([p["kind"] for p in info["pauses"] if p["kind"] == "evaluation"], ["evaluation"] * 2)
        self.assertEqual(info["steps"]["batch"], 32)

    @unittest.skipUnless(FASHION.exists(), "dataset-fashion-mnist is not installed")
    def test_by_what_it_prints(self):
        keras, info = self.train("digits_cnn.py", "--epochs", "2", "--steps", "15")
        self.assertEqual(info["steps"]["source"], "output")
        self.assertEqual(info["steps"]["count"], keras["steps"])
        for step, told in self.steps():  # Keras leaves steps out that come within 0.05 s
            self.assertAlmostEqual(told, keras["losses"][step - 1], delta=6e-5)
        self.check_epochs(keras, info, 3)

    def test_by_event_files_of_every_step(self):
        keras, info = self.train("mobilenet.py", "--epochs", "2", "--steps", "3", "--verbose", "0", "--tensorboard",
                                 "logs", "--update-freq", "batch")
        self.check_every_step(keras, info, "tensorboard")

    def test_by_event_files_of_epochs(self):
        keras, info = self.train("transfer.py", "--epochs", "2", "--verbose", "0", "--tensorboard", "logs")
        self.assertIsNone(info["steps"]["count"])
        self.assertEqual(info["steps"]["reason"], f"{keras['epochs']} epochs were reported, but no steps")
        self.assertEqual(len(info["epochs"]), keras["epochs"])
        for i, epoch in enumerate(info["epochs"]):
            self.assertAlmostEqual(epoch["values"]["loss"], keras["history"]["loss"][i], places=5)

    @unittest.skipUnless(WORKLOAD.exists(), "trainscope-workload is not built")
    def test_tensorflow_reads_what_the_workload_writes_for_tensorboard(self):
        folder = pathlib.Path(self.folder, "summaries")
        subprocess.run([WORKLOAD, "train", "--data", "drawn", "--model", "digits_dense", "--steps", "20", "--threads",
                        "1", "--summaries", folder], check=True, capture_output=True)
        file, = (folder / "train").iterdir()
        out = subprocess.run([PYTHON, "-c", READ_EVENTS, file], check=True, capture_output=True, text=True).stdout
        read = json.loads(out.splitlines()[-1])
        self.assertEqual([step for step, _, _ in read], list(range(1, 21)))
        self.assertEqual({tag for _, tag, _ in read}, {"loss"})
        self.assertLess(read[-1][2], read[0][2])

    def test_inception_from_tfrecords(self):
        keras, info = self.train("inception_tfrecord.py", "--epochs", "1", "--size", "75", "--steps", "3", "--verbose",
                                 "0", "--progress")
        self.check_every_step(keras, info, "pipe")


if __name__ == "__main__":
    sys.exit(main())
