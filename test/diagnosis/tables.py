"""Tables of verdicts in Markdown, and the parts of docs/diagnosis-validation.md that consist of them."""
import pathlib

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "diagnosis-validation.md"


def markdown(head, lines):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head),
                      *("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)])


def count(rows, result):
    return sum(row["result"] == result for row in rows)


def tally(rows, forms):
    """By form: how many are right, wrong and abstained, and in how many clean runs something was raised."""
    lines = []
    for form in forms:
        of_form = [row for row in rows if row["form"] == form]
        if of_form:
            lines.append([form, len(of_form), *(count(of_form, result) for result in ("right", "wrong", "abstained")),
                          sum(bool(row["raised"]) for row in of_form)])
    return markdown(["form", "runs", "right", "wrong", "abstained", "clean runs with something raised"], lines)


def confusion(rows):
    """By the truth of the job and the verdict."""
    truths = sorted({row["truth"] for row in rows})
    verdicts = sorted({row["verdict"] for row in rows})
    lines = [[truth, *(sum(r["truth"] == truth and r["verdict"] == verdict for r in rows) or "" for verdict in verdicts)]
             for truth in truths]
    return markdown(["truth \\ verdict", *verdicts], lines)


def unexpected(rows, name):
    """The runs that are not right, one by one; `name`: the key of the case."""
    return "; ".join(f"{row[name]} ({row['form']}): {row['verdict']} {row['cause'] or ''}".rstrip() for row in rows
                     if row["result"] != "right")


def write_part(part, text):
    """Into the document, in place of the last one."""
    begin, end = f"<!-- {part}: ", f"<!-- end of {part} -->"
    before, rest = DOCUMENT.read_text().split(begin)
    comment, rest = rest.split("\n", 1)
    DOCUMENT.write_text(f"{before}{begin}{comment}\n{text}\n{end}{rest.split(end)[1]}")
