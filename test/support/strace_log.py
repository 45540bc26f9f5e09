"""What strace -f -o wrote down, call by call."""
import re

LINE = re.compile(r"^(\d+) +(.*)$")
RESUMED = re.compile(r"^<\.\.\. \w+ resumed>(.*)$")
UNFINISHED = "<unfinished ...>"


def finished_calls(lines):
    """(thread id, text) of each call, whole, in the order in which they ended."""
    begun = {}
    for line in lines:
        thread, text = LINE.match(line).groups()
        if text.endswith(UNFINISHED):
            begun[thread] = text[:-len(UNFINISHED)].rstrip()
            continue
        resumed = RESUMED.match(text)
        if resumed:
            text = begun.pop(thread, "") + resumed.group(1)
        yield thread, text
