"""A loop with a tqdm bar, as people write it: two epochs, the loss behind the bar.

  tqdm_loop.py plain|postfix|unknown|slow|nested|many_epochs
"""
import sys
import time

from tqdm import tqdm, trange


def main():
    case = sys.argv[1]
    if case == "plain":  # One bar for the whole training, nothing said.
        for _ in tqdm(range(60)):
            time.sleep(0.02)
        return
    if case == "unknown":  # A loader without a length.
        bar = tqdm(iter(range(60)), desc="train")
        for i in bar:
            time.sleep(0.02)
            bar.set_postfix(loss=2.0 / (i + 1))
        return
    if case in ("nested", "many_epochs"):  # A bar of epochs around that of the batches.
        epochs, steps = (3, 20) if case == "nested" else (8, 5)
        for _ in trange(epochs):
            for _ in tqdm(range(steps)):
                time.sleep(0.025)
        return
    steps, pause = (4, 1.1) if case == "slow" else (30, 0.025)
    for epoch in range(2):
        bar = tqdm(range(steps), desc=f"Epoch {epoch + 1}/2")
        for i in bar:
            time.sleep(pause)
            bar.set_postfix(loss=f"{2.0 / (1 + i + epoch * steps):.4f}", acc=0.5)


main()
