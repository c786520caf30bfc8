"""These tests run in a pytest of their own: `import tensorflow` is Plimsoll's in this process, and tensors print as TensorFlow's."""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import plimsoll  # noqa: E402

plimsoll.install_tensorflow(shadow=True)


def pytest_addoption(parser):
    parser.addoption("--all-scripts", action="store_true", help="also the scripts that take long")
