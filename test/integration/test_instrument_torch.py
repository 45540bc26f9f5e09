"""The module of `run --instrument` with real PyTorch, Lightning, Hugging Face Trainer and JAX: steps are those that the job
counts itself, and the job behaves as without it."""
# ctest-timeout: 900
import re

from instrumented_job import InstrumentedCase, python_with, torch_python
from trainscope_test import main

MODEL = """
import sys, time, torch
torch.manual_seed(0)
class Data(torch.utils.data.Dataset):
    def __init__(self, count): self.count = count
    def __len__(self): return self.count
    def __getitem__(self, i): return torch.full((4,), i / 100), torch.ones(1)
def loader(count=24, **options): return torch.utils.data.DataLoader(Data(count), batch_size=2, **options)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters())
def loss_of(batch, network=None): return ((network or model)(batch[0]) - batch[1]).square().mean()
"""
COMPILED = """
import torch._dynamo.utils
def show():
    counters = torch._dynamo.utils.counters
    print("graphs", counters["stats"]["unique_graphs"], "breaks", sum(counters["graph_break"].values()),
          "recompiles", sum(counters["recompiles"].values()), "loss %.12g" % loss_of(next(iter(loader()))).item())
"""


def without_times(log):
    """PyTorch's log lines begin with time and process."""
    return re.sub(rb"(?m)^([EWI]\d{4}) \S+ \d+ ", rb"\1 ", log)


class Torch(InstrumentedCase):
    def sent(self, source, **keywords):
        return self.sent_by(torch_python(), MODEL + source, **keywords)

    def assert_as_bare(self, source, **keywords):
        """The same output, byte for byte; returns the lines."""
        bare = self.run_job(torch_python(), MODEL + source, is_bare=True, **keywords)
        self.assertEqual(self.fifo.sent(), [])
        lines = self.sent(source, **keywords)
        self.assertEqual((self.job.stdout, without_times(self.job.stderr)), (bare.stdout, without_times(bare.stderr)))
        return lines

    def test_phases_and_loss(self):
        """Twice 12 steps of a job that prints what it computes."""
        lines = self.assert_as_bare("""
for epoch in range(2):
    for batch in loader():
        loss = loss_of(batch); loss.backward(); optimizer.step(); optimizer.zero_grad()
    print("%.17g" % loss.item())
torch.save(model.state_dict(), "model.pt")
""")
        self.assertEqual(len(lines.steps()), 24)
        self.assertEqual(len(lines.phase_s("input")), 24)
        for name in ("forward", "backward", "optimizer"):
            self.assertEqual(len(lines.phase_s(name)), sum(step["timed"] for step in lines.steps()), name)
        self.assertEqual(lines.starting("begin", "end"), ["begin checkpoint", "end checkpoint"])
        self.assertEqual(lines.starting("batch"), ["batch 2"])
        self.assertRegex(lines.marks()[0], r"^instrumented torch \d\S+: input forward backward optimizer checkpoint")

    def test_workers_of_every_start_method(self):
        lines = self.assert_as_bare("""
if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        for batch in loader(24, num_workers=2, multiprocessing_context=method, persistent_workers=True):
            loss_of(batch).backward(); optimizer.step()
""")
        self.assertEqual(len(lines.steps()), 36)
        self.assertEqual(lines.senders(), {None})

    def test_accumulation_lbfgs_and_update_in_backward(self):
        lines = self.sent("""
for i, batch in enumerate(loader(48)):
    loss_of(batch).backward()
    if i % 4 == 3: optimizer.step(); optimizer.zero_grad()
lbfgs = torch.optim.LBFGS(model.parameters(), max_iter=3)
for batch in loader(20):
    def closure():
        lbfgs.zero_grad(); loss = loss_of(batch); loss.backward(); return loss
    lbfgs.step(closure)
own = {p: torch.optim.SGD([p]) for p in model.parameters()}
for p in own: p.register_post_accumulate_grad_hook(lambda p: own[p].step())
for batch in loader(20): loss_of(batch).backward()
""")
        self.assertEqual(len(lines.steps()), 6 + 10 + 10)
        self.assertEqual([step["batches"] for step in lines.steps()], [4] * 6 + [1] * 20)

    def test_a_batch_that_is_kept(self):
        """And a thread that has read one before."""
        lines = self.sent("""
import threading
reader = threading.Thread(target=lambda: next(iter(loader())))
reader.start(); reader.join()
batches = iter(loader())
batch = next(batches)
for _ in range(60): loss_of(batch).backward(); optimizer.step(); optimizer.zero_grad()
""")
        self.assertEqual(len(lines.steps()), 60)

    def test_a_time_limit_of_the_job(self):
        """Its handler is not a plain function, and interrupts our code."""
        self.sent("""
import functools, signal
trace = sys.modules["_trainscope_instrument.trace"].Trace
def stop(reason, number, frame): raise TimeoutError(reason)
def interrupted(*arguments): signal.raise_signal(signal.SIGALRM)
trace.take_backward = interrupted
signal.signal(signal.SIGALRM, functools.partial(stop, "too long"))
try:
    for batch in loader(): loss_of(batch).backward(); optimizer.step()
except TimeoutError: sys.exit(3)
""", code=3)

    def test_compiled_model(self):
        lines = self.assert_as_bare(COMPILED + """
compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
for _ in range(3):
    for batch in loader(20): loss_of(batch, compiled).backward(); optimizer.step(); optimizer.zero_grad()
show()
""")
        self.assertEqual(len(lines.steps()), 30)

    def test_compiled_update(self):
        lines = self.assert_as_bare(COMPILED + """
update = torch.compile(optimizer.step, backend="aot_eager")
for batch in loader(20): loss_of(batch).backward(); update(); optimizer.zero_grad()
show()
""")
        self.assertEqual(len(lines.steps()), 10)

    def test_compiled_loop_and_export(self):
        self.assert_as_bare(COMPILED + """
@torch.compile(backend="aot_eager")
def step(batch):
    loss = loss_of(batch); loss.backward(); optimizer.step(); optimizer.zero_grad(); return loss
for batch in loader(20): step(batch)
show()
torch.export.export(model, (torch.ones(2, 4),)); torch.jit.trace(model, torch.ones(2, 4))
""")

    def test_pickling_and_signatures(self):
        self.assert_as_bare("""
import copy, inspect, pickle, torch.utils.data.dataloader as d
pickle.loads(pickle.dumps((loader(), optimizer, torch.save)))
copy.deepcopy((loader(), optimizer))
print(inspect.signature(torch.save), inspect.signature(torch.autograd.backward), inspect.signature(d._BaseDataLoaderIter.__next__))
iterator = iter(loader()); next(iterator); print(len(iterator), isinstance(iterator, d._BaseDataLoaderIter), type(d.__loader__).__name__)
torch.save(model, "whole.pt")
assert b"trainscope" not in open("whole.pt", "rb").read()
""")

    def test_a_crash(self):
        source = "for i, batch in enumerate(loader()):\n    loss_of(batch).backward(); optimizer.step(); 1 // (5 - i)\n"
        bare = self.run_job(torch_python(), MODEL + source, code=1, is_bare=True)
        lines = self.sent(source, code=1)
        self.assertEqual(self.job.stderr, bare.stderr)
        self.assertEqual(len(lines.steps()), 6)

    def test_two_ranks(self):
        lines = self.sent("""
import os, subprocess
if "RANK" not in os.environ:
    subprocess.run([sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--master-port=0",
                    "--rdzv-backend=c10d", "--rdzv-endpoint=localhost:0", __file__], check=True, stderr=subprocess.DEVNULL)
else:
    torch.distributed.init_process_group("gloo")
    parallel = torch.nn.parallel.DistributedDataParallel(model)
    for batch in loader(20):
        if torch.distributed.get_rank() == 1: time.sleep(0.05)
        loss_of(batch, parallel).backward(); optimizer.step(); optimizer.zero_grad()
    torch.distributed.destroy_process_group()
""")
        self.assertEqual((len(lines.steps()), len(lines.steps("rank1"))), (10, 10))
        waits = lines.phase_s("communication")
        self.assertEqual(len(waits), 10)
        self.assertGreater(sum(waits) / len(waits), 0.025, "the other rank is late by 0.05 s")


class Frameworks(InstrumentedCase):
    def test_lightning(self):
        python = torch_python("lightning")
        lines = self.sent_by(python, """
            import logging, sys, torch, lightning.pytorch as pl
            logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
            class Model(pl.LightningModule):
                def __init__(self):
                    super().__init__()
                    self.layer = torch.nn.Linear(4, 1)
                def loss(self, batch): return torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])
                def training_step(self, batch, index): return self.loss(batch)
                def validation_step(self, batch, index): self.log("val_loss", self.loss(batch))
                def configure_optimizers(self): return torch.optim.SGD(self.parameters(), 0.01)
            data = torch.utils.data.TensorDataset(torch.randn(80, 4), torch.randn(80, 1))
            loader = torch.utils.data.DataLoader(data, batch_size=4)
            trainer = pl.Trainer(max_epochs=2, accumulate_grad_batches=2, default_root_dir=".", accelerator="cpu",
                                 logger=False, enable_progress_bar=False, enable_model_summary=False)
            trainer.fit(Model(), loader, loader)
            print(trainer.global_step)
            """)
        self.assertEqual(len(lines.steps()), int(self.job.stdout))
        # The check before training, and after each epoch.
        self.assertEqual(len(lines.starting("begin evaluation", "phase evaluation")), 3)
        self.assertEqual(len(lines.starting("begin checkpoint", "phase checkpoint")), 2)
        self.assertTrue(any("lightning" in mark and "evaluation" in mark for mark in lines.marks()), lines.marks())

    def test_hugging_face(self):
        python = torch_python("transformers", "accelerate")
        lines = self.sent_by(python, """
            import torch, transformers
            class Model(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.layer = torch.nn.Linear(4, 1)
                def forward(self, x, labels):
                    made = self.layer(x)
                    return {"loss": torch.nn.functional.mse_loss(made, labels), "logits": made}
            data = [{"x": torch.randn(4), "labels": torch.randn(1)} for _ in range(40)]
            arguments = transformers.TrainingArguments(
                "out", per_device_train_batch_size=4, gradient_accumulation_steps=2, num_train_epochs=2, logging_steps=5,
                eval_strategy="epoch", save_strategy="epoch", report_to=[], use_cpu=True, disable_tqdm=True)
            trainer = transformers.Trainer(Model(), arguments, train_dataset=data, eval_dataset=data)
            trainer.train()
            print("steps", trainer.state.global_step)
            """)
        steps = int(re.search(rb"steps (\d+)", self.job.stdout)[1])
        self.assertEqual(len(lines.steps()), steps)
        self.assertEqual(len(lines.starting("begin evaluation", "phase evaluation")), 2)
        self.assertEqual(len(lines.starting("begin checkpoint", "phase checkpoint")), 2)
        self.assertGreaterEqual(len(lines.starting("scalar loss ")), 2)


class Jax(InstrumentedCase):
    def test_compile_time(self):
        """Steps are unknown: a jitted call returns before it has computed."""
        lines = self.sent_by(python_with("jax"), """
            import jax
            print(float(jax.jit(lambda x: (x * 2).sum())(jax.numpy.ones(8))))
            """)
        self.assertEqual(self.job.stdout, b"16.0\n")
        self.assertGreaterEqual(len(lines.phase_s("compile")), 1)
        self.assertEqual(lines.steps(), [])
        self.assertRegex(lines.marks()[0], r"^instrumented jax \d\S+: compile")


if __name__ == "__main__":
    main()
