"""keras.random by its moments, keras.tree, keras.utils."""
import os
import tempfile

import keras
import numpy as np
from keras import ops, random, tree

keras.utils.set_random_seed(11)
n = 20000
draws = {
    "normal": random.normal((n,), 2.0, 3.0), "uniform": random.uniform((n,), -1.0, 3.0), "truncated": random.truncated_normal((n,)), "gamma": random.gamma((n,), 3.0),
    "beta": random.beta((n,), 2.0, 3.0), "binomial": random.binomial((n,), 10.0, 0.3), "randint": random.randint((n,), 0, 10), "dropout": random.dropout(ops.ones((n,)), 0.25),
    "categorical": random.categorical(np.log([[0.2, 0.3, 0.5]]), n)[0]}
for name, value in draws.items():
    v = ops.convert_to_numpy(value).astype("float64")
    print(name, keras.backend.standardize_dtype(value.dtype), v.shape, "%.1f" % abs(v.mean()), "%.0f" % v.std(), v.min() >= -2.1 if name == "truncated" else "")
a, b = random.normal((3,), seed=5), random.normal((3,), seed=5)
print("same seed", np.array_equal(a, b), "other seed", np.array_equal(a, random.normal((3,), seed=6)))
gen = random.SeedGenerator(42)
u, v = random.uniform((4,), seed=gen), random.uniform((4,), seed=gen)
print("moves on", not np.allclose(u, v), ops.convert_to_numpy(gen.state.value).shape, str(gen.state.dtype))
gen2 = random.SeedGenerator(42)
print("again", np.allclose(u, random.uniform((4,), seed=gen2)), gen.get_config())
s = ops.convert_to_numpy(random.shuffle(ops.arange(10), seed=1))
print(sorted(s.tolist()), random.shuffle(ops.reshape(ops.arange(6), (2, 3)), axis=1, seed=2).shape)
keras.utils.set_random_seed(3)
p = np.random.rand(2), ops.convert_to_numpy(random.normal((2,)))
keras.utils.set_random_seed(3)
q = np.random.rand(2), ops.convert_to_numpy(random.normal((2,)))
print("seeded", np.allclose(p[0], q[0]), np.allclose(p[1], q[1]))


def train():
    keras.utils.set_random_seed(1)
    m = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dropout(0.5), keras.layers.GaussianNoise(0.1), keras.layers.Dense(1)])
    m.compile("adam", "mse")
    x = np.random.normal(size=(32, 4))
    return m.fit(x, x[:, :1], epochs=2, verbose=0).history["loss"]


print("reproducible", train() == train())
for init in (keras.initializers.GlorotNormal(1), keras.initializers.HeUniform(1), keras.initializers.LecunNormal(1), keras.initializers.VarianceScaling(2.0, "fan_avg", "uniform", 1), keras.initializers.RandomNormal(stddev=0.1, seed=1), keras.initializers.TruncatedNormal(stddev=0.1, seed=1)):
    v = ops.convert_to_numpy(init((200, 100)))
    print(type(init).__name__, "%.2f" % v.std(), np.array_equal(v, ops.convert_to_numpy(init((200, 100)))))
o = ops.convert_to_numpy(keras.initializers.Orthogonal(seed=0)((6, 4)))
print(np.allclose(o.T @ o, np.eye(4), atol=1e-5), ops.convert_to_numpy(keras.initializers.Identity(2.0)((2, 2))).tolist(), ops.convert_to_numpy(keras.initializers.Constant(3)((2,))).tolist(), keras.initializers.STFT("real")((8, 1, 5)).shape)

structure = {"b": [1, (2, 3)], "a": {"x": 4}, "c": None}
print(tree.flatten(structure), tree.map_structure(lambda v: v if v is None else v * 10, structure), tree.is_nested([1]), tree.is_nested(1))
print(tree.pack_sequence_as({"k": (0, 0)}, [7, 8]), tree.flatten_with_path({"a": [1, 2]}), tree.map_structure(lambda a, b: a + b, [1, {"z": 2}], [10, {"z": 20}]))
print(tree.traverse(lambda v: "leaf" if isinstance(v, int) else None, [1, [2]]), tree.map_structure_up_to([0, 0], lambda v: len(v), [[1, 2], [3]]), tree.lists_to_tuples([[1], {"a": [2]}]), tree.map_shape_structure(lambda s: len(s), {"a": (1, 2), "b": (3,)}))
try:
    tree.assert_same_structure([1, 2], [1, [2]])
except (ValueError, TypeError) as e:
    print(type(e).__name__)

print(keras.utils.to_categorical([0, 2, 1], 3).tolist(), keras.utils.normalize(np.array([[3.0, 4.0]])).tolist())
print(keras.utils.pad_sequences([[1, 2], [3]], maxlen=3, truncating="post").tolist(), keras.utils.get_source_inputs is not None if hasattr(keras.utils, "get_source_inputs") else "", keras.utils.is_keras_tensor(keras.Input((2,))) if hasattr(keras.utils, "is_keras_tensor") else keras.backend.is_keras_tensor(keras.Input((2,))))
img = np.zeros((10, 8, 3), "uint8")
img[:5] = 200
file = os.path.join(tempfile.mkdtemp(), "i.png")
keras.utils.save_img(file, img)
loaded = keras.utils.load_img(file, target_size=(5, 4), interpolation="nearest")
print(keras.utils.img_to_array(loaded).shape, keras.utils.img_to_array(loaded)[0, 0].tolist(), keras.utils.array_to_img(img.astype("float32"), scale=False).size)
bar = keras.utils.Progbar(3, verbose=0, stateful_metrics=["acc"])
bar.update(1, [("loss", 1.0), ("acc", 0.5)])
bar.add(1, [("loss", 3.0)])
print(bar._values.keys() if hasattr(bar, "_values") else "")
print(keras.utils.bounding_boxes.convert_format(np.array([[1.0, 2.0, 3.0, 4.0]]), "xywh", "xyxy", height=10, width=10).tolist() if not hasattr(keras.utils.bounding_boxes.convert_format(np.array([[1.0, 2.0, 3.0, 4.0]]), "xywh", "xyxy", height=10, width=10), "numpy") else ops.convert_to_numpy(keras.utils.bounding_boxes.convert_format(np.array([[1.0, 2.0, 3.0, 4.0]]), "xywh", "xyxy", height=10, width=10)).tolist())
ds = keras.utils.timeseries_dataset_from_array if hasattr(keras.utils, "timeseries_dataset_from_array") else None
print(ds is not None, keras.utils.clear_session is keras.backend.clear_session, keras.config.floatx(), keras.config.epsilon(), keras.config.image_data_format(), keras.config.is_interactive_logging_enabled())
keras.config.disable_interactive_logging()
with keras.device("cpu:0") if hasattr(keras, "device") else keras.name_scope("x"):
    print(ops.convert_to_numpy(ops.ones((2,))))
var = keras.Variable([1.0, 2.0], name="var", trainable=True)
var.assign([3.0, 4.0])
var.assign_add([1.0, 1.0])
print(var.numpy(), var.shape, str(var.dtype), var.name, var.path, (var * 2)[0], ops.convert_to_numpy(ops.sum(var)))
with keras.StatelessScope(state_mapping=[(var, ops.array([9.0, 9.0]))]) as scope:
    inside = ops.convert_to_numpy(var + 0)
    var.assign([0.0, 0.0])
print(inside, var.numpy(), ops.convert_to_numpy(scope.get_current_value(var)))
dense = keras.layers.Dense(2, kernel_initializer="ones")
dense.build((None, 2))
out, nontrainable = dense.stateless_call([np.full((2, 2), 0.5, "float32"), np.zeros(2, "float32")], [], np.ones((1, 2), "float32"))
print(ops.convert_to_numpy(out), nontrainable)
opt = keras.optimizers.SGD(0.5)
opt.build(dense.trainable_variables)
new, _ = opt.stateless_apply(opt.variables, [ops.ones((2, 2)), ops.ones((2,))], dense.trainable_variables)
print(ops.convert_to_numpy(new[0]).tolist(), dense.get_weights()[0].tolist())
metric = keras.metrics.Mean()
state = metric.stateless_update_state(metric.variables, [1.0, 3.0])
print(float(metric.stateless_result(state)), float(metric.result()))
