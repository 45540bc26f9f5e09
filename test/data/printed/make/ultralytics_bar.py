"""Shows the bars of an Ultralytics training with the package's own bar and descriptions, without a training.

  ultralytics_bar.py .../ultralytics/utils/tqdm.py
"""
import importlib.util
import sys
import time

EPOCHS, BATCHES = 2, 23


def main():
    spec = importlib.util.spec_from_file_location("bar", sys.argv[1])
    bar = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bar)
    for _ in bar.TQDM(range(BATCHES), desc="train: Scanning labels... 4 images, 0 backgrounds, 0 corrupt"):
        pass
    for epoch in range(EPOCHS):
        print("\n" + ("%11s" * 7) % ("Epoch", "GPU_mem", "box_loss", "cls_loss", "dfl_loss", "Instances", "Size"))
        batches = bar.TQDM(range(BATCHES), total=BATCHES)
        for i in batches:
            time.sleep(0.02)
            losses = (1.2 - i / 100, 1.5 - i / 100, 1.1 - i / 100)
            batches.set_description(("%11s" * 2 + "%11.4g" * 5) % (f"{epoch + 1}/{EPOCHS}", "0G", *losses, 12, 640))
        evaluation = ("%22s" + "%11s" * 6) % ("Class", "Images", "Instances", "Box(P", "R", "mAP50", "mAP50-95)")
        for _ in bar.TQDM(range(BATCHES), desc=evaluation, total=BATCHES):
            time.sleep(0.002)
        print(("%22s" + "%11i" * 2 + "%11.3g" * 4) % ("all", 4, 17, 0.6, 0.5, 0.7, 0.5))


main()
