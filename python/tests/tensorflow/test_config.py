"""Memory settings become the line."""
import io
import subprocess
import sys

import plimsoll
import pytest
import tensorflow as tf
from plimsoll_tensorflow import environment


@pytest.fixture
def no_line():
    yield
    plimsoll.set_memory_limit("1TiB")


@pytest.mark.parametrize("set_it", [
    lambda d: tf.config.set_logical_device_configuration(d, [tf.config.LogicalDeviceConfiguration(memory_limit=512)]),
    lambda d: tf.config.experimental.set_virtual_device_configuration(d, [tf.config.experimental.VirtualDeviceConfiguration(memory_limit=512)]),
])
def test_a_limit_of_a_device_is_the_line(set_it, no_line):
    set_it(tf.config.list_physical_devices("CPU")[0])
    assert plimsoll.memory_use().limit == 512 * 2**20


def test_crossing_the_line_is_a_resource_exhausted_error(no_line):
    plimsoll.set_memory_limit("1TiB")
    used = plimsoll.memory_use().engine
    plimsoll.set_memory_limit(used + 2**20)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        tf.zeros((4096, 4096)) + 1.0


def test_memory_info():
    kept = tf.ones((256, 256)) * 2.0
    info = tf.config.experimental.get_memory_info("CPU:0")
    assert kept.shape == (256, 256) and 256 * 256 * 4 <= info["current"] <= info["peak"]
    with pytest.raises(ValueError, match="expected a device of this machine"):
        tf.config.experimental.get_memory_info("GPU:0")


def test_a_fraction_of_a_session_is_the_line(no_line):
    options = tf.compat.v1.GPUOptions(per_process_gpu_memory_fraction=0.25)
    tf.compat.v1.Session(config=tf.compat.v1.ConfigProto(gpu_options=options))
    assert plimsoll.memory_use().limit is not None


def test_environment_variables_act_or_are_named(no_line):
    out = io.StringIO()
    environment.apply({"TF_GPU_HOST_MEM_LIMIT_IN_MB": "300", "TF_FORCE_GPU_ALLOW_GROWTH": "true", "TF_MEMORY_ALLOCATION_TRACE": "1"}, out)
    assert plimsoll.memory_use().limit == 300 * 2**20
    assert "the memory line is at 300 MiB" in out.getvalue() and "TF_FORCE_GPU_ALLOW_GROWTH has no effect" in out.getvalue()
    assert "TF_MEMORY_ALLOCATION_TRACE has no effect" in out.getvalue()
    out = io.StringIO()
    environment.apply({"TF_GPU_HOST_MEM_LIMIT_IN_MB": "lots"}, out)
    assert "expected a number of MB" in out.getvalue()


def test_the_limit_of_the_environment_holds_in_a_script():
    code = "import plimsoll; plimsoll.install_tensorflow(shadow=True); print(plimsoll.memory_use().limit)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=dict(
        __import__("os").environ, TF_GPU_HOST_MEM_LIMIT_IN_MB="700"))
    assert done.stdout.strip() == str(700 * 2**20), done.stderr


def test_devices():
    assert tf.config.list_physical_devices("GPU") == [] and not tf.test.is_gpu_available()
    with pytest.raises(ValueError, match="Unrecognized device"):
        tf.config.set_visible_devices("GPU:7")
