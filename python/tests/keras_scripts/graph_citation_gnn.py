"""Node classification with a graph convolution built on segment sums and gathers."""
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(8)
nodes, feats, classes = 40, 12, 3
y = np.arange(nodes) % classes
features = (rng.random((nodes, feats)) < 0.2 + 0.5 * (np.arange(feats) % classes == y[:, None])).astype("float32")
edges = np.array([(a, b) for a in range(nodes) for b in range(nodes) if a != b and rng.random() < (0.3 if y[a] == y[b] else 0.03)]).T


def create_ffn(units, name=None):
    return keras.Sequential([layer for u in units for layer in (layers.BatchNormalization(), layers.Dropout(0.0), layers.Dense(u, activation=ops.gelu))], name=name)


class GraphConvLayer(layers.Layer):
    def __init__(self, units, aggregation_type="mean", combination_type="concat", normalize=True, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.aggregation_type, self.combination_type, self.normalize = aggregation_type, combination_type, normalize
        self.ffn_prepare = create_ffn(units)
        self.update_fn = layers.GRU(units=units[-1], activation="tanh", recurrent_activation="sigmoid", return_state=True) if combination_type == "gru" else create_ffn(units)

    def aggregate(self, node_indices, neighbour_messages, node_repesentations):
        num_nodes = node_repesentations.shape[0]
        if self.aggregation_type == "sum":
            return ops.segment_sum(neighbour_messages, node_indices, num_segments=num_nodes)
        if self.aggregation_type == "mean":
            total = ops.segment_sum(neighbour_messages, node_indices, num_segments=num_nodes)
            count = ops.segment_sum(ops.ones_like(neighbour_messages[:, :1]), node_indices, num_segments=num_nodes)
            return total / ops.maximum(count, 1.0)
        return ops.segment_max(neighbour_messages, node_indices, num_segments=num_nodes)

    def update(self, node_repesentations, aggregated):
        if self.combination_type == "gru":
            h = ops.stack([node_repesentations, aggregated], axis=1)
        elif self.combination_type == "concat":
            h = ops.concatenate([node_repesentations, aggregated], axis=1)
        else:
            h = node_repesentations + aggregated
        out = self.update_fn(h)
        if self.combination_type == "gru":
            out = out[0]
        return ops.normalize(out, axis=-1) if self.normalize else out

    def call(self, inputs):
        node_repesentations, edges, edge_weights = inputs
        node_indices, neighbour_indices = edges[0], edges[1]
        neighbour = ops.take(node_repesentations, neighbour_indices, axis=0)
        messages = self.ffn_prepare(neighbour)
        if edge_weights is not None:
            messages = messages * ops.expand_dims(edge_weights, -1)
        return self.update(node_repesentations, self.aggregate(node_indices, messages, node_repesentations))


class GNNNodeClassifier(keras.Model):
    def __init__(self, graph_info, num_classes, hidden, agg, comb, **kwargs):
        super().__init__(**kwargs)
        f, e, w = graph_info
        self.node_features, self.edges = ops.convert_to_tensor(f), ops.convert_to_tensor(e)
        self.edge_weights = ops.ones(shape=e.shape[1]) if w is None else w
        self.edge_weights = self.edge_weights / ops.sum(self.edge_weights)
        self.preprocess = create_ffn(hidden, name="preprocess")
        self.conv1 = GraphConvLayer(hidden, agg, comb, name="graph_conv1")
        self.postprocess = create_ffn(hidden, name="postprocess")
        self.compute_logits = layers.Dense(units=num_classes, name="logits")

    def call(self, input_node_indices):
        x = self.preprocess(self.node_features)
        x = self.conv1((x, self.edges, self.edge_weights)) + x
        x = self.postprocess(x)
        return self.compute_logits(ops.take(x, input_node_indices, axis=0))


for agg, comb in (("mean", "concat"), ("sum", "gru"), ("max", "add")):
    model = GNNNodeClassifier((features, edges, None), classes, [8], agg, comb, name="gnn")
    print(model(np.array([1, 10, 30])).shape)
    w = np.random.default_rng(1)
    for v in model.trainable_variables:
        if "kernel" in v.name:
            v.assign(w.normal(0, 0.4, v.shape))
    model.compile(keras.optimizers.Adam(0.02), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["acc"])
    h = model.fit(np.arange(32), y[:32], epochs=3, batch_size=16, shuffle=False, verbose=0)
    print(agg, comb, np.round(h.history["loss"], 3), np.round(h.history["acc"], 2))
