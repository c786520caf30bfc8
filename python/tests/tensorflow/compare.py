"""What a script printed here beside what it printed with TensorFlow."""
import re

NUMBER = re.compile(r"(?<![\w.])[-+]?\d+\.?\d*(?:e[-+]?\d+)?(?![\w])")
BRACKETS = re.compile(r"\s+(?=[\])])|(?<=[\[(])\s+")
# Times, and lines that a library writes about itself.
VARIES = (re.compile(r"\d+(?:\.\d+)?(?:ms|us|s)(?:/step|/epoch)?"), re.compile(r"\x1b\[[0-9;]*m|\x08+|\r"))
IGNORED = re.compile(r"WARNING:|^\s*$|warnings?\.warn|UserWarning|oneDNN|AutoGraph|cpu_feature|^I0000|^E0000|^W0000|Skipping registering")


def lines(text):
    kept = []
    for line in text.splitlines():
        for pattern in VARIES:
            line = pattern.sub("", line)
        if not IGNORED.search(line):
            kept.append(line.rstrip())
    return kept


def differences(ours, theirs, tolerance=1e-3):
    """[(our line, their line)] that say something else: words must be equal, numbers nearly."""
    a, b = lines(ours), lines(theirs)
    found = [(x, y) for x, y in zip(a, b) if not same(x, y, tolerance)]
    return found + [(x, "<nothing>") for x in a[len(b) :]] + [("<nothing>", y) for y in b[len(a) :]]


def same(x, y, tolerance):
    if x == y:
        return True
    words = [BRACKETS.sub("", NUMBER.sub("#", line)).split() for line in (x, y)]  # NumPy pads numbers of other lengths before a bracket
    if words[0] != words[1]:
        return False
    return all(abs(float(p) - float(q)) <= tolerance * max(1.0, abs(float(q))) for p, q in zip(NUMBER.findall(x), NUMBER.findall(y)))
