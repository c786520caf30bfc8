"""What holds for all tests in Python. A test is skipped only for want of something, and the reason is shown. In CI (CI=true)
everything is there, so that a skip is a failure, unless the machine itself cannot do it: then the reason begins with
"this machine:"."""
import os

import pytest

IN_CI = os.environ.get("CI") == "true"


def pytest_configure(config):
    config.option.reportchars += "s"


def fail_if_skipped(report):
    if not IN_CI or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if "this machine:" not in reason:
        report.outcome, report.longrepr = "failed", f"skipped in CI, where nothing may be missing: {reason}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    fail_if_skipped((yield).get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    fail_if_skipped((yield).get_result())
