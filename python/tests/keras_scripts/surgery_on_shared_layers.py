import json

import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(0)


def settle(model):
    r = np.random.default_rng(1)
    model.set_weights([np.abs(r.normal(size=w.shape) * 0.4) + 0.5 if w.ndim == 1 else r.normal(size=w.shape) * 0.4 for w in model.get_weights()])
    return model


shared = layers.Embedding(20, 6, name="shared")
text_a = keras.Input((None,), dtype="int32", name="text_a")
text_b = keras.Input((None,), dtype="int32", name="text_b")
pool = layers.GlobalAveragePooling1D(name="pool")
a, b = pool(shared(text_a)), pool(shared(text_b))
gap = layers.Lambda(lambda t: keras.ops.abs(t[0] - t[1]), name="gap", output_shape=(6,))([a, b])
out = layers.Dense(1, activation="sigmoid", name="score")(gap)
siamese = settle(keras.Model({"text_a": text_a, "text_b": text_b}, out, name="siamese"))
siamese.summary()
data = {"text_a": rng.integers(0, 20, (8, 5)), "text_b": rng.integers(0, 20, (8, 4))}
print(siamese.predict(data, verbose=0).ravel().round(4), siamese(data).shape, len(siamese.layers), [l.name for l in siamese.layers])
print(len(shared._inbound_nodes), siamese.get_layer("pool").output is not None, siamese.get_layer(index=2).name)

base = settle(keras.Sequential([keras.Input((8, 8, 3)), layers.Conv2D(4, 3, activation="relu", name="c1"), layers.BatchNormalization(name="bn"), layers.Conv2D(4, 3, name="c2"), layers.GlobalMaxPooling2D(), layers.Dense(5, name="top")], name="base"))
cut = keras.Model(base.inputs, base.get_layer("c2").output)
print(cut.output_shape, [l.name for l in cut.layers])
taps = keras.Model(base.inputs, {l.name: l.output for l in base.layers if l.name.startswith("c")})
x = rng.random((2, 8, 8, 3)).astype("float32")
print({k: v.shape for k, v in taps.predict(x, verbose=0).items()})
new_head = layers.Dense(3, activation="softmax", kernel_initializer="zeros", name="new_top")(base.layers[-2].output)
retopped = keras.Model(base.inputs, new_head)
for layer in retopped.layers[:-1]:
    layer.trainable = False
retopped.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
h = retopped.fit(x, np.array([0, 2]), epochs=2, verbose=0)
print(["%.4f" % v for v in h.history["loss"]], len(retopped.trainable_weights), len(retopped.non_trainable_weights))


def widen(layer):
    config = layer.get_config()
    if isinstance(layer, layers.Conv2D):
        config["filters"] *= 2
    if isinstance(layer, layers.Dense):
        config["activation"] = "tanh"
    return layer.__class__.from_config(config)


wide = keras.models.clone_model(base, clone_function=widen)
print(wide.count_params(), base.count_params(), wide.layers[-1].activation.__name__, wide.get_layer("c1").filters)
on_new_input = keras.models.clone_model(base, input_tensors=keras.Input((16, 16, 3)))
print(on_new_input.input_shape, on_new_input.get_layer("c2").output.shape)


def insert_dropout(model):
    x = inp = keras.Input(model.input_shape[1:])
    for layer in model.layers:
        x = layer(x)
        if isinstance(layer, layers.Conv2D):
            x = layers.Dropout(0.5, name=layer.name + "_drop")(x)
    return keras.Model(inp, x)


dropped = insert_dropout(base)
print([l.name for l in dropped.layers if "drop" in l.name], np.allclose(dropped.predict(x, verbose=0), base.predict(x, verbose=0), atol=1e-5))
base.pop()
base.add(layers.Dense(2, name="replaced", kernel_initializer="ones"))
print([l.name for l in base.layers], base.output_shape, base.predict(x, verbose=0).shape)

nested_in = keras.Input((8, 8, 3))
nested = keras.Model(nested_in, layers.Dense(1)(cut(nested_in)), name="nested")
nested.summary(expand_nested=True, show_trainable=True)
print(len(nested._flatten_layers()), [w.path for w in nested.weights][:3])

config = siamese.get_config()
print(sorted(config), config["name"], len(config["layers"]))
as_json = json.loads(nested.to_json())
print(as_json["class_name"], as_json["config"]["name"])
back = keras.models.model_from_json(nested.to_json())
back.set_weights(nested.get_weights())
print(np.allclose(back.predict(x, verbose=0), nested.predict(x, verbose=0), atol=1e-6))


class Residual(keras.Model):
    def __init__(self, depth, **kwargs):
        super().__init__(**kwargs)
        self.depth = depth
        self.blocks = [layers.Dense(4, activation="relu") for _ in range(depth)]
        self.heads = {"a": layers.Dense(1), "b": layers.Dense(2)}

    def call(self, x, training=None):
        for block in self.blocks:
            x = x + block(x)
        return {k: head(x) for k, head in self.heads.items()}

    def get_config(self):
        return {**super().get_config(), "depth": self.depth}


net = Residual(2)
print(net.built, {k: v.shape for k, v in net(np.ones((3, 4), "float32")).items()}, net.built, len(net.weights), [w.path.split("/")[-2] for w in net.weights][:2])
net.summary()
net.compile("adam", loss={"a": "mse", "b": "mae"}, loss_weights={"a": 1.0, "b": 0.5}, metrics={"b": ["mse"]})
settle(net)
print({k: round(v, 4) for k, v in net.evaluate(np.ones((4, 4)), {"a": np.ones((4, 1)), "b": np.ones((4, 2))}, verbose=0, return_dict=True).items()})
print(type(Residual.from_config(net.get_config())).__name__, keras.Model(text_a, pool(shared(text_a))).predict(data["text_a"], verbose=0).shape)
inp = keras.Input((4,), batch_size=2)
y = inp * 2.0 + 1.0
y = y[:, :2] @ keras.ops.ones((2, 3))
y = keras.ops.where(y > 3.0, y, -y)
arith = keras.Model(inp, [y, keras.ops.mean(y), -y / 2.0])
print([v.shape for v in arith.outputs], [np.asarray(keras.ops.convert_to_numpy(v)).round(2).tolist() for v in arith(np.arange(8.0).reshape(2, 4).astype("float32"))])
print([type(op).__name__ for op in arith.operations][:5])
try:
    keras.Model(text_a, out)
except ValueError as e:
    print("ValueError", "disconnected" in str(e).lower() or "tracing" in str(e).lower() or str(e)[:60])
try:
    siamese.get_layer("nothing")
except ValueError as e:
    print("ValueError", str(e)[:40])
