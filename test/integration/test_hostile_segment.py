"""A run whose segments were written by an enemy: names, labels, units, reasons, events and the host's inventory with
escape sequences reach no terminal.

A real run is recorded; every text in its frames but those that say what a frame is gets the sequences.
"""
import json
import pathlib
import re
import struct

from screen_reader import ShownProgram
from second_reader import EVENT, INFO, SCHEMA, STEP, ZSTD, crc32c, frame_at, unzstd
from test_hostile import EVIL, OBEYED, read_terminal
from trainscope_test import BIN, Case, main

JOB = """
import os, time
pipe = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY)
for i in range(1, 21):
    os.write(pipe, f"step {i} loss={3 - i / 20} t={time.monotonic_ns()}\\nscalar rate 0.5\\n".encode())
    time.sleep(0.01)
os.write(pipe, b"mark half\\n")
"""
LINE = EVIL.replace("\n", "")  # of a line or a word
WORD = LINE.replace(" ", "")
# What neither our styles nor a program of the whole screen need (ncurses moves back with \x08).
NEVER = re.compile("\x1b\\]|[\x07\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\x1b\\[31m\x1b\\[2J|owned\x07")


def evil(value, kept=(), key=""):
    if isinstance(value, dict):
        return {(k if key not in ("labels", "label") else EVIL + k): evil(v, kept, k) for k, v in value.items()}
    if isinstance(value, list):
        return [evil(v, kept, key) for v in value]
    return value[:6] + EVIL + value[6:] if isinstance(value, str) and key not in kept else value


def frame(kind, flags, payload):
    head = struct.pack("<BBI", kind, flags, len(payload))
    return b"Ts" + head + struct.pack("<I", crc32c(head + payload)) + payload


def poisoned(kind, flags, payload):
    """The frames in place of one."""
    if kind == SCHEMA:
        honest = json.loads(payload)
        schema = evil(honest, kept=("kind", "type"))
        for ours, theirs in zip(honest["columns"][::2], schema["columns"][::2]):
            theirs["metric"] = ours["metric"]  # one that programs know, with labels and a unit that they do not
        schema["missing"].append({"metric": EVIL, "reason": EVIL, "remedy": EVIL})
        return frame(kind, flags, json.dumps(schema).encode())
    if kind == INFO:
        return frame(kind, flags, json.dumps(evil(json.loads(payload))).encode())
    if kind == EVENT:
        event = json.loads(payload)
        return (frame(kind, flags, json.dumps({**event, "text": EVIL + event["text"]}).encode()) +
                frame(kind, flags, json.dumps({**event, "kind": EVIL, "text": EVIL}).encode()))
    if kind == STEP:
        text = (unzstd(payload) if flags & ZSTD else payload).decode()
        return frame(kind, 0, text.replace("scalar rate", f"scalar {WORD}").replace("mark ", f"mark {LINE}").encode())
    return frame(kind, flags, payload)


class HostileSegment(Case):
    def setUp(self):
        super().setUp()
        self.record(JOB, "--name", "plain", "--every", "20ms")
        self.wait_for_settled_runs()
        self.folder_of_run = pathlib.Path(self.info()["run"]["path"])
        self.metrics = len(self.info()["metrics"])
        for path in self.folder_of_run.glob("samples-*.seg"):
            data = path.read_bytes()
            at, parts = 16, [data[:16]]
            while at < len(data):
                found = frame_at(data, at)
                parts.append(poisoned(*found))
                at += 12 + len(found[2])
            path.write_bytes(b"".join(parts))

    def assert_harmless(self, text, what):
        rest = re.sub("\x1b\\[(0|1|2|31|32|33)m", "", text)
        rest = re.sub("\r*\n", "\n", rest)  # CSV has ends of lines of its own
        found = OBEYED.search(rest)
        self.assertIsNone(found, f"{what}: {rest[max(0, found.start() - 80):found.end() + 40]!r}" if found else "")

    def test_the_texts_are_in_the_run(self):
        """Or the rest would prove nothing: JSON says exactly what the run says."""
        info = self.info()
        self.assertGreaterEqual(len(info["metrics"]), self.metrics // 2)
        recorded = [m for m in info["metrics"] if m["status"] == "ok"]
        self.assertTrue([m for m in recorded if EVIL in m["name"] and EVIL in m["unit"]], recorded[:3])
        self.assertTrue([m for m in recorded if any(EVIL in text for item in m["labels"].items() for text in item)])
        self.assertTrue([m for m in info["metrics"] if EVIL in (m["reason"] or "") and EVIL in (m["remedy"] or "")])
        self.assertEqual(info["steps"]["count"], 20)

    def test_a_terminal_obeys_nothing(self):
        run = str(self.folder_of_run)
        for words in (["info", run], ["info", run, "--all"], ["info", run, "--events"], ["info", run, "--json"],
                      ["list"], ["diagnose", run, "--explain"], ["compare", run, run],
                      ["sql", run, "select * from metrics"], ["sql", run, "select * from events"],
                      ["sql", run, "select * from numbers"], ["sql", run, "select * from samples limit 50"],
                      ["export", run, "--to", "csv"], ["export", run, "--to", "csv", "--metric", EVIL]):
            with self.subTest(words[0] + " " + " ".join(words[2:])):
                self.assert_harmless(read_terminal([BIN, *words], self.environment(TERM="xterm")), words)

    def test_no_text_for_people_is_obeyed(self):
        run = str(self.folder_of_run)
        for words in (["info", run, "--all"], ["info", run, "--events"], ["diagnose", run, "--explain"]):
            done = self.trainscope(*words, check=False)
            self.assert_harmless((done.stdout + done.stderr).decode(), words)

    def test_top_shows_them_harmlessly(self):
        environment = self.environment(TERM="screen-256color", LC_ALL="C.UTF-8")
        shown = ShownProgram([BIN, "top", str(self.folder_of_run)], environment, 40, 150)
        self.addCleanup(shown.close)
        shown.wait_for("step time")
        shown.wait_for(lambda text: "owned" in text or shown.type("\t"))  # of a label, in one of the components
        shown.type("q")
        self.assertEqual(shown.wait(), 0)
        found = NEVER.search(shown.bytes.decode())
        self.assertIsNone(found, repr(found))


if __name__ == "__main__":
    main()
