"""Scripts as people post them: what they print here is what they print with TensorFlow (golden/, made by record.py)."""
import pathlib
import subprocess
import sys

import pytest
from compare import differences

HERE = pathlib.Path(__file__).resolve().parent
NAMES = sorted(path.stem for path in (HERE / "scripts").glob("*.py"))
SLOW = ("actor_critic", "hyper_search_and_wrappers", "image_augmentation", "image_folder", "kaggle_tabular_kfold", "transfer_learning")  # only with --all-scripts: make test-tensorflow
TOLERANCES = {"word2vec": 0.05, "attention_is_all_you_need": 0.2, "kaggle_tabular_kfold": 0.05, "ner_bilstm_tagger": 0.05}  # TensorFlow's Adam leaves rows of an embedding alone that were not looked up; equal with SGD


def pytest_generate_tests(metafunc):
    everything = metafunc.config.getoption("--all-scripts")
    metafunc.parametrize("name", [n for n in NAMES if everything or n not in SLOW])


@pytest.fixture(scope="session")
def printed(tmp_path_factory, request):
    folder = tmp_path_factory.mktemp("ours")
    wanted = [item.callspec.params["name"] for item in request.session.items if item.originalname == test_a_script.__name__]
    subprocess.run([sys.executable, str(HERE / "forked.py"), "ours", str(folder), *wanted], timeout=900, capture_output=True, check=False)
    return folder


def test_a_script(name, printed):
    complaints = (printed / f"{name}.err").read_text()
    assert "Traceback" not in complaints, complaints[-3000:]
    found = differences((printed / f"{name}.txt").read_text(), (HERE / "golden" / f"{name}.txt").read_text(), TOLERANCES.get(name, 1e-3))
    assert not found, "\n".join(f"ours:   {a}\ntheirs: {b}" for a, b in found[:8])
