"""Tables of a calibration: confusion matrix, reliability, Brier score, and the fit of confidences."""
import datetime
import pathlib

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "diagnosis-validation.md"
BEGIN, END = "<!-- calibration: written by test/diagnosis/calibrate.py -->", "<!-- end of calibration -->"
BINS = (0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0001)
LEAST_IN_GROUP, MOST_GROUPS = 10, 6


def decided(rows):
    return [row for row in rows if row["result"] != "abstained"]


def counts(rows):
    return {what: sum(row["result"] == what for row in rows) for what in ("right", "wrong", "abstained")}


def brier(rows):
    rows = decided(rows)
    return sum((row["confidence"] - (row["result"] == "right")) ** 2 for row in rows) / len(rows) if rows else None


def markdown(head, lines):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head),
                      *("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)])


def confusion(rows):
    """By the truth of the job and the verdict."""
    truths = sorted({row["truth"] for row in rows})
    verdicts = sorted({row["verdict"] for row in rows})
    lines = [[truth, *(sum(r["truth"] == truth and r["verdict"] == verdict for r in rows) or "" for verdict in verdicts)]
             for truth in truths]
    return markdown(["truth \\ verdict", *verdicts], lines)


def reliability(rows):
    lines = []
    for low, high in zip(BINS, BINS[1:]):
        inside = [row for row in decided(rows) if low <= row["confidence"] < high]
        if inside:
            mean = sum(row["confidence"] for row in inside) / len(inside)
            right = sum(row["result"] == "right" for row in inside) / len(inside)
            lines.append([f"{low:.1f} to {min(high, 1):.1f}", len(inside), f"{mean:.2f}", f"{right:.2f}"])
    return markdown(["confidence", "runs", "mean confidence", "share right"], lines)


def report(rows):
    """Markdown."""
    if not rows:
        return "no runs"
    parts = []
    for form in ("phases", "bare"):
        of_form = [row for row in rows if row["form"] == form]
        count = counts(of_form)
        invented = sum(bool(row["raised"]) for row in of_form)
        parts.append(f"{form}: {len(of_form)} runs, {count['right']} right, {count['wrong']} wrong, "
                     f"{count['abstained']} abstained, {invented} clean runs with something invented")
    wrong = [f"{row['kind']} ({row['form']}): {row['verdict']} {row['cause'] or ''}".rstrip() for row in rows
             if row["result"] == "wrong"]
    if wrong:
        parts.append("Wrong: " + "; ".join(wrong))
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
        pooled.append([sum(r["score"] for r in group), sum(r["result"] == "right" for r in group), len(group)])
        while len(pooled) > 1 and share(pooled[-1]) < share(pooled[-2]):
            last = pooled.pop()
            pooled[-1] = [a + b for a, b in zip(pooled[-1], last)]
    return [(total / count, share([total, right, count])) for total, right, count in pooled]


def share(group):
    return (group[1] + 1) / (group[2] + 2)


def table(rows):
    """For src/analyze/support/confidence.cpp. Below the lowest group as much as there, but 0 at 0."""
    points = [(0.0, 0.0), *fitted_points(rows)]
    inner = ", ".join(f"{{{score:.2f}, {confidence:.2f}}}" for score, confidence in points)
    return f"constexpr std::array<Point, {len(points)}> kPoints = {{{{{inner}}}}};"


def write(text, fitted, seed):
    """Into the document, in place of the last ones."""
    before, rest = DOCUMENT.read_text().split(BEGIN)
    after = rest.split(END)[1]
    head = (f"{datetime.date.today()}, seed {seed}. {fitted} runs were fitted; what follows is of the half that was held out.")
    DOCUMENT.write_text(f"{before}{BEGIN}\n{head}\n\n{text}\n{END}{after}")
