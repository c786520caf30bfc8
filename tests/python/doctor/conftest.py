import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def program():
    """The plimsoll program: PLIMSOLL, or the one in build/bin."""
    path = Path(os.environ.get("PLIMSOLL", Path(__file__).parents[3] / "build/bin/plimsoll"))
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return path


@pytest.fixture(scope="session", autouse=True)
def compiled(tmp_path_factory):
    os.environ.setdefault("PLIMSOLL_DOCTOR_CACHE", str(tmp_path_factory.mktemp("compiled")))
