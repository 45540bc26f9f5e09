"""The callbacks in the frameworks that they are for. Each is skipped where its framework is not installed."""
# ctest-timeout: 900
import importlib.util
import re
import sys
import textwrap
import unittest

from progress_fifo import PYTHON_CLIENT, FifoCase
from trainscope_test import main

PIP = {"tensorflow": "tensorflow-cpu", "torch": "torch", "lightning": "lightning",
       "transformers": "transformers[torch]"}


def words(line):
    """A line without what differs from run to run."""
    line = re.sub(r"^(phase \w+) \d+\.\d{9}$", r"\1", line)
    return re.sub(r"([=\s])-?\d+\.\d+(e-?\d+)?(?=\s|$)", r"\1X", line)


def without_input(lines):
    return [line for line in lines if line != "phase input"]


class Frameworks(FifoCase):
    def reported_lines(self, needs, source, **environment):
        """The lines of a job that uses these modules, without what differs from run to run."""
        return [words(line) for line in self.reported_exactly(needs, source, **environment)]

    def reported_exactly(self, needs, source, **environment):
        missing = [PIP[module] for module in needs if importlib.util.find_spec(module) is None]
        if missing:
            raise unittest.SkipTest(f"{needs[-1]} is missing (pip install {' '.join(missing)})")
        find = f"import sys, time; sys.path.insert(0, {str(PYTHON_CLIENT)!r})\n"
        self.fifo.run([sys.executable, "-B", "-c", find + textwrap.dedent(source), self.folder], quiet=False,
                      CUDA_VISIBLE_DEVICES="", TF_CPP_MIN_LOG_LEVEL="3", **environment)
        return self.fifo.sent()


class Keras(Frameworks):
    FIT = """
        import tensorflow, trainscope
        x, y = tensorflow.random.normal((32, 4)), tensorflow.random.normal((32, 1))
        data = tensorflow.data.Dataset.from_tensor_slices((x, y)).batch(8)
        model = tensorflow.keras.Sequential([tensorflow.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        measured = trainscope.keras.measure_input(data)
        assert measured.element_spec == data.element_spec and int(measured.cardinality()) == 4
        callback = trainscope.keras.ProgressCallback(batch_size=8, step_numbers=NUMBERS)
        for _ in range(2):
            model.fit(measured, epochs=2, validation_data=(x, y), verbose=0, callbacks=[callback])
    """

    def assert_fits(self, lines, numbers=" loss=X"):
        steps = without_input(lines)
        expected = []
        for fit in range(2):
            expected.append("batch 8")
            for epoch in (1, 2):
                expected += [f"step {8 * fit + 4 * (epoch - 1) + i}{numbers}" for i in (1, 2, 3, 4)]
                expected += ["begin evaluation", "end evaluation", f"epoch {epoch} loss=X val_loss=X"]
        self.assertEqual(steps, expected)
        # Keras looks at a first element before it trains; after that, one wait a step.
        self.assertGreaterEqual(len(lines) - len(steps), 16)

    def fit(self, numbers):
        return self.FIT.replace("NUMBERS", str(numbers))

    def test_fit(self):
        self.assert_fits(self.reported_lines(["tensorflow"], self.fit(True)))

    def test_fit_without_the_numbers_of_steps(self):
        """Keras may call callbacks on another thread, and fetches nothing for us."""
        source = textwrap.dedent(self.fit(False)) + textwrap.dedent("""
            import keras.src.callbacks.callback_list as lists
            assert lists.utils.is_default(callback.on_train_batch_end)
            """)
        self.assert_fits(self.reported_lines(["tensorflow"], source), "")

    def test_fit_of_keras_2(self):
        if importlib.util.find_spec("tf_keras") is None:
            raise unittest.SkipTest("Keras 2 is missing (pip install tf_keras)")
        self.assert_fits(self.reported_lines(["tensorflow"], self.fit(True), TF_USE_LEGACY_KERAS="1"))

    def test_the_last_execution_of_an_epoch_may_have_fewer_steps(self):
        lines = self.reported_lines(["tensorflow"], """
            import tensorflow, trainscope
            batch = tensorflow.ones((8, 4)), tensorflow.ones((8, 1))
            model = tensorflow.keras.Sequential([tensorflow.keras.layers.Dense(1)])
            model.compile("sgd", "mse", steps_per_execution=5)
            model.fit(tensorflow.data.Dataset.from_tensors(batch).repeat(13), epochs=2, verbose=0,
                      callbacks=[trainscope.keras.ProgressCallback()])
            """)
        self.assertEqual([line for line in lines if line.startswith("step")],
                         [f"step {number}" for number in (5, 10, 13, 18, 23, 26)])

    def test_a_wait_is_that_of_the_job_and_not_the_reading(self):
        """What is read while the job works is not waited for: waits and work are no more than the whole."""
        lines = self.reported_exactly(["tensorflow"], """
            import tensorflow, trainscope
            def slow():
                for i in range(10):
                    time.sleep(0.1)
                    yield i
            data = tensorflow.data.Dataset.from_generator(slow, output_types=tensorflow.int64)
            for prepared in (data, data.prefetch(5)):
                began, worked = time.monotonic(), 0
                for element in trainscope.keras.measure_input(prepared):
                    work = time.monotonic()
                    time.sleep(0.15)
                    worked += time.monotonic() - work
                trainscope.scalar("rest", time.monotonic() - began - worked)
            """)
        for waits, rest in ((lines[:10], lines[10]), (lines[11:21], lines[21])):
            waited = sum(float(re.fullmatch(r"phase input (\S+)", line)[1]) for line in waits)
            self.assertLessEqual(waited, float(rest.split()[2]) * 1.01)
            self.assertGreaterEqual(waited, 0.1)  # The first is waited for by everybody.

    def test_what_is_no_dataset_stays_what_it_is(self):
        self.assertEqual(self.reported_lines(["tensorflow"], """
            import tensorflow, trainscope
            data = [1, 2]
            assert trainscope.keras.measure_input(data) is data
            """), [])


class Torch(Frameworks):
    def test_loop(self):
        lines = self.reported_lines(["torch"], """
            import torch, trainscope
            data = torch.utils.data.TensorDataset(torch.randn(20, 4), torch.randn(20, 1))
            loader = torch.utils.data.DataLoader(data, batch_size=8, num_workers=2)
            steps = trainscope.torch.loop(loader)
            assert len(steps) == 3 and steps.dataset is data
            for epoch in range(2):
                for x, y in steps:
                    steps.report(loss=(x.sum(1) - y[:, 0]).square().mean())
                trainscope.epoch(epoch)
            """)
        step, wait = "step loss=X", "phase input"
        self.assertEqual(lines, [wait, "batch 8", step, wait, step, wait, "batch 4", step, "epoch 0",
                                 wait, "batch 8", step, wait, step, wait, "batch 4", step, "epoch 1"])


class Lightning(Frameworks):
    FIT = """
        import logging, torch, lightning.pytorch as pl, trainscope
        logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
        class Model(pl.LightningModule):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(4, 1)
            def loss(self, batch):
                return torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])
            def training_step(self, batch, index):
                return self.loss(batch)
            def validation_step(self, batch, index):
                self.log("val_loss", self.loss(batch))
            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), 0.01)
        data = torch.utils.data.TensorDataset(torch.randn(24, 4), torch.randn(24, 1))
        loader = torch.utils.data.DataLoader(data, batch_size=4)
        trainer = pl.Trainer(
            max_epochs=2, accumulate_grad_batches=2, num_sanity_val_steps=0, default_root_dir=sys.argv[1],
            accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
            callbacks=[trainscope.lightning.ProgressCallback()], **OPTIONS)
        profiler = trainer.profiler
        trainer.fit(Model(), loader, loader)
        assert trainer.profiler is profiler
    """

    def steps(self, epoch):
        numbers = [f"step {3 * (epoch - 1) + i} loss=X" for i in (1, 2, 3)]
        return (["batch 8"] if epoch == 1 else []) + numbers + [
            "begin evaluation", "end evaluation", f"epoch {epoch} val_loss=X"]

    def test_fit(self):
        lines = self.reported_lines(["torch", "lightning"], "OPTIONS = {}\n" + textwrap.dedent(self.FIT))
        told = without_input(lines)
        self.assertEqual([line for line in told if line != "phase checkpoint"], self.steps(1) + self.steps(2))
        self.assertEqual((lines.count("phase input"), lines.count("phase checkpoint")), (12, 2))

    def test_a_profiler_of_the_job_stays(self):
        options = "OPTIONS = {'profiler': 'simple', 'enable_checkpointing': False}\n"
        lines = self.reported_lines(["torch", "lightning"], options + textwrap.dedent(self.FIT))
        self.assertEqual(lines, self.steps(1) + self.steps(2))


class HuggingFace(Frameworks):
    def test_train(self):
        lines = self.reported_lines(["torch", "transformers"], """
            import torch, transformers, trainscope
            class Model(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.layer = torch.nn.Linear(4, 1)
                def forward(self, x, labels):
                    made = self.layer(x)
                    return {"loss": torch.nn.functional.mse_loss(made, labels), "logits": made}
            data = [{"x": torch.randn(4), "labels": torch.randn(1)} for _ in range(24)]
            arguments = transformers.TrainingArguments(
                sys.argv[1], per_device_train_batch_size=4, gradient_accumulation_steps=2, num_train_epochs=2,
                logging_steps=3, eval_strategy="epoch", save_strategy="epoch", report_to=[], use_cpu=True,
                disable_tqdm=True)
            trainer = transformers.Trainer(Model(), arguments, train_dataset=data, eval_dataset=data,
                                           callbacks=[trainscope.huggingface.ProgressCallback()])
            trainer.train()
            trainer.evaluate()
            """)
        phases = [line for line in lines if line.startswith("phase")]
        self.assertEqual(phases, (["phase input"] * 3 + ["phase evaluation", "phase checkpoint"]) * 2
                         + ["phase evaluation"])
        self.assertEqual([line for line in lines if line.startswith(("step", "epoch", "batch"))],
                         ["batch 8", "step 1", "step 2", "step 3", "epoch 1",
                          "step 4", "step 5", "step 6", "epoch 2"])
        self.assertEqual(sum(line.startswith("scalar loss") and "set=" not in line for line in lines), 2)
        self.assertEqual(sum(line == "scalar loss X set=validation" for line in lines), 3)


if __name__ == "__main__":
    main()
