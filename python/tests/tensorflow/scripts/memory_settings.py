import os

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
os.environ['TF_FORCE_GPU_ALLOW_GROWTH'] = 'true'
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import numpy as np
import tensorflow as tf

print("Num GPUs Available: ", len(tf.config.list_physical_devices('GPU')))
print(tf.config.list_physical_devices('CPU'))
print(tf.config.list_physical_devices())

gpus = tf.config.list_physical_devices('GPU')
if gpus:
    try:
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)
        logical_gpus = tf.config.list_logical_devices('GPU')
        print(len(gpus), "Physical GPUs,", len(logical_gpus), "Logical GPUs")
    except RuntimeError as e:
        print(e)
else:
    print("no GPU")

tf.config.set_visible_devices([], 'GPU')
print(tf.config.get_visible_devices('GPU'))
config = tf.compat.v1.ConfigProto()
config.gpu_options.allow_growth = True
session = tf.compat.v1.Session(config=config)
tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
tf.get_logger().setLevel('ERROR')
tf.autograph.set_verbosity(0)
print(tf.test.is_built_with_cuda(), tf.test.gpu_device_name() == "", tf.test.is_gpu_available())
print(tf.config.optimizer.get_jit() in ("", "autoclustering", False), tf.executing_eagerly())

with tf.device('/CPU:0'):
    a = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    b = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    c = tf.matmul(a, b)
print(c)
print(a.device)

strategy = tf.distribute.get_strategy()
print(strategy.num_replicas_in_sync)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(4, input_shape=(3,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(np.ones((8, 3)), np.ones(8), epochs=1, verbose=0)
tf.keras.backend.clear_session()
try:
    big = tf.zeros((10, 10))
    print(float(tf.reduce_sum(big)))
except tf.errors.ResourceExhaustedError as e:
    print("out of memory")
del model
print("done")
