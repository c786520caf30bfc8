#!/usr/bin/env python3
"""run.py build|prove|doctor|fix|list [case ...] [--json FILE] [--jobs N] [-v]     (see README.md; the runner is that of 2026_11)"""
import pathlib
import sys

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))
import doctor_set  # noqa: E402

if __name__ == "__main__":
    doctor_set.main(here, 5)
