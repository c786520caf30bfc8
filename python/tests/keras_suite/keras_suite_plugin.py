"""A plug-in of pytest for running Keras's own tests on our backend: counts by folder, and our list of exclusions."""
import collections
import json
import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
BLOCK = 40  # tests in a row that one process takes: they share what JAX has compiled
PAGES_PER_GIB = 1 << 18


def exclusions():
    """(part of a test's id, reason): a line "# reason" holds for the lines that follow it."""
    reason, found = "", []
    for line in (HERE / "excluded_tests.txt").read_text().splitlines():
        if line.startswith("#"):
            reason = line.lstrip("# ")
        elif line.strip():
            found.append((line.strip(), reason))
    return found


def pytest_configure(config):
    for name in ("requires_trainable_backend", "multi_device"):
        config.addinivalue_line("markers", f"{name}: of Keras's own suite")
    config.keras_counts = collections.defaultdict(collections.Counter)
    config.keras_failed = []


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    """trainer_test.py knows the names of Keras's own backends only: to it we are "numpy" while it is imported."""
    from keras.src.backend import config

    name = config._BACKEND
    if getattr(collector, "path", None) is not None and collector.path.name == "trainer_test.py" and name == "plimsoll":
        config._BACKEND = "numpy"
    yield
    config._BACKEND = name


def my_share():
    """(which, of how many) of the processes that share these tests."""
    return map(int, os.environ.get("KERAS_SUITE_SHARE", "0/1").split("/"))


def pytest_collection_modifyitems(config, items):
    excluded, (mine, count) = exclusions(), my_share()
    items[:] = [item for i, item in enumerate(items) if i // BLOCK % count == mine]
    for item in items:
        for part, reason in excluded:
            if part in item.nodeid:
                item.add_marker(pytest.mark.skip(reason=f"excluded: {reason}"))


def folder_of(nodeid):
    path = nodeid.split("::")[0].split("keras/src/")[-1]
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in ("layers", "ops", "backend") else parts[0]


class Counter:
    def __init__(self, config):
        self.config, self.most_pages = config, 3 * PAGES_PER_GIB

    def pytest_runtest_logreport(self, report):
        outcome = report.outcome
        if report.when == "call" or (report.when == "setup" and outcome != "passed"):
            if hasattr(report, "wasxfail"):
                outcome = "skipped"
            self.config.keras_counts[folder_of(report.nodeid)][outcome] += 1
            if outcome == "failed":
                self.config.keras_failed.append(report.nodeid)

    def pytest_runtest_teardown(self):
        """JAX keeps all that it has compiled, which is gigabytes after some thousand tests."""
        pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
        if "jax" in sys.modules and pages > self.most_pages:
            sys.modules["jax"].clear_caches()
            self.most_pages = pages + PAGES_PER_GIB

    def pytest_collectreport(self, report):
        if report.failed and next(my_share()) == 0:
            self.config.keras_counts[folder_of(report.nodeid)]["not collected"] += 1
            self.config.keras_failed.append(report.nodeid)


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session):
    session.config.pluginmanager.register(Counter(session.config))


def pytest_sessionfinish(session):
    path = os.environ.get("KERAS_SUITE_COUNTS")
    if path:
        counts = {folder: dict(c) for folder, c in session.config.keras_counts.items()}
        pathlib.Path(path).write_text(json.dumps({"folders": counts, "failed": session.config.keras_failed}))
