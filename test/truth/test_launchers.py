"""Two ranks that a real launcher starts are one group, and the slow one is named. Each launcher that is not installed is skipped."""
import re
import shutil
import subprocess
import sys

from instrumented_job import torch_python
from slurm_cluster import SlurmCluster, program, why_no_slurm
from trainscope_test import BIN, Case, IS_ROOT, PATIENCE_S, main

STEPS = 9
STEP_MS = {0: 20, 1: 40}
# Reports steps whose length depends on the rank, with their own timestamps: nothing depends on how busy the machine is.
JOB = """
import os, sys, time
rank = int(os.environ[sys.argv[1]])
step_ns, steps = (20_000_000, 40_000_000)[rank], int(sys.argv[2])
begin = time.monotonic_ns()
while time.monotonic_ns() < begin + (steps + 1) * step_ns:
    time.sleep(0.001)
with open(os.environ["TRAINSCOPE_PIPE"], "w") as pipe:
    for i in range(1, steps + 1):
        pipe.write(f"step {i} t={begin + i * step_ns}\\n")
"""
# What a launcher around these tests would tell the ranks.
FOREIGN = ("SLURM_", "TORCHELASTIC_", "OMPI_", "PMI", "MV2_", "MPI_", "MASTER_")
NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK")


class Launchers(Case):
    def environment(self, **more):
        kept = {k: v for k, v in super().environment().items() if not k.startswith(FOREIGN) and k not in NAMES}
        return {**kept, **more}

    def launch(self, words, rank_variable, **variables):
        """Starts two ranks by a launcher: `words` are its own."""
        script = self.path("rank.py")
        with open(script, "w") as file:
            file.write(JOB)
        done = subprocess.run([*words, BIN, "run", "--quiet", "--name", "ranks", "--", sys.executable, "-S", script,
                               rank_variable, str(STEPS)], env=self.environment(**variables), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE_S * 4, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def assert_one_group(self, pattern):
        """One group whose id matches; returns its document."""
        rows = self.trainscope("list").stdout.decode().splitlines()[1:]
        self.assertEqual(len(rows), 1, rows)
        group_id = rows[0].split()[0]
        self.assertRegex(group_id, pattern)
        group = self.info(group_id)
        self.assertEqual(group["group"], {"id": group_id, "kind": "ranks", "size": 2})
        self.assertEqual([(run["group"]["rank"], run["group"]["world_size"]) for run in group["runs"]], [(0, 2), (1, 2)])
        slow = group["runs"][1]
        self.assertEqual((group["slowest"]["rank"], group["slowest"]["run"], group["slowest"]["by"]), (1, slow["id"], "step_p50_s"))
        for run in group["runs"]:
            info = self.info(run["id"])
            self.assertEqual(info["steps"]["count"], STEPS)
            self.assertAlmostEqual(info["steps"]["p50_s"], STEP_MS[info["run"]["rank"]] / 1000, places=6)
            self.assertEqual(info["run"]["local_rank"], info["run"]["rank"], "both are on this host")
            self.assertEqual(info["run"]["machine_metrics_run"], group["runs"][0]["id"])
        text = self.trainscope("info", group_id).stdout.decode()
        self.assertIn("2 ranks", text.splitlines()[0])
        self.assertTrue(re.search(rf"slowest +rank 1 \(run {slow['id']}\): step time p50 40(\.0)? ms", text), text)
        for run in group["runs"]:
            self.assertIn(run["id"], text)

    def test_slurm(self):
        reason = why_no_slurm()
        if reason:
            self.skipTest(reason)
        cluster = SlurmCluster(self.path("slurm"))
        self.addCleanup(cluster.stop)
        cluster.start()
        self.launch([program("srun"), "--ntasks=2", "--overcommit"], "SLURM_PROCID", **cluster.environment)
        self.assert_one_group(r"^slurm-\d+\.0$")

    def test_torchrun(self):
        python = torch_python()
        self.launch([python, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--rdzv-backend", "c10d", "--rdzv-endpoint",
                     "localhost:0", "--rdzv-id", "two-ranks", "--no-python"], "RANK")
        self.assert_one_group(r"^torchrun-two-ranks$")

    def test_openmpi(self):
        mpirun = shutil.which("mpirun.openmpi")
        if mpirun is None:
            self.skipTest("mpirun.openmpi is not installed: apt-get install openmpi-bin")
        as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if IS_ROOT else {}
        self.launch([mpirun, "-n", "2", "--oversubscribe"], "OMPI_COMM_WORLD_RANK", **as_root)
        self.assert_one_group(r"^openmpi-\d+$")


if __name__ == "__main__":
    main()
