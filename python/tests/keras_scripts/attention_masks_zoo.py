# Attention layers with every mask: dot-product, additive, multi-head, grouped queries, causal, scores returned, cross attention
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(21)
q, v, k = (rng.normal(size=(2, n, 8)).astype("float32") for n in (4, 6, 6))
qm = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], bool)
vm = np.array([[1, 1, 1, 1, 0, 0], [1, 0, 1, 0, 1, 0]], bool)


def show(name, *values):
    print(name, *[(tuple(a.shape), np.round(np.asarray(a).ravel()[:3], 4).tolist(), f"{float(np.abs(np.asarray(a)).sum()):.3f}") for a in values])


show("dot", layers.Attention()([q, v]))
show("dot key", layers.Attention()([q, v, k], mask=[qm, vm]))
show("dot scores", *layers.Attention(use_scale=True)([q, v], mask=[None, vm], return_attention_scores=True))
show("concat score", layers.Attention(score_mode="concat")([q, v]))
show("causal", layers.Attention()([v, v], use_causal_mask=True))
show("additive", *layers.AdditiveAttention(use_scale=False)([q, v, k], mask=[qm, vm], return_attention_scores=True))


def fixed(layer, *shapes):
    layer.build(*shapes)
    r = np.random.default_rng(0)
    for w in layer.weights:
        if "seed" not in w.path:
            w.assign(r.normal(size=w.shape) * 0.3)
    return layer


mha = fixed(layers.MultiHeadAttention(2, 4, value_dim=4, output_shape=5), q.shape, v.shape, k.shape)
show("mha", mha(q, v, k))
show("mha masks", *mha(q, v, k, query_mask=qm, value_mask=vm, return_attention_scores=True))
full = rng.integers(0, 2, (2, 4, 6)).astype(bool)
full[..., 0] = True
show("mha attention_mask", mha(q, v, k, attention_mask=full))
self_mha = fixed(layers.MultiHeadAttention(4, 2, use_bias=False), v.shape, v.shape)
show("mha causal", *self_mha(v, v, use_causal_mask=True, return_attention_scores=True))
show("mha causal masked", self_mha(v, v, use_causal_mask=True, query_mask=vm, value_mask=vm, key_mask=vm))
two_axes = fixed(layers.MultiHeadAttention(2, 3, attention_axes=(2, 3)), (2, 3, 4, 2, 5), (2, 3, 4, 2, 5))
z = rng.normal(size=(2, 3, 4, 2, 5)).astype("float32")
show("mha axes", two_axes(z, z))
gqa = fixed(layers.GroupQueryAttention(4, 4, 2), q.shape, v.shape, k.shape)
show("gqa", *gqa(q, v, k, return_attention_scores=True))
show("gqa masked", gqa(q, v, k, query_mask=qm, value_mask=vm))
h = rng.normal(size=(2, 5, 2, 4)).astype("float32")
show("dpa causal", ops.dot_product_attention(h, h, h, is_causal=True, scale=0.5))
show("dpa bias", ops.dot_product_attention(h, h, h, bias=np.linspace(-1, 1, 25).reshape(1, 1, 5, 5).astype("float32"), mask=np.tril(np.ones((1, 1, 5, 5), bool))))

# an encoder and a decoder with padding masks from Embedding, trained
src, tgt = rng.integers(1, 12, (30, 6)), rng.integers(1, 12, (30, 5))
src[:, 4:][rng.random((30, 2)) < 0.5] = 0
tgt[:, 3:][rng.random((30, 2)) < 0.5] = 0
a, b = keras.Input((6,), dtype="int32"), keras.Input((5,), dtype="int32")
embed = layers.Embedding(12, 8, mask_zero=True)
enc = layers.MultiHeadAttention(2, 4)(embed(a), embed(a))
enc = layers.LayerNormalization()(layers.Add()([enc, embed(a)]))
dec = layers.MultiHeadAttention(2, 4)(embed(b), embed(b), use_causal_mask=True)
dec = layers.LayerNormalization()(layers.Add()([dec, embed(b)]))
cross = layers.MultiHeadAttention(2, 4, name="cross")(dec, enc)
out = layers.Dense(12)(layers.Add()([cross, dec]))
model = keras.Model([a, b], out)
r = np.random.default_rng(1)
for w in model.trainable_variables:
    w.assign(r.normal(size=w.shape) * 0.3 + ("gamma" in w.path))
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"], weighted_metrics=[keras.metrics.SparseCategoricalAccuracy(name="wacc")])
target = np.roll(tgt, -1, axis=1)
h = model.fit([src, tgt], target, epochs=3, batch_size=10, shuffle=False, verbose=0)
for key in sorted(h.history):
    print(key, [f"{x:.4f}" for x in h.history[key]])
print(np.round(model.predict([src[:2], tgt[:2]], verbose=0)[:, 0, :3], 4).tolist())
bert = keras.Sequential([keras.Input((6,), dtype="int32"), layers.Embedding(12, 8), layers.Dense(8), layers.GlobalMaxPooling1D()])
print(bert.output_shape, len(bert.weights))
