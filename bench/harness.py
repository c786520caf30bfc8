"""Contenders of the benchmark: processes that answer each line with a round's value, and how they take turns fairly.

A contender is measured when the others have come to rest: the threads of a pool may spin for a fifth of a second after their work
is done, and whoever comes next would be measured beside them. Each round has an order of its own, drawn at random.
"""
import contextlib
import json
import os
import pathlib
import random
import resource
import select
import statistics
import subprocess
import sys
import time

READY_TIMEOUT_S = 300
ROUND_TIMEOUT_S = 120
HOPELESS = 2  # a peer that takes so many times as long as the best peer in the quick round is not asked again


def processors(count):
    """The first of those that we may use."""
    return sorted(os.sched_getaffinity(0))[:count]


class Contender:
    def __init__(self, name, command, threads):
        self.name, self.values, self.error, self.quick = name, [], None, None
        self.cpu, self.wall, self.threads, self.last = 0.0, 0.0, threads, ""
        self.disturbed = 0  # rounds that began while another contender was not at rest
        cpus = processors(threads)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, bufsize=1, preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        os.set_blocking(self.process.stderr.fileno(), False)

    @property
    def alive(self):
        return self.error is None and self.process.returncode is None

    def answer(self, timeout):
        """The next line it prints, or None if it has ended or said nothing for `timeout` seconds."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if select.select([self.process.stdout], [], [], 0.2)[0]:
                line = self.process.stdout.readline()
                return json.loads(line) if line else self.give_up("ended")
            self.drain()
        return self.give_up(f"no answer in {timeout} s")

    def drain(self):
        """Reads what it says on standard error, so that it never waits for us; the last line may say why it failed."""
        with contextlib.suppress(OSError, TypeError):
            lines = (self.process.stderr.read() or "").strip().splitlines()
            self.last = lines[-1] if lines else self.last

    def give_up(self, why):
        self.drain()
        self.error = f"{why}: {self.last[:100]}" if self.last else why
        self.close()

    def ready(self):
        """Waits until it has warmed up. One that uses another number of threads than it was told is left out."""
        answer = self.answer(READY_TIMEOUT_S)
        used = answer.get("threads", self.threads) if answer else self.threads
        if used != self.threads:
            self.give_up(f"uses {used} threads where {self.threads} were asked for")

    def round(self):
        begin, cpu = time.monotonic(), cpu_seconds([self])
        try:
            self.process.stdin.write("\n")
        except OSError:
            return self.give_up("ended")
        answer = self.answer(ROUND_TIMEOUT_S)
        if answer is not None:
            self.wall += time.monotonic() - begin
            self.cpu += cpu_seconds([self]) - cpu
            self.values.append(answer["value"])

    def close(self):
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                pipe.close()


def cpu_seconds(contenders):
    """Processor time of the contenders and what they have started, so far (Linux; 0 where it cannot be read)."""
    total, todo = 0, [c.process.pid for c in contenders if c.alive]
    while todo:
        pid = todo.pop()
        for task in pathlib.Path(f"/proc/{pid}/task").glob("*"):
            with contextlib.suppress(OSError, ValueError, IndexError):  # it has ended meanwhile
                total += int((task / "schedstat").read_text().split()[0])
                todo += map(int, (task / "children").read_text().split())
    return total / 1e9


def wait_idle(contenders, read=cpu_seconds, sleep=time.sleep, window=0.03, windows=100):
    """Waits until the contenders together use less than a twentieth of a processor. False: they never rest."""
    before = read(contenders)
    for _ in range(windows):
        sleep(window)
        now = read(contenders)
        if now - before < window / 20:
            return True
        before = now
    return False


def close_hopeless(contenders, keep=None):
    """After the quick round: closes peers that cannot be the best one, or all but the `keep` best."""
    peers = sorted((c for c in contenders if c.alive and c.quick is not None and c.name != "ours"), key=lambda c: c.quick)
    for place, peer in enumerate(peers):
        if peer.quick > HOPELESS * peers[0].quick or (keep is not None and place >= keep):
            peer.close()


def orders(names, rounds, seed):
    """For each round an order of its own."""
    rng = random.Random(seed)
    return [rng.sample(names, len(names)) for _ in range(rounds)]


def take_turns(commands, threads, rounds, seed, keep=None, together=False):
    """{name: command} -> contenders with their values. They start one after the other, or all together, and show a quick round
    each; those who are still in it then stay alive and take turns."""
    everyone = []
    started = {name: Contender(name, command, threads) for name, command in commands.items()} if together else {}
    for name, command in commands.items():
        contender = started.get(name) or Contender(name, command, threads)
        everyone.append(contender)
        contender.ready()
        if contender.alive:
            wait_idle(everyone)
            contender.round()
            contender.quick = contender.values[-1] if contender.values else None
        close_hopeless(everyone)
    close_hopeless(everyone, keep)
    in_it = {c.name: c for c in everyone if c.alive}
    for contender in in_it.values():
        contender.values, contender.cpu, contender.wall = [], 0.0, 0.0
    for order in orders(list(in_it), rounds, seed):
        for contender in (in_it[name] for name in order):
            if contender.alive:
                contender.disturbed += not wait_idle(everyone)
                contender.round()
    return everyone


@contextlib.contextmanager
def busy(count, threads):
    """Endless loops beside the contenders, of the same priority and on the same processors."""
    cpus = processors(threads)
    loop = f"import os\nwhile os.getppid() == {os.getpid()}:\n    for _ in range(10**7): pass"  # not beyond us, if we are killed
    loops = [subprocess.Popen([sys.executable, "-c", loop], preexec_fn=lambda: os.sched_setaffinity(0, cpus)) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


class Machine:
    """How much of the machine others used between start and others(), which is called when all our processes have ended."""

    def __init__(self):
        self.start, self.own = self.read(), self.own_seconds()

    @staticmethod
    def read():
        try:
            fields = [int(f) for f in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
        except OSError:
            return 0, 0
        return sum(fields) - fields[3] - fields[4], sum(fields)  # all but idle and waiting for disks

    @staticmethod
    def own_seconds():
        return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))

    def others(self):
        """As a share of all processors."""
        used, total = (now - then for now, then in zip(self.read(), self.start))
        own = (self.own_seconds() - self.own) * os.sysconf("SC_CLK_TCK")
        return max(0.0, (used - own) / total) if total else 0.0


def stats(contender):
    values = contender.values
    result = {"median": statistics.median(values), "min": min(values), "max": max(values)}
    result = {key: float(f"{value:.5g}") for key, value in result.items()} | {"rounds": len(values)}
    if contender.disturbed:
        result["disturbed"] = contender.disturbed
    if contender.wall:
        result["cores"] = round(contender.cpu / contender.wall, 2)
    return result


def summary(row, unit, everyone, left_out=None):
    """A row of results.json. `left_out` names those that were not started, with the reason. None if ours did not run."""
    ours, *peers = everyone
    left_out = dict(left_out or {}) | {c.name: c.error for c in peers if c.error}
    if ours.error or not ours.values:
        return None
    theirs = {c.name: stats(c) for c in peers if c.values and not c.error}
    best = min(theirs, key=lambda name: theirs[name]["median"], default=None)
    result = {"row": row, "unit": unit, "ours": stats(ours), "peers": theirs, "left_out": left_out, "best": best, "ratio": None}
    if best:
        result["ratio"] = float(f"{theirs[best]['median'] / result['ours']['median']:.4g}")
    return result
