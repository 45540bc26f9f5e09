#!/usr/bin/env python3
"""Jobs planted on an NVIDIA H200, recorded there once (test/data/diagnosis): diagnose judges them again."""
import pathlib
import sys
import tarfile
import tempfile
import unittest

DIAGNOSIS = pathlib.Path(__file__).resolve().parent.parent / "diagnosis"
RECORDED = DIAGNOSIS.parent / "data" / "diagnosis" / "h200.tar.xz"
sys.path.insert(0, str(DIAGNOSIS))
from planted import ask, labelled_cases, score  # noqa: E402


class RecordedOnGpu(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        with tarfile.open(RECORDED) as archive:
            archive.extractall(folder.name)
        cls.home = pathlib.Path(folder.name) / "runs"

    def test_every_verdict_is_right_and_nothing_is_raised_in_clean_runs(self):
        judged = 0
        for case in labelled_cases():
            if case.get("machine") != "gpu":
                continue
            for form in case["forms"]:
                with self.subTest(case=case["name"], form=form):
                    answer = ask(self.home, "diagnose", f"{case['name']}-{form}")
                    self.assertEqual(score(case, answer), ("right", []), answer["verdict"])
                    judged += 1
        self.assertEqual(judged, 18)

    def test_the_limits_of_the_device_speak(self):
        by_case = {c["name"]: ask(self.home, "diagnose", f"{c['name']}-bare") for c in labelled_cases()
                   if c.get("machine") == "gpu"}
        self.assertGreater(by_case["gpu_launches"]["findings"][0]["max_speedup"], 2)
        self.assertIsNone(by_case["gpu_tensor_cores"]["findings"][0]["max_speedup"])

    def test_memory_that_was_nearly_full_is_told(self):
        for case in (case for case in labelled_cases() if case.get("machine") == "gpu"):
            findings = ask(self.home, "diagnose", f"{case['name']}-bare")["findings"]
            full = [f for f in findings if f["id"] == "gpu_memory_nearly_full"]
            self.assertEqual(len(full), case["name"] == "gpu_memory_full", case["name"])

    def test_nobody_else_was_on_the_gpu(self):
        for case in (case["name"] for case in labelled_cases() if case.get("machine") == "gpu"):
            warnings = [warning["id"] for warning in ask(self.home, "compare", f"{case}-bare", f"{case}-instrument")["warnings"]]
            self.assertNotIn("gpu_neighbour", warnings, case)
            self.assertIn("instrument", " ".join(warnings), case)


if __name__ == "__main__":
    unittest.main()
