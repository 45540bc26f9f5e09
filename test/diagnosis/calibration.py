"""Tables of a calibration: confusion matrix, reliability, Brier score, and the fit of confidences."""
import math
import pathlib
import re

from tables import confusion, count, markdown, tally, unexpected

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent / "src" / "analyze" / "support" / "confidence.cpp"
BINS = (0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0001)
LEAST_IN_GROUP, MOST_GROUPS = 10, 6


def decided(rows):
    return [row for row in rows if row["result"] != "abstained"]


def brier(rows):
    rows = decided(rows)
    return sum((row["confidence"] - (row["result"] == "right")) ** 2 for row in rows) / len(rows) if rows else None


def wilson(right, runs, z=1.96):
    """The 95 % interval of a share."""
    middle, half = right + z * z / 2, z * math.sqrt(right * (runs - right) / runs + z * z / 4)
    return (middle - half) / (runs + z * z), (middle + half) / (runs + z * z)


def reliability(rows):
    """A reliability diagram as a table: where the verdicts are as often right as their confidence says, the mean
    confidence is inside of the interval."""
    lines = []
    for low, high in zip(BINS, BINS[1:]):
        inside = [row for row in decided(rows) if low <= row["confidence"] < high]
        if inside:
            mean, right = sum(row["confidence"] for row in inside) / len(inside), count(inside, "right")
            least, most = wilson(right, len(inside))
            lines.append([f"{low:.1f} to {min(high, 1):.1f}", len(inside), f"{mean:.2f}", f"{right / len(inside):.2f}",
                          f"{least:.2f} to {most:.2f}", bar(right / len(inside), mean)])
    return markdown(["confidence", "runs", "mean confidence", "share right", "95 % interval", "0 … 1"], lines)


def bar(right, confidence, width=20):
    """The share that is right as a bar, with a ¦ at the confidence."""
    cells = ["█" if place < round(right * width) else "·" for place in range(width)]
    cells[min(width - 1, int(confidence * width))] = "¦"
    return f"`{''.join(cells)}`"


def report(rows):
    """Markdown."""
    if not rows:
        return "no runs"
    parts = [tally(rows, ("phases", "instrument", "bare"))]
    others = unexpected(rows, "kind")
    if others:
        parts.append("Not right: " + others)
    value = brier(rows)
    parts += [confusion(rows), reliability(rows), f"Brier score: {'unknown' if value is None else f'{value:.3f}'}"]
    return "\n\n".join(parts)


def groups(rows):
    """Runs by score, in groups of equal size."""
    rows = sorted(decided(rows), key=lambda row: row["score"])
    number = max(1, min(MOST_GROUPS, len(rows) // LEAST_IN_GROUP))
    cut = [round(i * len(rows) / number) for i in range(number + 1)]
    return [rows[a:b] for a, b in zip(cut, cut[1:]) if b > a]


def fitted_points(rows):
    """Score and share right (Laplace's rule: nothing is certain), never decreasing (pool adjacent violators)."""
    pooled = []
    for group in groups(rows):
        pooled.append([sum(r["score"] for r in group), count(group, "right"), len(group)])
        while len(pooled) > 1 and share(pooled[-1]) < share(pooled[-2]):
            last = pooled.pop()
            pooled[-1] = [a + b for a, b in zip(pooled[-1], last)]
    return [(total / runs, share([total, right, runs])) for total, right, runs in pooled]


def share(group):
    return (group[1] + 1) / (group[2] + 2)


def table(rows):
    """For src/analyze/support/confidence.cpp. Below the lowest group as much as there, but 0 at 0."""
    points = [(0.0, 0.0), *fitted_points(rows)]
    inner = ", ".join(f"{{{score:.2f}, {confidence:.2f}}}" for score, confidence in points)
    return f"constexpr std::array<Point, {len(points)}> kPoints = {{{{{inner}}}}};"


def is_table_in_program(rows):
    """Whether the table of the sources is the one that is fitted to these runs."""
    def numbers(text):
        return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", re.split(r"kPoints\s*=", text)[1].split(";")[0])]
    return numbers(SOURCE.read_text()) == numbers(table(rows))
