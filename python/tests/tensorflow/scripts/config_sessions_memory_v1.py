# What stands at the head of notebooks: seeds, devices, memory growth, limits, sessions of old, versions, warnings off
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["PYTHONHASHSEED"] = "0"
import gc
import logging
import random
import warnings

warnings.filterwarnings("ignore")
import numpy as np
import tensorflow as tf

tf.get_logger().setLevel(logging.ERROR)
tf.get_logger().setLevel("ERROR")
tf.autograph.set_verbosity(0)
tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    tf.random.set_seed(seed)
    tf.keras.utils.set_random_seed(seed)
    os.environ["TF_DETERMINISTIC_OPS"] = "1"


seed_everything(42)
print(tf.__version__[0], tf.keras.__version__[0], tf.executing_eagerly(), tf.test.is_built_with_cuda() in (True, False), tf.test.gpu_device_name() == "")
gpus = tf.config.list_physical_devices("GPU")
print("Num GPUs Available:", len(gpus), len(tf.config.experimental.list_physical_devices("CPU")))
if gpus:
    try:
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)
        tf.config.set_logical_device_configuration(gpus[0], [tf.config.LogicalDeviceConfiguration(memory_limit=1024)])
    except RuntimeError as e:
        print(e)
try:
    tpu = tf.distribute.cluster_resolver.TPUClusterResolver()
    print("Running on", tpu)
except ValueError:
    strategy = tf.distribute.get_strategy()
print("REPLICAS:", strategy.num_replicas_in_sync)
config = tf.compat.v1.ConfigProto()
config.gpu_options.allow_growth = True
config.gpu_options.per_process_gpu_memory_fraction = 0.8
session = tf.compat.v1.Session(config=config)
print(tf.config.threading.get_intra_op_parallelism_threads() >= 0, tf.config.get_soft_device_placement() in (True, False), tf.config.list_logical_devices()[0].device_type)
tf.config.optimizer.set_jit(False)
tf.config.experimental.enable_op_determinism()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(4,), activation="relu", kernel_initializer="ones"), tf.keras.layers.Dense(1, kernel_initializer="ones")])
    model.compile("adam", "mse")
with tf.device("/CPU:0"):
    a = tf.random.uniform((2, 4))
    print(a.device.endswith("CPU:0"), model(a).shape)
x, y = np.ones((32, 4), "float32"), np.zeros((32, 1), "float32")
losses = []
for fold in range(3):
    tf.keras.backend.clear_session()
    gc.collect()
    seed_everything(fold)
    m = tf.keras.Sequential([tf.keras.layers.Input(shape=(4,)), tf.keras.layers.Dense(3, kernel_initializer="ones"), tf.keras.layers.Dense(1, kernel_initializer="ones")])
    m.compile(optimizer=tf.keras.optimizers.Adam(learning_rate=0.01), loss="mse", jit_compile=False, run_eagerly=False)
    losses.append(m.fit(x, y, epochs=2, batch_size=16, verbose=0).history["loss"][-1])
    del m
print(np.round(losses, 4))
print(m if "m" in globals() else "deleted", tf.keras.backend.epsilon())
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
print(tf.keras.mixed_precision.global_policy().name, tf.keras.layers.Dense(1).compute_dtype, tf.keras.layers.Dense(1).variable_dtype)
tf.keras.mixed_precision.set_global_policy("float32")
first = tf.random.normal((3,), seed=1).numpy()
seed_everything(42)
b = tf.random.normal((3,)).numpy()
seed_everything(42)
print(np.array_equal(b, tf.random.normal((3,)).numpy()), first.shape)
print(tf.sysconfig.get_build_info().get("is_cuda_build") in (True, False, None), tf.config.experimental.get_synchronous_execution() in (True, False))
print(tf.constant([[1, 2], [3, 4]]), tf.zeros((2,)), tf.Variable([1.0, 2.0], name="w"), tf.constant(True))
print(repr(tf.constant(1.5)), tf.constant([1.5]).shape, tf.float32, tf.constant([1]).dtype)
try:
    tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])
except tf.errors.InvalidArgumentError as e:
    print("InvalidArgumentError")
try:
    model.fit(np.ones((4, 3)), np.ones((4, 1)), verbose=0)
except ValueError as e:
    print("ValueError")
try:
    tf.matmul(tf.ones((2, 3)), tf.ones((2, 3)))
except tf.errors.InvalidArgumentError:
    print("matmul")
